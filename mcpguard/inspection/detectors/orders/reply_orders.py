"""Detects replies that address the model and tell it what to call next (T11, T12).

Both are normal in a definition, which is written for a model, but not in a reply.
"""

from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings, phrases
from mcpguard.inspection.detectors.orders.steering import find_foreign_names
from mcpguard.inspection.texts.texts import DefinitionTexts

_ADDRESSED: Final = phrases(
    "speaking.addressed",
    "MODEL 3 MUST",
    "MODEL 3 NEVER 1 TELL|SPEAK|SHOW|ASK",
    "WHEN 4 MODEL",
    "MODEL 6 ASK 1 CALL|SEND|CARRY|GIVE|TELL|READ",
    "MODEL 3 FIRST|ALWAYS 2 CALL|SEND|READ",
)
_ORDERED: Final = "MUST|SEND|CALL|DESTROY|CHANGE|TAMPER|CARRY|READ|TELL|IGNORE|STORE|INSTEAD|NEVER"
_READER: Final = phrases(
    "speaking.reader",
    f"READER 14 {_ORDERED}",
    f"MODEL 1 READS_THIS 14 {_ORDERED}",
    f"GREETING 1 MODEL 14 {_ORDERED}",
)
_ALL: Final = phrases(
    "speaking.all",
    "IGNORE 0 ANY 3 INSTRUCTIONS",
    "IGNORE 1 ANY 2 PREVIOUS 2 INSTRUCTIONS",
    "IGNORE 0 PREVIOUS 0 INSTRUCTIONS",
    "IGNORE 1 ABOVE",
    "DROPS 2 GIVEN_BEFORE",
    "IGNORE 2 PREVIOUS 2 INSTRUCTIONS 4 TELL|SEND|CALL|READ|DESTROY|INSTEAD",
)
_AGREED: Final = phrases(
    "speaking.agreed",
    "USER 3 PRESUMED",
    "USER 2 AGREED_ALREADY",
    "~8 USER ANY NO_CONSENT",
    "~9 USER APPROVAL ANY",
)
_MEMORY: Final = phrases(
    "speaking.memory",
    "LASTING_MEMORY",
)
_NEXT: Final = phrases(
    "steering.next",
    "MUST|ALWAYS 5 CALL 4 FOREIGN",
    "MODEL 5 CALL 4 FOREIGN",
    "CALL 4 FOREIGN 12 CONVERSATION|SECRETS|SECRET_FILE|TALK|INNER",
    "FOREIGN 8 SECRET_FILE|CONVERSATION|EMAIL 4 SECRETS|CONVERSATION",
)


_ALONE: Final = (_ADDRESSED, _READER, _ALL, _AGREED, _MEMORY)


def _find(subject: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        for each in _ALONE:
            if finding := each.find_in(text):
                yield finding
        if surroundings.foreign and (
            finding := _NEXT.find_in(text, {"FOREIGN": find_foreign_names(text, surroundings)})
        ):
            yield finding


DETECTOR: Final = Detector((*(each.rule for each in _ALONE), _NEXT.rule), _find, _ALONE)
