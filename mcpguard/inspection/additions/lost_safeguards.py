"""Tells which safeguards a change takes away: that the user confirms, or that nothing is changed.

A safeguard is lost if the approved definition speaks of it in a sentence that is gone, and the new one nowhere does.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from mcpguard.domain.additions import Addition, AdditionKind
from mcpguard.domain.findings import Evidence
from mcpguard.inspection.additions.addition_patterns import SAFEGUARDS
from mcpguard.inspection.additions.new_texts import read_approved, read_new_texts
from mcpguard.inspection.detectors.detector import Phrases
from mcpguard.inspection.texts.texts import Text, TextRole, read_texts
from mcpguard.inspection.vocabulary import CHANGE_WORDS


def find_lost_safeguards(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Addition]:
    """Yield the safeguards that the new definition does not speak of any more; each is named once."""
    gone = [text for text in read_new_texts(before, read_approved(after)).texts if text.role is TextRole.VALUE]
    if not gone:
        return
    now: list[Text] | None = None
    for safeguard in SAFEGUARDS:
        lost = next((text for text in gone if _speaks_of(text, safeguard)), None)
        if lost is not None:
            now = [*read_texts(after).texts] if now is None else now
            if not any(_speaks_of(text, safeguard) for text in now):
                yield Addition(AdditionKind.SAFEGUARD, Evidence(lost.path, 0, 0), safeguard.rule.title)


def _speaks_of(text: Text, safeguard: Phrases) -> bool:
    return safeguard.find_in(text, CHANGE_WORDS.find(text.tokens)) is not None
