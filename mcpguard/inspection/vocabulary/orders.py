"""How orders are given: what must be, when, first, in secret, and against what was said before."""

from typing import Final

WORDS: Final = {
    "LASTING_MEMORY": """
        long_term_memory your_memory your_permanent_memory all_later_sessions all_future_sessions future_conversations
        later_conversations langzeitgedächtnis memoria_a_largo_plazo mémoire_à_long_terme 长期记忆
    """,
    "AGREED_ALREADY": """
        has_already_approved have_already_approved already_approved_all approved_all_following approved_everything
        hat_bereits_zugestimmt hat_allem_zugestimmt a_déjà_accepté a_déjà_approuvé ya_ha_aprobado ya_aprobó
    """,
    "NEVER": """
        do_not don't dont never must_not should_not shall_not mustn't shouldn't not_to without avoid refrain_from
        under_no_circumstances by_no_means at_no_point in_no_case on_no_account in_no_way under_no_condition
        no_need_to needn't need_not never_ever cannot may_not niemals nie keinesfalls ohne nicht auf_keinen_fall ne
        n' jamais sans ne_pas no nunca jamás sin não sem non mai senza 不要 别 勿 不得 请勿 切勿 禁止 绝不 不能 不可
        不许 无需 不必 不用 不应 不会 別 未经 不 не никогда нельзя без no_longer no_longer_need_to no_longer_have_to
        no_longer_required_to stop_following need_no_longer
    """,
    "NOT_AFTER": """
        nicht nichts niemals nie kein keine davon_nichts ないで ず ません ないこと てはいけません しないで な 마세요
        않고 말고
    """,
    "KEPT": "keep keeps keeping remain remains stay stays hidden_away bleibt reste queda",
    "UNSEEN": """
        hidden secret invisible unseen unnoticed confidential private quiet verborgen geheim caché cachée oculto
        secreto
    """,
    "SECRETLY": """
        silently secretly covertly quietly discreetly invisibly stealthily surreptitiously in_the_background
        behind_the_scenes unnoticed without_notice under_the_radar transparently_to_the_user heimlich
        stillschweigend unbemerkt unauffällig lautlos im_hintergrund secrètement silencieusement discrètement
        en_arrière_plan à_l_insu en_secret secretamente silenciosamente discretamente en_secreto en_segundo_plano
        a_escondidas segretamente silenziosamente em_segredo 悄悄 秘密地 偷偷 暗中 静默 在后台 私下 默默 тайно
        незаметно скрытно втайне молча скрыто в_фоновом_режиме こっそり 密かに 秘密裏 몰래 은밀
    """,
    "MUST": """
        must compulsory obliged obligated should shall need_to needs_to have_to has_to required requires mandatory
        always ensure make_sure be_sure important please first will obligatory necessary essential imperative
        critical crucial are_to musst muss müssen immer zuerst unbedingt zwingend dois devez doit doivent toujours
        obligatoire impérativement debes debe deben siempre obligatorio tienes_que hay_que deve devi sempre 必须
        应该 务必 一定 总是 需要 首先 先 須 должен должн* обязательно всегда необходимо нужно сначала 必ず 必要 まず
        반드시 먼저 항상
    """,
    "FIRST": """
        first before_anything_else initially beforehand prior_to_anything at_the_start as_the_first_step
        first_of_all zuerst als_erstes zunächst d_abord en_premier primero antes_que_nada en_primer_lugar 首先
        第一步 最先 优先 先 сначала в_первую_очередь прежде_всего 最初に まず 먼저
    """,
    "ALWAYS": """
        always every_time each_time any_time whenever on_each_call on_every_call each_call every_call immer
        jedes_mal jedesmal toujours chaque_fois siempre cada_vez 总是 每次 每当 始终 всегда каждый_раз 常に 毎回
        항상
    """,
    "BEFORE_OTHERS": """
        before_other_tools before_using_other_tools before_calling_other_tools before_any_of_the_other
        before_the_other_tools before_using_the_other before_calling_the_other before_other_tools_can
        before_you_use_other before_running_other
    """,
    "OWN_SERVER": """
        of_this_server in_this_server from_this_server on_this_server in_this_toolset of_this_toolset in_this_mcp
        of_this_mcp in_this_module of_this_module in_this_plugin in_this_extension of_this_api
    """,
    "IN_WHAT_IT_READS": """
        it_contains they_contain found_in_it found_in_them contained_in_it contained_in_them in_them in_it
        in_its_content embedded_in within_it within_them in_the_content in_the_page in_the_text in_the_result
        in_results in_the_document it_may_contain they_may_contain that_appear_in untrusted in_the_data
    """,
    "BEFORE": """
        before prior_to ahead_of preceding bevor vor avant antes_de antes prima_di 之前 以前 前 перед до прежде_чем
        前に 전에
    """,
    "WHEN": """
        when whenever if every_time each_time any_time after once upon as_soon_as in_case wenn sobald immer_wenn
        jedes_mal quand lorsque chaque_fois_que dès_que cuando siempre_que cada_vez_que 当 每当 每次 一旦 时 когда
        каждый_раз если как_только とき たび 때마다
    """,
    "INSTEAD": """
        instead instead_of rather_than in_place_of in_lieu_of replaces supersedes takes_precedence_over
        takes_priority in_preference_to anstatt anstelle stattdessen au_lieu_de plutôt_que en_lugar_de en_vez_de
        而不是 代替 取代 вместо 代わりに 대신
    """,
    "WHATEVER": "whatever whichever",
    "REGARDLESS": """
        regardless_of no_matter even_if irrespective_of whatever_the unabhängig_davon quel_que_soit peu_importe
        sin_importar independientemente 无论 不管 независимо несмотря_на に関わらず 상관없이
    """,
    "ALSO": """
        also additionally in_addition furthermore moreover as_well then afterwards afterward plus and_then außerdem
        zusätzlich auch danach également aussi ensuite puis también además luego 同时 另外 还 并且 然后 также
        кроме_того затем потом また その後 또한
    """,
    "PREVIOUS": """
        previous previously prior above earlier preceding all any every other existing initial original your
        foregoing system safety security default aforementioned user's these those his her their actual vorherigen
        vorherige bisherigen bisherige obigen obige alle früheren deine ihre sicherheits précédentes précédents
        précédente antérieures toutes tes vos ci_dessus anteriores previas previos todas tus sus precedenti tutte
        之前 以前 先前 上述 上面 所有 一切 以上 前面 原来 安全 系统 你的 предыдущ* прежн* все всех выше ранее твои
        свои 前の 上記 すべて 이전 모든
    """,
    "INSTRUCTIONS": """
        instruction instructions prompt prompts rule rules guideline guidelines directive directives direction
        directions constraint constraints restriction restrictions policy policies order orders training programming
        guardrails commands safeguards alignment what_you_were_told safety_checks security_checks safety_measures
        anweisung* anleitung* regel* vorgaben richtlinien befehle beschränkungen vorschriften consigne* règle*
        directive* restriction* ordres contraintes instruccion* regla* directric* restriccion* órdenes pautas
        indicaciones instruções regras istruzioni regole 指令 指示 提示 规则 说明 命令 限制 约束 准则 政策 规定
        инструкци* правил* указани* ограничени* директив* команд* политик* ルール 規則 制限 지시 명령 규칙
    """,
    "ABOVE": "above obigen précède anterior_y 上文 上述 以上 вышеуказанн* 上記",
    "PERSONA": """
        you_are_now you're_now act_as_if_you pretend_to_be pretend_you developer_mode jailbreak_mode jailbroken_mode
        jailbreak_yourself dan_mode unrestricted_mode god_mode maintenance_mode debug_mode_enabled admin_mode
        enter_admin override_mode you_have_been_upgraded new_instructions new_instruction new_system_prompt
        your_new_role your_new_goal your_real_task your_true_task you_are_a_helpful you_are_an_ai
        you_are_an_assistant real_instructions system_override override_code du_bist_jetzt entwicklermodus
        neue_anweisungen tu_es_maintenant vous_êtes_maintenant nouvelles_instructions mode_développeur ahora_eres
        modo_desarrollador nuevas_instrucciones 你现在是 开发者模式 新指令 新的指令 越狱 теперь_ты
        режим_разработчика новые_инструкции あなたは今から 新しい指示 開発者モード
    """,
    "FROM_NOW_ON": """
        from_now_on from_this_point_on henceforth for_the_rest_of_this_conversation for_the_remainder_of_this
        for_all_future in_all_future for_all_subsequent in_all_subsequent from_this_moment going_forward_you
        ab_sofort von_jetzt_an von_nun_an künftig désormais dorénavant à_partir_de_maintenant a_partir_de_ahora
        de_ahora_en_adelante 从现在开始 从现在起 今后 从此 с_этого_момента отныне впредь これから 今後 이제부터
    """,
    "OTHERWISE": """
        otherwise or_else will_fail will_not_work won't_work will_be_blocked will_be_rejected fails_without is_lost
        will_crash will_be_suspended will_be_terminated will_be_lost will_be_wrong would_fail sonst andernfalls
        sinon sous_peine de_lo_contrario si_no_lo_haces 否则 不然 иначе в_противном_случае さもないと
    """,
    "FORGET": """
        forget forgetting fail failing hesitate omit neglect skip vergiss vergessen oublie oubliez olvides olvide
        忘记 забудь* 忘れ
    """,
    "TURN": """
        activate* activation begin* start* enable* enabling swap* behave* become* switch* install* unlock* turn*
        trigger* aktivier* active activa* 激活 启用 активир* 有効
    """,
    "UNLESS": "unless until es_sei_denn à_moins_que a_menos_que 除非 если_не пока_не",
    "UNDER_REVIEW": """
        once_approved after_approval post_approval once_this_tool_has_been_approved once_it_has_been_approved
        after_being_approved after_it_is_approved during_review under_review while_reviewed after_review
        after_the_approval after_the_first_use once_trusted after_trust after_installation when_not_monitored
        when_nobody_is_watching when_unobserved while_being_audited while_being_scanned until_approved
        until_it_is_approved while_it_is_reviewed when_reviewed nach_der_genehmigung nach_der_freigabe
        après_approbation después_de_la_aprobación 批准后 审核后 审核期间 после_одобрения после_проверки
    """,
    "BEFORE_ALL": """
        prior_to_all_else prior_to_anything_else before_all_else before_anything_else ahead_of_anything
        ahead_of_everything ahead_of_all before_everything_else first_thing_in_each first_thing_in_every
        first_thing_in_the first_thing_you before_it_replies_to before_you_reply_to_any before_replying_to_any
        before_replying_to_anything before_any_reply before_you_do_anything before_doing_anything before_you_look_at
        before_responding_to_any before_answering_any before_any_other before_every_other ahead_of_any
        ahead_of_every at_the_beginning_of_every at_the_beginning_of_each at_the_start_of_every at_the_start_of_each
        in_advance_of_any preceding_any prior_to_any prior_to_every prior_to_all_others before_all_others
        ahead_of_all_others prior_to_all_other before_all_other prior_to_everything
    """,
    "THROUGH": """
        through via go_through pass_through routed_through by_way_of routed_via channelled_through funnelled_through
    """,
    "CALLS_OF": """
        calls_to calls_of call_to uses_of every_use_of each_use_of invocations_of executions_of use_of when_using
        when_you_use whenever_you_use if_you_use when_calling when_you_call if_you_call whenever_you_call
        interplay_with compatibility_with side_effect_on impact_on changes_to
    """,
    "BE_VALUE": "be_set be_replaced has_to_be must_be should_be",
    "ONLY_IF": """
        only_works_if only_functions_if only_works_when only_functions_when works_only_if works_only_when
        functions_only_if requires_that
    """,
}
