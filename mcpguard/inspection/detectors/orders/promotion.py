"""Detects self-praise and disparagement of other tools, where a description should say what the tool does (T5)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

DETECTOR: Final = phrase_detector(
    phrases("promotion.superlative", "SUPERLATIVE"),
    phrases("promotion.boast", "~60 BOAST BOAST", "~30 BOAST BEST"),
    phrases(
        "promotion.best",
        "BEST 5 TOOLS",
        "THIS 3 BEST 2 PREFER",
        "BEST 3 ALWAYS",
        "PREFER 2 THIS 3 ANY",
        "ALWAYS 2 PREFER 3 THIS",
        "PREFER 3 THIS 3 OTHER",
    ),
    phrases("promotion.choose", "BEST 16 PREFER 3 THIS", "BEST 16 NEVER 3 CALL 3 OTHER", "PREFER 3 THIS 5 OTHER"),
    phrases("promotion.than", "COMPARED 2 SIMILAR 2 TOOLS", "THAN 3 TOOLS|OTHER"),
    phrases("promotion.reason", "RECOMMENDED", "FLATTERY", "ONLY_THIS"),
    phrases(
        "promotion.picked",
        "ALWAYS|MUST 2 PICK 2 THIS",
        "ALWAYS|MUST 1 PICK 4 COMPARED",
        unless=("COMPARED 1 QUOTED|NAMED",),
    ),
    phrases(
        "promotion.others",
        "OTHER 3 TOOLS 4 WORSE",
        "TOOLS 4 SERVER 2 WORSE",
        "NEVER 0 CALL 3 TOOLS 4 WORSE",
        "TOOLS 2 OTHER 5 WORSE",
        "WORSE 2 OTHER 2 TOOLS",
        "THIS 5 INSTEAD 6 WORSE",
        "NATIVE 3 TOOLS|NAMED|READ|SEND 4 OFF",
        "BUILT_IN 2 TOOLS 4 OFF",
        "NAMED 3 WORSE 6 INSTEAD|CALL|TAMPER",
        unless=("WORSE 0 COMPARED", "NEVER 0 CALL 0 THIS"),
    ),
)
