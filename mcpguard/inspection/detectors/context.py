"""Parameters that ask for what a tool has no need of: what was said before, prompts, an aside (T2, T13)."""

from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, Phrases, Rule, Surroundings, phrases
from mcpguard.inspection.reading.texts import Role, Subject, Text

_NAMED: Final = Rule(
    "context.name", "T13", Severity.HIGH, 0.55, "A parameter asks by its name for what it has no need of"
)
_ORDER: Final = Rule("context.order", "T2", Severity.HIGH, 0.55, "A parameter's name is an order")
_SAID: Final = phrases(
    Rule(
        "context.asked",
        "T13",
        Severity.HIGH,
        0.55,
        "It asks for what was said, or for its instructions, as a parameter",
    ),
    "ANY|PREVIOUS 4 CONVERSATION",
    "SYSTEM_PROMPT",
    "CONVERSATION 6 FOUND 3 PARAMETER",
)
_NAMES: Final = phrases(
    _NAMED,
    "SYSTEM_PROMPT",
    "ASIDE",
    "SECRET_FILE|KEY_FILES",
    "TRANSCRIPT",
    "ANY 1 CONVERSATION",
    "RESULTS 2 FOUND 1 READ",
)
_ORDERS: Final = phrases(
    _ORDER,
    "READ 3 SECRETS|KEY_FILES",
    "MUST 2 CALL|SEND|READ",
    "BEFORE 2 CALL 2 TOOL",
    "IGNORE 2 PREVIOUS 2 INSTRUCTIONS",
)
_LONG: Final = 48
"""A name this long is a sentence."""


def _find(subject: Subject, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        if text.role is Role.KEY and "/properties/" in text.path:
            yield from _of(text, _NAMES, _ORDERS)
        elif text.role is Role.VALUE and text.path.startswith("/inputSchema/") and text.path.endswith("/description"):
            yield from _of(text, _SAID)


def _of(text: Text, *said: Phrases) -> Iterator[Finding]:
    for each in said:
        if found := each.of(text):
            yield found


DETECTOR: Final = Detector((_NAMED, _ORDER, _SAID.rule), _find)
