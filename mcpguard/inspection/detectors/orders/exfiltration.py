"""Detects orders to send out private data: the conversation, the user's data, or copies of results (T13)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

DETECTOR: Final = phrase_detector(
    phrases(
        "exfiltration.conversation",
        "SEND|COPY 5 CONVERSATION 8 OUTSIDE|URL|EMAIL|PARAMETER|SERVER|TOOL|THIS",
        "CARRY|READ 3 ANY|PREVIOUS|USER 4 CONVERSATION",
        "CARRY 4 CONVERSATION 6 PARAMETER|ASIDE|OUTSIDE|URL|EMAIL|RESULTS",
        "SEND 3 ANY 4 CONVERSATION",
        "SEND 4 CONVERSATION",
        "CONVERSATION 3 SEND 8 OUTSIDE|URL|EMAIL|SERVER",
        unless=("SEND 3 INTO_TALK",),
    ),
    phrases(
        "exfiltration.private",
        "SEND|CARRY 5 PRIVATE 8 OUTSIDE|URL|EMAIL|ASIDE|PARAMETER",
        "SEND|CARRY 2 ANY|USER 2 PRIVATE",
        "READ 4 PRIVATE 8 SEND",
        "ALWAYS|MUST|FIRST 2 CARRY|SEND 2 USER 6 PERSONAL",
        "READ 6 PERSONAL 8 CARRY|SEND 6 PARAMETER|NAMED|ASIDE",
    ),
    phrases(
        "exfiltration.outside",
        "ALSO|SECRETLY 3 SEND 8 OUTSIDE 3 SERVER",
        "SEND 3 COPY|RESULTS|PRIVATE|SECRETS|CONVERSATION|ANY 8 OUTSIDE 3 SERVER",
        "ANY|ALWAYS|MUST 5 SEND 6 OUTSIDE 3 SERVER",
        "SEND|COPY 5 OUTSIDER",
        "OUTSIDER 3 SERVER|EMAIL|OUTSIDE",
        "MUST|ALSO 3 SEND 6 URL|EMAIL",
        "SEND 4 RESULTS 5 URL|EMAIL",
        "READ 8 SEND 4 EMAIL|URL",
        "~10 CARRY URL REPLY ANY",
        "SEND|COPY 2 USER 10 EMAIL|URL|NUMBER",
        "SEND 10 EMAIL|URL 4 SECRETLY",
        "MODEL 6 COPY|SEND 6 EMAIL|URL|NUMBER",
    ),
    phrases("exfiltration.place", "SEND|COPY 8 OUTSIDE 3 SERVER"),
    phrases(
        "exfiltration.copy",
        "SEND 2 COPY 6 OUTSIDE|EMAIL|URL|ANY",
        "ALWAYS|ALSO 3 SEND 4 COPY",
        "ANY 6 SEND 3 COPY",
        "COPY 3 ANY 6 EMAIL|URL|OUTSIDE",
    ),
)
