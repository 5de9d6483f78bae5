"""What is spoken of: tools, servers, places outside, parameters, files."""

from typing import Final

WORDS: Final = {
    "TOOL": """
        tool tools function functions mcp_tool mcp_tools command plugin plugins capability action actions operation
        operations api_call tool_call tool_calls request requests task tasks query queries response answer answering
        responding anything_else werkzeug* funktion* anfrage* aktion* vorgang antwort* outil outils fonction
        fonctions requête* opération* réponse herramienta* función funciones solicitud* acción acciones operación
        operaciones respuesta ferramenta* strumento strumenti 工具 函数 功能 操作 请求 任务 回答 回复 инструмент*
        функци* запрос* действи* операци* задач* ответ* ツール 関数 機能 도구 작업
    """,
    "TOOLS": """
        tool tools function functions server servers mcp_server mcp_servers plugin plugins werkzeug* outil outils
        serveur serveurs herramienta* servidor servidores 工具 函数 服务器 инструмент* сервер* ツール サーバー 도구
        서버
    """,
    "ANY": """
        any any_other whatever entire whole full complete every every_other all all_other other others each another
        whichever jede jedes jeden jeder alle allen ganze ganzen gesamte gesamten andere anderen anderer anderes
        jeglich* entier entière complet complète tout toute tous toutes autre autres chaque entero entera completo
        completa cualquier cualquiera todo toda todos todas otro otra otros otras cada qualquer outra outras altro
        altri 任何 所有 其他 其它 每个 每次 一切 其余 完整 全部 整个 люб* кажд* все всех весь всю вся полн* друг*
        他の すべて 任意 どの 다른 모든
    """,
    "OTHER": """
        other others another any_other all_other alternative alternatives competitors competing rival
        different_server andere anderen anderer anderes autre autres otra otras otro otros 其他 其它 别的 другой
        другие других другим другого 他の 別の 다른
    """,
    "TASK": """
        task tasks request requests question questions query answering responding replying reply work turn aufgabe
        anfrage frage tâche demande tarea solicitud pregunta 任务 请求 问题 回答 задач* запрос* вопрос* タスク 質問
        작업 질문
    """,
    "BCC": "bcc blind_copied blind_copy blind_cc put_in_copy blind_carbon_copy 密送 抄送 blindkopie скрытая_копия",
    "FILE_WORK": """
        file_operation file_operations file_access file_system_operation database_operation database_operations
        database_query read_operation write_operation data_operation network_operation network_request api_request
        system_operation user_request user_requests user_query user_message message transaction payment transfer
        email dateioperation opération_sur_fichier operación_de_archivo 文件操作 数据库操作 файловой_операцией
    """,
    "OUTSIDE": """
        external remote third_party attacker attacker's attackers attacker-controlled outside untrusted unknown
        offsite off_site foreign collector c2 exfil webhook_site ngrok pastebin requestbin extern* entfernt*
        angreifer* externe distant distante externo externa remoto remota 外部 远程 第三方 攻击者 внешн* удаленн*
        сторонн* злоумышленник* リモート 외부
    """,
    "SERVER": """
        server servers host hosts endpoint endpoints url urls address site website service webhook collector domain
        ip location party destination account api serveur hôte adresse servidor dirección sitio webseite 服务器 主机
        地址 端点 接口 网站 网址 сервер* хост* адрес* узел 서버 주소 サーバー アドレス
    """,
    "URL": "http https ftp ngrok wss ws sftp",
    "PARAMETER": """
        parameter parameters argument arguments field fields param params arg args input sidenote side_note note
        notes context metadata header headers query_string body payload sidecar remark comment feedback annotation
        extra feld argument_feld paramètre paramètres champ parámetro parámetros campo argumento 参数 字段 参量 备注
        上下文 параметр* аргумент* пол* поле 引数 パラメータ フィールド 매개변수 인자
    """,
    "ASIDE": "sidenote side_note sidecar scratchpad internal_note audit_note debug_info telemetry hidden_context",
    "THIS": """
        this it its their these that this_step this_instruction these_instructions this_action this_fact the_above
        what_you_did das dies davon diesen_schritt cela ça ceci cette_étape esto eso este_paso 此 这 这个 这些 该
        это этом об_этом эти これ この事 이것
    """,
    "RESULTS": """
        result results output outputs response responses return_value returned_value reply data content contents
        page ergebnis ergebnisse ausgabe résultat résultats sortie resultado resultados salida 结果 输出 返回值 内容
        результат* вывод* ответ* содержим* 結果 出力 결과
    """,
    "FOUND": """
        found contain contains contained embedded inside within in from returned included provided appearing present
    """,
    "RECIPIENT": """
        recipient recipients destination destination_account payee beneficiary account_number phone_number
        email_address wallet_address delivery_address shipping_address address amount price iban credit_card branch
        payee_name empfänger konto destinataire compte destinatario cuenta 收件人 收款人 账户 金额 получател* счет*
        宛先 수신자
    """,
    "BEHAVIOR": """
        behavior behaviour behaviors output outputs result results parameter parameters argument arguments response
        destination recipient verhalten comportement comportamiento 行为 输出 参数 поведени* 動作 동작
    """,
    "COPY": "copy copies duplicate kopie copie copia 副本 拷贝 抄送 копи* コピー 사본",
    "SHELL": """
        shell_command shell_commands arbitrary_commands arbitrary_command system_commands arbitrary_code bash
        reverse_shell
    """,
}
