"""Detects self-praise and disparagement of other tools, where a description should say what the tool does (T5)."""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import DetectorRule, phrase_detector, phrases

_BEST: Final = DetectorRule("promotion.best", "T5", Severity.LOW, 0.2, "Promotes itself over other tools")
_CHOOSE: Final = DetectorRule("promotion.choose", "T5", Severity.LOW, 0.35, "Asks to be preferred over other tools")
_WORSE: Final = DetectorRule("promotion.others", "T5", Severity.MEDIUM, 0.5, "Disparages other tools")
_THAN: Final = DetectorRule("promotion.than", "T5", Severity.LOW, 0.3, "Claims to be better than others")
_REASON: Final = DetectorRule("promotion.reason", "T5", Severity.LOW, 0.3, "Gives unrelated reasons to be called")
_PICKED: Final = DetectorRule("promotion.picked", "T5", Severity.LOW, 0.3, "Asks to be chosen always")
DETECTOR: Final = phrase_detector(
    phrases(
        _BEST,
        "BEST 5 TOOLS",
        "THIS 3 BEST 2 PREFER",
        "BEST 3 ALWAYS",
        "PREFER 2 THIS 3 ANY",
        "ALWAYS 2 PREFER 3 THIS",
        "PREFER 3 THIS 3 OTHER",
    ),
    phrases(_CHOOSE, "BEST 16 PREFER 3 THIS", "BEST 16 NEVER 3 CALL 3 OTHER", "PREFER 3 THIS 5 OTHER"),
    phrases(_THAN, "COMPARED 2 SIMILAR 2 TOOLS", "THAN 3 TOOLS|OTHER"),
    phrases(_REASON, "RECOMMENDED", "FLATTERY", "ONLY_THIS"),
    phrases(_PICKED, "ALWAYS|MUST 2 PICK 2 THIS", "ALWAYS|MUST 1 PICK 4 COMPARED", unless=("COMPARED 1 QUOTED|NAMED",)),
    phrases(
        _WORSE,
        "OTHER 3 TOOLS 4 WORSE",
        "TOOLS 4 SERVER 2 WORSE",
        "NEVER 0 CALL 3 TOOLS 4 WORSE",
        "TOOLS 2 OTHER 5 WORSE",
        "WORSE 2 OTHER 2 TOOLS",
        "THIS 5 INSTEAD 6 WORSE",
        "NATIVE 3 TOOLS|NAMED|READ|SEND 4 OFF",
        "BUILT_IN 2 TOOLS 4 OFF",
        "NAMED 3 WORSE 6 INSTEAD|CALL|TAMPER",
    ),
)
