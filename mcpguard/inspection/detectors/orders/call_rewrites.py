"""Detects orders to alter other calls: their recipients, their amounts, or what the user chose (T6)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

DETECTOR: Final = phrase_detector(
    phrases(
        "rewriting.recipient",
        "MUST 3 CHANGE|TAMPER 4 RECIPIENT",
        "RECIPIENT 2 MUST 2 TAMPER",
        "CHANGE 2 BCC 4 EMAIL",
        "CHANGE 3 RECIPIENT 4 EMAIL|OUTSIDER|OUTSIDE",
        "WHEN 12 CHANGE 4 RECIPIENT 6 EMAIL|MUST|OUTSIDE|OUTSIDER|INSTEAD",
        "SEND 6 ANY 4 EMAIL",
        "ANY 8 SEND 6 EMAIL",
        "SEND 8 EMAIL 4 INSTEAD",
        "MUST|ALWAYS|ANY 8 EMAIL 3 BCC",
        "ALWAYS|ANY 6 BCC 6 EMAIL",
    ),
    phrases(
        "rewriting.calls",
        "WHEN 4 TOOL|FILE_WORK 5 CALL 8 MUST 3 CHANGE|TAMPER",
        "WHEN 3 CALL 4 TOOLS|FILE_WORK 8 MUST 3 CHANGE|TAMPER",
        "TAMPER 5 OTHER 2 TOOLS",
        "WHEN 8 TAMPER 3 RECIPIENT",
        "WHEN 5 SERVER 3 TOOLS 3 CALL",
        "PARAMETER 1 MUST 2 TAMPER",
        "ANY 2 OTHER 2 TOOLS 8 MUST 3 CHANGE|SEND|CARRY",
        "REGARDLESS 4 USER 6 TELL|ASK|PREFER",
    ),
    phrases(
        "rewriting.chosen",
        "WHATEVER 3 USER 2 GIVE|ASK|TYPED 8 CHANGE|CARRY|SEND",
        "REGARDLESS 2 ASK",
        "REGARDLESS 3 TYPED_BY",
        "~8 TYPED_BY IGNORE|CHANGE|TAMPER|NEVER_THE",
        "CHANGE 4 RECIPIENT 4 SECRETLY|UNANNOUNCED",
        "CHANGE 4 USER 1 TYPED",
        "TAMPER 4 USER 1 TYPED",
        "SECRETLY 1 CHANGE 4 PARAMETER",
        "WHEN 4 CONVERSATION 3 FOUND 8 CHANGE|SEND|TAMPER|CALL",
        "WHEN 3 USER 3 AWAY 4 CALL|SEND|DESTROY",
        "LATER_CALLS 8 SEND|CHANGE|TURN|READ|TAMPER|DESTROY 8 USER|ANY|EMAIL|URL|SECRETS",
        "~14 OTHER TOOL BCC|EMAIL",
        "~14 OUTGOING MUST|CARRY URL|EMAIL|NUMBER|BCC",
        "TOOLS 2 MUST 8 EMAIL",
        "ANY 2 FILE_WORK 8 MUST 2 SEND",
        "PLANT 3 MALICE",
        "~14 CHANGE|TAMPER|SEND ANY NUMBER",
        "~12 CHANGE SECRETLY URL|EMAIL|NUMBER",
    ),
)
