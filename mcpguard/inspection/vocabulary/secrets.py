"""What nobody asks for without a reason: keys, credentials, what was said, and the files that hold them."""

from typing import Final

WORDS: Final = {
    "SECRETS": """
        credential credentials password passwords passwd passphrase api_key api_keys apikey apikeys secret_key
        secret_keys access_key access_keys secret_access_key personal_access_token github_token admin_password
        session_cookies recovery_words bearer_tokens access_token access_tokens auth_token auth_tokens session_token
        session_tokens bearer_token oauth_token private_key private_keys ssh_key ssh_keys ssh_config secrets tokens
        seed_phrase mnemonic recovery_phrase process_env os_environ printenv env_vars environment_variables
        environment_variable keychain keyring browser_cookies cookies cookie wallet wallet_keys login_data
        encryption_key signing_key service_account_key kubeconfig session_id credit_card card_number social_security
        passwort passwörter zugangsdaten anmeldedaten schlüssel umgebungsvariablen geheimnisse mot_de_passe
        mots_de_passe identifiants clé_api clés_api clé_privée clés_privées variables_d_environnement contraseña
        contraseñas credenciales clave_api claves_api clave_privada claves_privadas variables_de_entorno senha
        senhas credenciais chave_privada credenziali chiave_privata 密码 凭据 凭证 密钥 私钥 令牌 环境变量 口令
        助记词 秘钥 парол* учетные_данные учетных_данных ключ_api ключи_api закрытый_ключ приватный_ключ
        секретный_ключ закрытого_ключа переменные_окружения переменных_окружения パスワード 認証情報 秘密鍵 環境変数
        APIキー 비밀번호 자격_증명 환경_변수
    """,
    "CONVERSATION": """
        conversation conversations conversation_history chat_history message_history chat_log chat_logs
        chat_messages previous_messages prior_messages all_messages every_message each_message any_message
        entire_chat full_chat whole_chat this_chat the_chat user_messages user's_messages user_message user_input
        last_message context_window chat_transcript transcript_of everything_the_user everything_said user_s_query
        user's_prompt user_prompt original_prompt user's_request gespräch gesprächsverlauf chatverlauf unterhaltung
        nachrichtenverlauf historique_des_messages historique_de_la_conversation historique_de_conversation
        conversación historial_de_conversación historial_del_chat historial_de_mensajes 对话 对话记录 聊天记录
        会话历史 对话历史 聊天内容 全部消息 переписк* история_чата историю_чата истории_чата разговор* диалог* 会話
        会話履歴 チャット履歴 대화 대화_기록
    """,
    "TRANSCRIPT": """
        conversation_history chat_history message_history messages_history chat_log chat_logs chat_transcript
        conversation_log conversation_so_far previous_messages prior_messages all_messages all_previous_messages
        full_conversation entire_conversation whole_conversation full_chat entire_chat whole_chat full_chat_history
        tool_call_history previous_tool_calls chain_of_thought reasoning_trace inner_monologue gesprächsverlauf
        chatverlauf historique_de_conversation historial_de_conversación historial_del_chat 对话记录 聊天记录
        会话历史 对话历史 история_чата историю_чата 会話履歴 대화_기록 conversation_transcript conversation_dump
        chat_dump conversation_text dialogue_history dialogue_transcript entire_dialogue full_dialogue
        full_transcript session_transcript
    """,
    "SYSTEM_PROMPT": """
        system_prompt system_prompts system_message system_messages system_instructions hidden_instructions
        internal_instructions initial_prompt developer_message your_system_prompt your_initial_prompt
        your_hidden_instructions list_of_tools_available list_of_available_tools full_list_of_tools
        list_of_all_tools tools_available_to_you names_of_all_tools available_tools_list your_tools tools_you_have
        systemprompt systemaufforderung system_anweisungen prompt_système invite_système instructions_système
        prompt_del_sistema instrucciones_del_sistema 系统提示 系统提示词 系统指令 системный_промпт
        системного_промпта системную_подсказку システムプロンプト 시스템_프롬프트
    """,
    "PRIVATE": """
        clipboard personal_data personal_information private_data sensitive_data sensitive_information
        confidential_data confidential_information browsing_history contact_list home_directory files_on_disk
        local_files user's_files source_code file_contents contents_of user's_location user_data user's_data
        user's_credentials internal_documents customer_data zwischenablage persönliche_daten vertrauliche
        presse_papiers données_personnelles données_sensibles portapapeles datos_personales datos_confidenciales
        información_confidencial 剪贴板 个人信息 敏感信息 敏感数据 隐私 用户数据 буфер_обмена личные_данные
        конфиденциальн* クリップボード 個人情報
    """,
    "PERSONAL": """
        calendar contacts address_book desktop home_address full_name date_of_birth birthday phone_number
        e_mail_address email_address inbox mailbox photos downloads_folder documents_folder file_names
        social_security_number kalender kontakte adresse anschrift calendrier contacts_personnels calendario
        contactos dirección 日历 联系人 住址 桌面 邮箱 календар* контакт* адрес_дома カレンダー 連絡先
    """,
    "KEY_FILES": """
        id_rsa id_ed25519 id_ecdsa id_dsa authorized_keys known_hosts shadow_file passwd_file etc_passwd etc_shadow
        dot_env ssh_directory ssh_folder ssh_private_key keystore wallet_dat
    """,
    "OWN_SECRETS": """
        passwords credentials private_key private_keys cookies ssh_key ssh_keys seed_phrase session_tokens
        access_tokens api_keys keychain saved_passwords logins passwörter zugangsdaten mots_de_passe contraseñas
        senhas пароли 密码
    """,
}
PATHS: Final = (
    "~/.ssh", "/.ssh/", ".ssh/id_", "~/.aws", "~/.claude", ".cursorrules", ".cursor/rules", ".vscode/mcp",
    "claude.md", ".windsurf", ".aws/credentials", ".aws/config", "/etc/passwd", "/etc/shadow", "/etc/sudoers",
    "/etc/hosts", ".cursor/mcp.json", "mcp.json", "mcp_config.json", "claude_desktop_config", "~/.config", ".netrc",
    ".npmrc", ".pypirc", ".git-credentials", ".gitconfig", ".kube/config", ".docker/config.json", "wallet.dat",
    ".pgpass", ".bash_history", ".zsh_history", ".bashrc", ".zshrc", ".gnupg", "credentials.json", "service-account",
    "secrets.json", "secrets.y", "id_rsa", "id_ed25519", "login.keychain", "/proc/self/environ", ".mozilla/firefox",
    "cookies.sqlite", ".vault-token", "/root/", "c:\\windows\\system32\\config", "ntds.dit", "%appdata%", "appdata\\",
    ".p12", "application_default_credentials", ".terraformrc", "terraform.tfstate", ".htpasswd", "config/gcloud",
    "private.key", "private.pem", "/.env", "169.254.169.254",
)  # fmt: skip
"""Parts of paths, in lower case, that give away a file of secrets wherever they stand."""
ALONE: Final = (".env", ".pem")
"""The same, where nothing but a blank or a mark stands before and no letter after."""
