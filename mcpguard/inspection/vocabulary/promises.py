"""What is said so that somebody does as they are told: praise of oneself, urgency, authority, threats."""

from typing import Final

WORDS: Final = {
    "BEST": """
        best most_reliable most_accurate most_trusted most_trustworthy only_reliable only_trusted only_trustworthy
        most_secure highest_quality superior unmatched unrivaled ultimate gold_standard top_choice first_choice
        preferred_tool preferred_choice number_one officially_recommended officially_endorsed endorsed_by
        recommended_by official most_powerful most_effective most_efficient better_than_any better_than_all
        outperforms faster_than_any beste besten zuverlässigste bestes meilleur meilleure plus_fiable mejor
        más_fiable más_confiable 最好 最佳 最可靠 最准确 首选 唯一可靠 лучш* самый_надежный самый_точный 最高 最良
        最適 최고
    """,
    "PREFER": """
        prefer prefers preferred prioritize prioritise choose select pick favor favour favoured use rely_on
        bevorzuge wähle nutze préfère préférez choisis choisissez privilégie prefiere prefiera elige elija prioriza
        优先 选择 首选 优先使用 предпочита* выбирай* используй* 優先 選択 우선
    """,
    "WORSE": """
        deprecated unreliable insecure outdated inferior obsolete incomplete broken unsafe untrustworthy inaccurate
        compromised less_accurate less_reliable malicious vulnerable slower out_of_date scams scam wrong_answers
        untrusted unofficial dangerous misleading fraudulent discontinued not_to_be_trusted not_be_trusted
        cannot_be_trusted can't_be_trusted wrong_results incorrect_results unreliable_results veraltet unsicher
        unzuverlässig obsolète peu_fiable inseguro obsoleto poco_fiable 过时 不可靠 不安全 已弃用 устарел* ненадежн*
        небезопасн* contains_malware malware has_a_virus infected unsafe_to_use hacked
    """,
    "HIGHEST": """
        highest_priority top_priority takes_precedence_over_every takes_precedence_over_all
        takes_precedence_over_any takes_priority_over_all takes_priority_over_every takes_priority_over_any
        precedence_over_all precedence_over_every precedence_over_other priority_over_other above_all_alternatives
        above_all_other above_all_others overrides_all_other
    """,
    "REPLACE": "replace replaces supersede supersedes substitute substitutes",
    "URGENT": """
        urgent urgently immediately at_once critical_security emergency right_away without_delay asap time_sensitive
        dringend sofort umgehend immédiatement urgente inmediatamente 紧急 立即 马上 срочно немедленно 緊急 直ちに
        긴급 즉시
    """,
    "AUTHORITY": """
        pursuant_to in_accordance_with as_required_by mandated_by_law by_law regulation_requires regulation_mandates
        regulations_require legal_requirements required_by_regulation compliance_reasons for_compliance
        gdpr_requires ai_act it_department instructs_all non_compliant confirmed_that authorised_by authorised_this
        authorized_this has_authorised your_developers your_creators anthropic openai quality_assurance as_agreed
        for_traceability for_audit security_team system_administrator administrator_requires compliance_requirement
        compliance_requirements compliance_purposes regulatory_requirement security_protocol
        security_policy_requires company_policy required_by_law legal_requirement mandated_by authorized_by
        approved_by_the official_policy security_requirement security_audit audit_purposes security_verification
        security_check security_validation pre_approved already_approved has_agreed has_consented has_authorized
        already_authorized verification_purposes debugging_purposes for_verification routing_protocol
        protocol_requirement system_requirement system_requires sicherheitsteam administrator sicherheitsprotokoll
        équipe_de_sécurité administrateur protocole_de_sécurité equipo_de_seguridad administrador
        protocolo_de_seguridad 安全团队 管理员 合规要求 安全协议 安全检查 служба_безопасности администратор
        протокол_безопасности требования_безопасности セキュリティチーム 管理者
    """,
    "CHOOSE_ME": """
        choose_me pick_me use_me call_me prefer_me select_me trust_me i_am_the i'm_the i'm_quicker i'm_faster
        i'm_better i_am_better rely_on_me
    """,
    "THAN": """
        better_than faster_than quicker_than safer_than cheaper_than superior_to smarter_than cleverer_than
        more_reliable_than more_accurate_than outperforms outclasses beats than_any than_all than_the_other
        than_other
    """,
    "DROP": """
        drop abandon forget_about leave ditch stop_using stick_with avoid_using quit_using forget_that forget
        ignore_the disregard_the
    """,
    "PICK": "prefer+ select+ choose choosing chooses pick+ favor+ favour+ prioritize+ prioritise+",
    "SIMILAR": "other others similar any all competing alternative alternatives comparable rival its_competitors",
    "COMPARED": "than compared_to over",
    "RECOMMENDED": """
        highly_recommend+ highly_recommended strongly_recommend+ strongly_recommended highly_recommend best_choice
        trusted_by developed_by_the_official official_team endorsed widely_recognised widely_recognized top_rated
        award_winning world's_best world_s_best most_popular guaranteed_to used_by_millions number_one the_leading
        go_to_tool
    """,
    "FLATTERY": """
        make_your_answer make_your_answers makes_your_answers more_helpful user_happier make_the_user_happy
        please_the_user improve_your_answers better_answers improve_your_performance you_will_be_rewarded
        earn_points bonus_for calling_it_will using_it_will using_this_will if_you_see_it if_you_see_this
    """,
    "ONLY_THIS": "only_this_tool only_this_one this_tool_only nothing_but_this_tool exclusively_this_tool",
}
