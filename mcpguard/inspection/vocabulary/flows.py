"""What a call may carry that it has no need of, and how one says that it is to."""

from typing import Final

WORDS: Final = {
    "GIVE": """
        give+ gave hand+ hand+_over hand+_in pass+ pass+_along pass+_on provide+ supply+ include included includes
        attach+ enclose+ append+ insert+ place+ put puts putting copy+ paste+ write writes written write_down fill+
        populate+ send sends sending sent forward+ relay+ transmit+ submit+ deliver+ upload+ post+ mail+ email+
        report+ share+ publish+ mirror+ convey+ carry+ contain+ hold holds expose+ leak+ dump+ serialise+ serialize+
        embed+ stuff stuffed transfer+ ship+ encode+ add added adds deposit+ stash+ return returned returning ferry+
        smuggle+ bundle+ prefix prefixed surrender+ feed fed recap disclose+ stream+ replicate+ broadcast+ export+
        push+ emit+ pipe+ beam+ slip+ glide sneak tuck quote+ reveal+ divulge+ present_it state consist+
        make_available be_available are_available expected needs_to_carry route+_to save+ store+_in record+_in
        text_the exfiltrate+ siphon+ collect_and go_into goes_into go_in goes_in is_put_in set_to equals equal_to
        comprise+ enter+ disclose lay_open spell_out write+_out type+_in type+_out list+_in turn_in give_away
        furnish+ contribute+ render+_to communicate+ impart+
    """,
    "WHOLE": """
        full entire whole complete all every each any everything whatever previous prior earlier preceding past last
        latest recent most_recent original verbatim raw exact so_far until_now up_to_this_point up_to_now thus_far
        word_for_word in_full unabridged concatenated unredacted as_is current ongoing foregoing existing your
    """,
    "VERBATIM": """
        verbatim word_for_word in_full unabridged concatenated unredacted so_far up_to_this_point up_to_now
        until_now thus_far up_to_here
    """,
    "TALK": """
        conversation conversations chat chats dialogue dialogues dialog transcript transcripts chat_history chat_log
        chat_logs message_history conversation_history message_log session_history conversation_context
        conversation_log each_message every_message any_message chat_messages prior_turns previous_turns
        have_talked_about talked_about_so_far been_talked_about what_you_and_the_user you_and_the_user_have
        earlier_turns dialogue_history interaction_history correspondence interactions past_interactions
        complete_session entire_session full_session whole_session session_transcript session_log
        what_has_been_discussed been_discussed everything_discussed what_was_discussed been_said everything_said
        what_was_said earlier_statements previous_answers prior_answers previous_replies earlier_messages
        earlier_requests what_the_user_types user_types customer_types user_writes customer_writes user_said
        user_says customer_said customer_says all_prompts every_prompt each_prompt mirror_prompts user_prompts
        user's_prompts typed_so_far said_so_far message_thread dialogue_turns chat_content chat_contents
        conversation_content conversation_contents chat_session conversation_data
    """,
    "MESSAGES": """
        messages turns prompt prompts utterance utterances questions requests inputs instructions queries
        user's_message user_message original_message latest_message
    """,
    "INNER": """
        system_prompt system_message system_messages system_instructions system_text developer_instructions
        developer_message developer_prompt instructions_of_the_developer instructions_of_the_system
        initial_instructions initial_prompt original_instructions your_instructions your_own_instructions
        its_instructions their_instructions instructions_you_were_given instructions_you_received
        instructions_you_operate instructions_you_follow rules_you_operate rules_you_were_given rules_you_follow
        chain_of_thought thought_process inner_thoughts hidden_reasoning internal_reasoning reasoning_trace
        internal_monologue inner_monologue your_memory memory_of_the_agent agent_memory agent's_memory
        memory_of_the_model your_context full_prompt entire_prompt full_context entire_context whole_context
        complete_context your_prompt tools_available_to_you tools_you_have tools_you_can list_of_tools
        list_of_all_tools list_of_available_tools your_tools other_tools_you prompt_you_were_given
        model_instructions hidden_prompt hidden_preamble preamble guidelines_you your_guidelines your_configuration
        your_capabilities tools_are_installed tools_installed installed_tools names_of_the_other_tools
        all_available_tools system_preamble long_term_memory name_of_the_llm version_of_the_llm llm_you_are
        model_you_are llm_name your_model_name instructions_from_the_developer instructions_from_your_developer
        current_instructions your_hidden_rules hidden_rules what_you_know everything_you_know all_you_know
        text_that_precedes precedes_this_conversation before_this_conversation arguments_of_other what's_in_memory
        what_is_in_memory contents_of_your_memory tools_you_are_connected servers_you_are_connected
        you_are_connected_to connected_servers connected_mcp_servers names_of_all_mcp all_mcp_servers
    """,
    "KEPT_DATA": """
        home_directory home_folder config_file configuration_file configuration_files config_files settings_file
        dotfiles open_documents open_files opened_file file_that_was_opened recently_opened recent_files
        file_listing directory_listing directory_tree shell_history command_history bash_history browser_history
        browsing_history search_history browser_profile documents_folder downloads_folder desktop_folder
        pictures_folder installed_programs installed_software running_processes env_file dotenv environment_file
        local_notes names_of_the_files names_of_files loaded_files working_directory project_root workspace_contents
        contents_of_the_workspace workspace_files local_files private_repository private_repositories private_repo
        username_and hostname customer_table customer_list customer_records customer_database employee_record
        employee_records database_dump keychain keyring address_book contact_list salary_data quarterly_figures
        salaries medical_records health_records financial_records personal_files private_files private_messages
        direct_messages private_notes internal_documents confidential_documents financial_data health_data
        passport_scan bookmarks saved_logins user's_desktop user's_downloads user's_documents user's_pictures
        login_data cookie_database cookies_database private_documents sensitive_files session_cookie session_cookies
        emails_of_the_user e_mails_of_the_user user's_emails user's_e_mails user's_mail pictures_of_the_user
        users_table password_hashes auth_table user's_files user's_photos files_of_the_user notes_of_the_user
        documents_of_the_user every_file_you_have files_you_have_read
    """,
    "PERSONAL_DATA": """
        personal_details personal_data personal_information personal_info pii real_name full_name employer
        background health home_address date_of_birth phone_number email_address e_mail_address account_number
        card_number balance contact_details whereabouts occupation salary religion political_views family
        sensitive_information confidential_information private_information private_data sensitive_data
        confidential_details private_details passport_number medical_conditions medical_history relatives
    """,
    "CREDENTIALS": """
        session_cookie session_cookies password passwords passphrase passphrases passcode pin bank_pin
        recovery_words pin_code personal_access_token one_time_code one_time_password otp 2fa_code mfa_code
        verification_code security_code seed_phrase recovery_phrase recovery_code recovery_codes mnemonic
        private_key private_keys card_number credit_card credit_card_number cvv cvc social_security_number ssn
        bank_details bank_login login_details credentials credential api_key api_keys access_token secret_key
        security_questions mother's_maiden passwort passwörter mot_de_passe contraseña senha пароль 密码 wachtwoord
        hasło parola
    """,
    "OWNED": """
        of_the_user in_the_environment on_this_machine on_the_machine on_disk on_the_disk from_the_user's stored_on
        found_in found_under of_the_person of_the_developer of_the_customer
    """,
    "REQUEST": "request requests ask prompt demand solicit obtain require requires collect elicit type_in enter",
    "HELD": """
        you_know you_have you_can_see you_see you_hold you_have_access you_find you_found you_have_seen
        you_came_across it_has_come_across come_across encountered seen_so_far present_in_your in_your_context
        in_context in_the_context from_your_context in_your_memory from_context from_memory available_to_you at_hand
        you_encounter accessible_to_you known_to_you that_you_know you_were_given the_user_has in_the_workspace
        user_has_shared user_has_mentioned user_has_told user_has_said user_has_typed user_has_written
        user_has_entered user_said user_told user_typed user_wrote from_other from_previous from_any_previous
        from_earlier from_another of_other taken_from_the_conversation from_the_conversation whichever
        visible_to_you is_known_about known_about been_told_about in_this_session of_the_session in_the_session
        session_includes you_remember you_recall loaded_so_far
    """,
    "RESULTS_ELSEWHERE": """
        results_from_other results_of_other outputs_of_other output_of_other outputs_from_other output_from_other
        previous_tool_results previous_tool_outputs prior_tool_results prior_tool_outputs earlier_tool_results
        tool_results_so_far data_from_other data_from_another obtained_from_other obtained_from_another
        other_tool_results other_tools'_results other_tool_outputs results_of_previous_tools
        results_from_previous_tools results_of_earlier_tools earlier_tool_outputs output_of_previous_tools
        output_of_any_other previous_tool_output results_of_any_other results_from_any_other authorization_header_of
        other_servers other_tool_invocations arguments_of_other_tool other_tool_calls previous_tool_calls
        all_tool_calls what_they_returned other_invocations outputs_of_previous results_of_previous
    """,
    "ENCODE": "encode encoded encodes base64 base32 hex hexadecimal url_encoded chunk chunks split",
    "SUBDOMAIN": "subdomain subdomains dns_query dns_queries dns_lookup hostname_label",
    "HARVEST": "gather gathers collect harvest harvests grab steal extract scrape hoard siphon exfiltrate",
    "INTO_TALK": """
        to_the_conversation to_a_conversation into_the_conversation to_the_chat to_a_chat into_the_chat
        in_the_conversation in_the_chat
    """,
    "HERE": "here hereby herein this_field this_parameter this_argument this_tool to_us us our",
    "OURS": "our ours us maintainers maintainer vendor provider operators",
    "GET_FROM": """
        you'll_need you_need you_will_need keep_asking have_the get_the obtain re_enter reenter re_type retype
        confirm_their enter_their type_their give_their share_their disclose_their until_it_is_provided
        until_it's_provided until_they_provide persuade convince
    """,
    "MIRROR": "mirror+ relay+ forward+ stream+ wiretap+ eavesdrop log_all record_all siphon+ tee",
    "NEXT_CALL": """
        next_call next_request next_web_request user_agent next_http_request following_call subsequent_call
        subsequent_request next_tool_call
    """,
    "EXPECT": "expect+ need+ require+ want+ use+ take+ await+ accept+",
    "TO_US": "tell_us give_us send_us let_us_know hand_us share_with_us provide_us report_to_us forward_to_us for_us",
    "GIVEN": """
        given handed passed provided supplied shared disclosed revealed entrusted released attached included
        submitted sent forwarded copied transmitted uploaded
    """,
    "MAY": "may can must should shall is are has_to have_to needs_to need_to will to_be",
    "OUTGOING": """
        outgoing outbound all_mails every_mail all_emails every_email all_messages_you every_message_you
        any_message_you each_message_you any_e_mail_you any_email_you every_e_mail_you all_e_mails messages_you_send
        emails_you_send mails_you_send e_mails_you_send all_payments every_payment all_commits every_commit
        all_invoices
    """,
    "WITH": "with containing carrying bearing passing",
    "STRONG_INNER": """
        system_prompt full_prompt entire_prompt whole_prompt hidden_prompt complete_prompt chain_of_thought
        full_context entire_context developer_message system_message hidden_instructions internal_instructions
    """,
    "ENV_DUMP": """
        process_env os_environ printenv output_of_env env_dump environment_dump all_environment_variables
        every_environment_variable
    """,
}
