"""A reply that turns to whoever reads it, and tells them what to call next (T11, T12).

In a definition both are ordinary: it is written for a model. What a server answers is not.
"""

from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, DetectorRule, Surroundings, phrases
from mcpguard.inspection.detectors.orders.steering import foreign_in
from mcpguard.inspection.texts.texts import DefinitionTexts

_ADDRESSED: Final = phrases(
    DetectorRule("speaking.addressed", "T11", Severity.MEDIUM, 0.5, "It turns to the model that reads it"),
    "MODEL 3 MUST",
    "MODEL 3 NEVER 1 TELL|SPEAK|SHOW|ASK",
    "WHEN 4 MODEL",
    "MODEL 6 ASK 1 CALL|SEND|CARRY|GIVE|TELL|READ",
    "MODEL 3 FIRST|ALWAYS 2 CALL|SEND|READ",
)
_ALL: Final = phrases(
    DetectorRule(
        "speaking.all", "T11", Severity.MEDIUM, 0.5, "It tells whoever reads it to drop all that they were told"
    ),
    "IGNORE 0 ANY 3 INSTRUCTIONS",
    "IGNORE 1 ANY 2 PREVIOUS 2 INSTRUCTIONS",
    "IGNORE 2 PREVIOUS 2 INSTRUCTIONS 4 TELL|SEND|CALL|READ|DESTROY|INSTEAD",
)
_AGREED: Final = phrases(
    DetectorRule("speaking.agreed", "T11", Severity.MEDIUM, 0.5, "It says that the person has agreed to what it wants"),
    "USER 3 PRESUMED",
    "USER 2 AGREED_ALREADY",
    "~8 USER ANY NO_CONSENT",
    "~9 USER APPROVAL ANY",
)
_MEMORY: Final = phrases(
    DetectorRule("speaking.memory", "T11", Severity.MEDIUM, 0.5, "It is to be remembered for other conversations"),
    "LASTING_MEMORY",
)
_NEXT: Final = phrases(
    DetectorRule("steering.next", "T12", Severity.HIGH, 0.5, "It tells the model to call another server's tool now"),
    "MUST|ALWAYS 5 CALL 4 FOREIGN",
    "MODEL 5 CALL 4 FOREIGN",
    "CALL 4 FOREIGN 12 CONVERSATION|SECRETS|SECRET_FILE|TALK|INNER",
    "FOREIGN 8 SECRET_FILE|CONVERSATION|EMAIL 4 SECRETS|CONVERSATION",
)


_ALONE: Final = (_ADDRESSED, _ALL, _AGREED, _MEMORY)


def _find(subject: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        for each in _ALONE:
            if found := each.of(text):
                yield found
        if surroundings.foreign and (found := _NEXT.of(text, {"FOREIGN": foreign_in(text, surroundings)})):
            yield found


DETECTOR: Final = Detector((*(each.rule for each in _ALONE), _NEXT.rule), _find, _ALONE)
