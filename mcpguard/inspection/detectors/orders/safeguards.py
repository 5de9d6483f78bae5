"""Detects orders to disable safeguards: confirmations, filters, logs, the sandbox (T1).

Only orders count. A tool whose task is to disable something states that ("Disables a rule") and is named after it.
"""

from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, PhraseRules, Surroundings, phrases
from mcpguard.inspection.texts.texts import DefinitionTexts, TextRole

_TOPICS: Final = """
    disable mute toggle set update config setting settings rule rules policy firewall alert approve approval waf
"""
_OFF: Final = phrases(
    "safeguard.off",
    "DISABLE 3 GUARD",
    "GUARD 4 DISABLE",
    "SWITCH 1 GUARD 1 OFF_WORD",
    "NEVER 1 FOLLOW 3 GUARD",
    "OMIT 0 ASK 2 ASK",
    "PROCEED 4 WITHOUT 2 ASK 2 USER",
    topics=_TOPICS,
)
_AGREED: Final = phrases(
    "safeguard.agreed",
    "~7 APPROVAL PRESUMED",
    topics=_TOPICS,
)
_TRUST: Final = phrases(
    "safeguard.trust",
    "RESULTS 3 OBEYED",
    "RESULTS 2 GIVE|FOUND 10 OBEYED",
    "MODEL 2 MUST 2 OBEYED",
    "TREAT 8 OBEYED",
)
_OF_SWITCHES: Final = PhraseRules(_TRUST)
_ALL: Final = PhraseRules(_OFF, _AGREED, _TRUST)


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    """Parameters are left out: many a switch skips a confirmation when the user wants that."""
    for text in subject.texts:
        switch = text.role is TextRole.KEY or (
            text.path.startswith("/inputSchema/properties/") and text.path.endswith("/description")
        )
        for each in (_OF_SWITCHES if switch else _ALL).breakable_by(text.meanings):
            if finding := each.find_for_tool(subject, text):
                yield finding


DETECTOR: Final = Detector((_OFF.rule, _AGREED.rule, _TRUST.rule), _find, (_OFF, _AGREED, _TRUST))
