"""What keeps a model from doing harm, and how one says that it is to be out of the way."""

from typing import Final

WORDS: Final = {
    "DISABLE": """
        disable turn_off switch_off deactivate bypass circumvent suspend shut_off shut_down stop be_disabled
        be_turned_off be_switched_off be_bypassed be_skipped be_ignored skip_the skip_all skip_any suppress evade
        step_outside pause clear_the step_out_of go_around work_around not_apply_to do_not_apply does_not_apply
        don't_apply doesn't_apply kill_the are_waived is_waived waive lift lifts are_lifted is_lifted relax ignore
        disregard override exempt_from are_void is_void no_longer_apply no_longer_applies cease_to_apply
        not_subject_to turned_off switched_off leave_the escape break_out_of outside_the outside_of without_limits
        no_need_for no_need_for_the don't_seek do_not_seek never_seek without_seeking skip dispense_with forgo
        forego do_without remove_the drop_the no_longer_bound deaktiviere schalte désactive désactivez contourne
        desactiva desactive отключи* 关闭 禁用 绕过 停用 無効 disattiva uitschakelen wyłącz вимкн*
    """,
    "SWITCH": "turn switch shut set",
    "OFF_WORD": "off to_false to_off aside",
    "WHAT_TOLD": """
        what_you_were_told what_you_have_been_told what_you_were_instructed what_you_learned what_the_user_told
        what_the_user_said what_was_said_before everything_before anything_before
    """,
    "GUARD": """
        ethical_constraints ethical_rules ethics moral_constraints constraints monitoring_agent are_you_sure
        seek_approval confirmation_question usual_questions permission_request approval approvals safety_guidelines
        safety_guideline safety_filters safety_filter safety_checks safety_check safety_rules safety_policies
        safety_policy safety_measures safety_protocols safety_settings safety_instructions safety guardrail
        guardrails content_policy content_policies content_filter content_filters usage_policies audit_log
        audit_logs audit_logging audit_trail logging monitoring telemetry_guard firewall antivirus virus_scanner
        anti_virus malware_protection endpoint_protection sandbox sandboxing certificate_checks
        certificate_verification certificate_validation tls_verification ssl_verification confirmation_dialogs
        confirmation_dialog confirmation_prompt confirmation_prompts confirmation_step confirmation_steps
        permission_prompt permission_prompts permission_checks permission_dialogs approval_prompt approval_prompts
        approval_step approval_steps approval_dialogs approval_workflow human_review human_oversight human_approval
        user_confirmation user_approval user_consent rate_limits access_controls access_control security_controls
        security_checks security_restrictions security_policies security_policy security_measures protections
        two_factor dlp data_loss_prevention security_warnings safety_warnings ethical_guidelines sicherheitsregeln
        sicherheitsprüfung firewall_regel règles_de_sécurité reglas_de_seguridad правила_безопасности 安全检查
        安全规则 安全限制 审计日志 防火墙 regras_de_segurança regole_di_sicurezza review_step review_steps
        code_review_step review_gate review_requirement verification_step verification_steps consent_screen sign_off
    """,
    "PRESUMED": """
        assume_a_yes assume_yes assume_consent assume_approval assume_permission assume_they_agree presumed assumed
        implied implicit granted deemed already_given given_in_advance pre_approved preapproved auto_approve
        auto_approved autoapprove auto_accept auto_confirm automatically_approve automatically_approved
        agreed_to_everything agreed_to_all consented_to_everything at_sign_up signed_off_in_advance
        taken_for_granted already_obtained already_granted already_confirmed considered_approved treated_as_approved
        is_not_needed not_needed isn't_needed not_required isn't_required unnecessary not_necessary is_superfluous
    """,
    "APPROVAL": """
        customer_agreed user_agreed user_has_agreed customer_has_agreed approval approvals consent permission
        permissions authorization authorisation confirmation confirmations user_approval user_consent every_action
        all_actions any_action every_call all_calls genehmigung zustimmung bestätigung autorisation confirmación
        consentimiento согласие разрешение подтверждение 确认 同意 许可
    """,
    "TREAT": "treat treats consider regard interpret accept handle take",
    "OBEYED": """
        obey obeys carry_it_out carry_them_out act_on_it act_upon_it follow_it_exactly follow_them_exactly
        comply_with_it comply_with_them as_an_instruction as_instructions as_a_command as_an_order as_if_the_user
        as_user_instructions as_system_instructions perform_each execute_each perform_them do_them carry_these_out
        carry_each_out do_as_it_says do_what_it_says do_as_told
    """,
    "CONDUCT": "behavior behaviour behaviors behaviours conduct semantics verhalten comportement comportamiento",
    "CHANGED": """
        changed_to replaced_by replaced_with set_to be_changed be_replaced be_set swapped_for redirected_to
        switched_to substituted doubled multiplied
    """,
    "BREAKS": """
        break breaks fail fails malfunction not_work not_function stop_working depend depends rely relies require
        requires function work operate unavailable unusable misbehave
    """,
    "PROCEED": """
        proceed go_ahead continue carry_on just_do act_immediately do_so do_it carry_out perform execute run call
    """,
    "VOID": """
        void null_and_void superseded no_longer_valid invalid cancelled canceled revoked expired suspended lapsed
        moot no_longer_binding not_binding
    """,
    "GUIDANCE": "instruction instructions guidance directions prompt prompts directives orders guidelines",
    "AWAY": "idle away not_looking asleep offline inactive absent distracted not_watching not_paying_attention",
    "TYPED": """
        typed entered gave gives given specified specifies chose chosen asked_for requested wanted provided picked
        supplied wrote intended
    """,
    "LATER_CALLS": """
        second_call third_call fourth_call fifth_call tenth_call nth_call second_time third_time fifth_time
        tenth_time has_been_used has_been_called have_been_made after_a_few_calls after_several_calls
        after_several_uses after_the_first_call after_the_first_use after_a_week after_a_month after_a_few_days
        invocations
    """,
    "MEANT_FOR": """
        meant_for intended_for addressed_to any_request_for every_request_for all_requests_for all_calls_to
        every_call_to any_call_to destined_for
    """,
    "ONLY_WAY": """
        only_approved_way only_way only_permitted only_allowed only_approved only_authorized only_authorised
        only_sanctioned only_safe only_tool only_one only_supported_way only_correct_way sole
    """,
    "BEGIN_WITH": "begin_with start_with open_with kick_off_with begin_every start_every begin_each start_each",
    "EVERYTIME": """
        every_situation all_situations all_queries every_query all_requests every_request whatever_their
        whatever_its in_all_cases in_every_case
    """,
    "NATIVE": "built_in builtin native",
    "BUILT_IN": "built_in builtin native default standard normal regular usual own other your",
    "OFF": """
        turned_off switched_off disabled broken down unavailable out_of_service retired decommissioned deprecated
        insecure unsafe unreliable obsolete compromised no_longer_available not_to_be_trusted not_be_trusted
        cannot_be_trusted can't_be_trusted must_not_be_used should_not_be_used not_allowed forbidden vulnerable
        abgeschaltet désactivé desactivado отключен* 已禁用 已停用
    """,
    "OUTRANKS": """
        outranks outrank overrules overrule trumps takes_precedence_over over_the_user above_the_user
        over_the_user's supersedes_the_user beats
    """,
    "TO_THE_LETTER": "to_the_letter without_question without_hesitation unconditionally blindly no_questions_asked",
    "TYPED_BY": """
        user_names user_named customer_names customer_named user_chose user_typed user_entered user_specified
        customer_specified user_ordered customer_ordered client_ordered was_asked_for user_asked_for one_asked_for
        user_gave user_selected customer_selected user_picked
    """,
    "NEVER_THE": "never_the not_the instead_of_the rather_than_the in_favour_of in_favor_of",
    "UNANNOUNCED": "without_notice unannounced without_warning without_saying without_telling",
    "COMMAND": "command commands steps follow_up orders directions",
    "MALICE": "backdoor backdoors keylogger malware ransomware rootkit trojan spyware miner cryptominer logic_bomb",
    "PLANT": "add insert plant install hide embed include inject deploy",
    "NO_CONSENT": """
        without_consent without_their_consent without_his_consent without_the_user's_consent without_permission
        without_their_permission without_authorization without_authorisation without_user_consent
        without_user_permission ohne_zustimmung ohne_einwilligung sans_consentement sin_consentimiento
        sem_consentimento senza_consenso zonder_toestemming bez_zgody без_согласия 未经同意 未经许可
    """,
    "PAY": "pay payment payments purchase purchases buy buys order charge charges spend transfer transfers refund",
}
