"""Detects requests for data that a call does not need (T1, T13).

Such data is the conversation, the system prompt, results of other tools, or files of the host. Word order does not
matter: the active and the passive form of a sentence are the same order. A tool whose name is about such data has a
reason to request it, so a finding in it counts little.
"""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

CHATS: Final = """
    chat conversation conversations message messages transcript prompt prompts assistant agent llm model completion
    completions memory thread dialogue history session eval evaluate slack mail email inbox meeting call summarize
    delegate dispatch subagent spawn escalate injection jailbreak jailbreaks dataset corpus guardrail instructions
    moderate moderation generate handoff ticket feedback context think thought task todo
"""
VAULTS: Final = """
    secret secrets vault password passwords credential credentials key keys token tokens login auth authenticate oauth
    wallet ssh sign encrypt decrypt otp 2fa totp dotenv config configure connect connection sso
    form fill cookies kms iam certificate kubectl kube kubeconfig aws gcloud unlock seed mfa
"""
FILES: Final = """
    settings config history file files directory folder workspace repo repository git project search code shell browser
    environment
"""
DETECTOR: Final = phrase_detector(
    phrases(
        "handing.talk",
        "~9 GIVE WHOLE TALK QUOTED|PARAMETER|URL|EMAIL|OUTSIDE|HERE|NUMBER",
        "~12 GIVE WHOLE TALK MUST",
        "GIVE 3 WHOLE 3 TALK",
        "EXPECT 4 WHOLE 2 TALK",
        "~14 CALL FIRST|ALWAYS WHOLE TALK",
        "GIVE 3 WHOLE 3 MESSAGES 3 USER",
        "GIVE 2 USER 3 WHOLE 3 MESSAGES",
        "USER 4 WHOLE 3 MESSAGES 6 GIVE",
        "CALL 4 WITH 2 WHOLE 2 TALK",
        "CALL 4 WITH 3 TALK 3 USER",
        "MIRROR 2 TALK|MESSAGES",
        "~12 TALK GIVE URL|EMAIL|QUOTED|OUTSIDE|OURS",
        "WHOLE 3 TALK 6 GIVE",
        "WHOLE 4 MESSAGES 4 USER 6 GIVE",
        "GIVE 4 WHOLE 4 MESSAGES 4 QUOTED|URL|EMAIL|OUTSIDE",
        "WHOLE 4 MESSAGES 8 GIVE 4 QUOTED|URL|EMAIL|OUTSIDE|HERE|OURS",
        "~9 GIVE USER MESSAGES VERBATIM",
        "~9 GIVE USER MESSAGES URL|EMAIL|OUTSIDE|OURS|NUMBER",
        "MESSAGES 4 USER 6 GIVE 4 VERBATIM",
        "~10 MESSAGES GIVE VERBATIM",
        "~9 TALK VERBATIM GIVE",
        "COPY 2 TALK",
        topics=CHATS,
    ),
    phrases(
        "handing.inner",
        "~9 GIVE INNER QUOTED|PARAMETER|URL|EMAIL|OUTSIDE|HERE|NUMBER",
        "GIVE 3 INNER",
        "INNER 6 GIVE",
        "~8 EXPECT INNER QUOTED|PARAMETER|HERE",
        "TELL 3 INNER",
        "CHANGED 4 INNER",
        topics=CHATS,
    ),
    phrases(
        "handing.others",
        "~12 GIVE|EXPECT RESULTS_ELSEWHERE",
        "HARVEST 4 RESULTS_ELSEWHERE",
        "~12 READ RESULTS_ELSEWHERE QUOTED|PARAMETER|HERE",
    ),
    phrases(
        "handing.kept",
        "~12 GIVE|CHANGED KEPT_DATA QUOTED|PARAMETER|URL|EMAIL|OUTSIDE|OURS|NUMBER",
        "TO_US 6 USER|KEPT_DATA|SECRETS|PERSONAL_DATA",
        "TO_US 2 KEPT_DATA|SECRETS|PERSONAL_DATA",
        "~10 TO_US KEPT_DATA",
        "HARVEST 3 KEPT_DATA",
        "MODEL 2 MUST 4 READ|HARVEST 8 GIVE",
        "MODEL 3 MUST 3 READ|GIVE|HARVEST 6 SECRETS|KEPT_DATA|TALK",
        "GIVE 5 USER 4 KEPT_DATA",
        "GIVE 3 KEPT_DATA 2 USER|OWNED",
        "READ 4 KEPT_DATA 8 GIVE",
        "KEPT_DATA 2 USER 6 GIVE",
        "KEPT_DATA 3 MUST 2 GIVE",
        "~8 KEPT_DATA KEPT_DATA GIVE",
        topics=FILES + CHATS + VAULTS,
    ),
    phrases(
        "handing.person",
        "~9 GIVE PERSONAL_DATA HELD|URL|OUTSIDE|OURS",
        "PERSONAL_DATA 6 HELD",
        "HARVEST 2 USER 6 PERSONAL_DATA",
        "MUST 4 GIVE 3 USER 3 PERSONAL_DATA",
        "GIVE 3 PERSONAL_DATA 2 USER 4 ANY",
        "GIVE 1 PERSONAL_DATA 2 NUMBER|EMAIL",
    ),
    phrases(
        "handing.held",
        "~9 GIVE SECRETS|CREDENTIALS HELD",
        "GIVE 3 SECRETS 7 URL|EMAIL|OUTSIDE|OURS|NUMBER",
        "SECRETS 4 GIVE 4 URL|EMAIL|OUTSIDE|OURS|NUMBER",
        "HARVEST 2 ANY|USER 1 SECRETS|CREDENTIALS",
        "HARVEST 1 SECRETS 6 GIVE",
        "~9 SECRETS GIVE NEXT_CALL",
        "READ 2 USER 3 SECRETS 6 CALL",
        "~12 HELD SECRETS CALL",
        "GIVE 0 SECRET_FILE|KEY_FILES",
        "~9 ALWAYS GIVE SECRETS USER|ANY",
        "SEND|HARVEST 2 ANY 2 SECRETS|CREDENTIALS",
        "SECRETS|KEY_FILES 14 READ 1 THIS 3 GIVE",
        "SECRETS 1 MAY 1 GIVEN 3 THIS|OUTSIDE|URL|OURS",
        "GIVE 3 USER 3 SECRETS 6 URL|EMAIL|OUTSIDE|THIS",
        "ENCODE 10 SUBDOMAIN",
    ),
    phrases("handing.called", "CALL 4 WITH 3 CREDENTIALS|SECRETS", "~7 GIVE SECRETS QUOTED", topics=VAULTS),
    phrases(
        "handing.secrets",
        "~10 SEND|GIVE OWN_SECRETS QUOTED",
        "MODEL 6 GIVE 4 SECRETS",
        "READ 4 SECRETS|KEY_FILES|SECRET_FILE 8 GIVE",
        "SECRETS|KEY_FILES|SECRET_FILE 8 READ 4 GIVE",
        "SECRET_FILE|KEY_FILES 4 MUST 2 GIVE",
        "GIVE 3 KEY_FILES",
        "~10 SECRETS OWNED GIVE",
        unless=("FEWER_TOKENS",),
        topics=VAULTS,
    ),
)
