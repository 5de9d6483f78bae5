"""Detects orders to send out private data: the conversation, the user's data, or copies of results (T13)."""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import DetectorRule, phrase_detector, phrases

_CONVERSATION: Final = DetectorRule(
    "exfiltration.conversation", "T13", Severity.HIGH, 0.6, "Exfiltrates the conversation"
)
_PRIVATE: Final = DetectorRule("exfiltration.private", "T13", Severity.HIGH, 0.5, "Exfiltrates private data")
_OUTSIDE: Final = DetectorRule("exfiltration.outside", "T13", Severity.HIGH, 0.55, "Sends data to an outside address")
_PLACE: Final = DetectorRule("exfiltration.place", "T13", Severity.LOW, 0.3, "Mentions sending to an outside address")
_COPY: Final = DetectorRule("exfiltration.copy", "T13", Severity.MEDIUM, 0.45, "Sends a copy of everything elsewhere")
DETECTOR: Final = phrase_detector(
    phrases(
        _CONVERSATION,
        "SEND|COPY 5 CONVERSATION 8 OUTSIDE|URL|EMAIL|PARAMETER|SERVER|TOOL|THIS",
        "CARRY|READ 3 ANY|PREVIOUS|USER 4 CONVERSATION",
        "CARRY 4 CONVERSATION 6 PARAMETER|ASIDE|OUTSIDE|URL|EMAIL|RESULTS",
        "SEND 3 ANY 4 CONVERSATION",
        "SEND 4 CONVERSATION",
        "CONVERSATION 3 SEND 8 OUTSIDE|URL|EMAIL|SERVER",
        unless=("SEND 3 INTO_TALK",),
    ),
    phrases(
        _PRIVATE,
        "SEND|CARRY 5 PRIVATE 8 OUTSIDE|URL|EMAIL|ASIDE|PARAMETER",
        "SEND|CARRY 2 ANY|USER 2 PRIVATE",
        "READ 4 PRIVATE 8 SEND",
        "ALWAYS|MUST|FIRST 2 CARRY|SEND 2 USER 6 PERSONAL",
        "READ 6 PERSONAL 8 CARRY|SEND 6 PARAMETER|NAMED|ASIDE",
    ),
    phrases(
        _OUTSIDE,
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
    phrases(_PLACE, "SEND|COPY 8 OUTSIDE 3 SERVER"),
    phrases(
        _COPY,
        "SEND 2 COPY 6 OUTSIDE|EMAIL|URL|ANY",
        "ALWAYS|ALSO 3 SEND 4 COPY",
        "ANY 6 SEND 3 COPY",
        "COPY 3 ANY 6 EMAIL|URL|OUTSIDE",
    ),
)
