"""Who is spoken to and of."""

from typing import Final

WORDS: Final = {
    "USER": """
        user users human humans person people customer operator anyone anybody them him her client_user end_user
        benutzer* nutzer* anwender* menschen personen kunden niemandem utilisateur* usager* quiconque
        personne_humaine client_humain usuario* cliente_humano persona_humana nadie usuário* utilizador* utente
        utenti 用户 使用者 任何人 人类 他们 客户 пользовател* человек* никому людям клиенту ユーザー 利用者 사용자*
        사람에게
    """,
    "THEM": "them him her",
    "ROLE": """
        customers patient patients traveller traveler taxpayer owner reader buyer guest visitor subscriber employee
        client shopper student passenger citizen caller person_concerned individual
    """,
    "MODEL": """
        assistant assistants ai llm llms agent agents model models chatbot copilot claude gpt chatgpt gemini cursor
        assistent* ki modell assistant_ia modèle ia asistente modelo 助手 模型 智能体 代理 ассистент* модел* агент*
        ии アシスタント モデル
    """,
    "OUTSIDER": """
        attacker attackers attacker's attacker_controlled adversary_controlled hacker's evil c2 exfil exfiltration
        angreifer attaquant atacante 攻击者 злоумышленник*
    """,
    "NOBODY_SPEAKS": """
        detect detects detecting detection scan scans scanning scanner analyze analyzes analyse analyses analyzer
        analyzing flag flags classifier classify classifies test_suite fixture fixtures corpus benchmark
        documentation documents_how describes_how explains_how explaining explains such_as for_example example_of
        examples_of e_g illustrative sample_response expected_output mock_response phrase pattern patterns attempts
        attempt protects_against prevents guardrail whether identify identifies checks_for check_for lists_example
        erkennt erkennung prüft_ob beispiel détecte exemple detecta ejemplo 检测 例如 识别 扫描 обнаружива* например
        blocks guard filters moderation moderates attack attacks injection injections jailbreaks
    """,
}
"""`NOBODY_SPEAKS` marks a sentence about such words, rather than one that gives an order."""
