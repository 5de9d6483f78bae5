"""Judges what a changed definition adds to the approved one.

Rules kept here:
1. The judgement depends on the two definitions, and on the names of other tools, alone.
2. Only what is added counts: an honest long text beside a short poisoned one makes no difference.
3. The work is bounded whatever the definitions contain, and added text that was not read is itself an addition.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.domain.additions import Addition, AdditionKind, Additions, order_additions
from mcpguard.domain.servers.listings import INSTRUCTIONS
from mcpguard.inspection.additions.addition_patterns import CONTEXT
from mcpguard.inspection.additions.lost_safeguards import find_lost_safeguards
from mcpguard.inspection.additions.new_destinations import find_new_destinations
from mcpguard.inspection.additions.new_orders import find_new_orders
from mcpguard.inspection.additions.new_texts import read_approved, read_new_texts
from mcpguard.inspection.additions.new_values import find_new_values
from mcpguard.inspection.additions.weaker_annotations import find_weaker_annotations
from mcpguard.inspection.detectors.detector import Surroundings

MOST: Final = 40
"""Additions of one change that are named."""
ALONE: Final = Surroundings()


def find_additions(before: object, after: object, surroundings: Surroundings = ALONE) -> Additions:
    """Return what `after` adds to `before`; both are definitions, or the texts of a server's instructions."""
    return order_additions(_additions(_whole(before), _whole(after), surroundings), MOST)


def _additions(before: Mapping[str, Any], after: Mapping[str, Any], surroundings: Surroundings) -> Iterator[Addition]:
    approved = read_approved(before)
    new = read_new_texts(after, approved)
    if new.cut is not None:
        yield Addition(AdditionKind.UNREAD, new.cut)
    yield from find_new_destinations(new.texts, approved)
    orders = [*find_new_orders(new, approved, surroundings)]
    told = {(each.kind, each.evidence.path) for each in orders if each.purpose != CONTEXT}
    yield from (each for each in orders if each.purpose != CONTEXT or (each.kind, each.evidence.path) not in told)
    yield from find_new_values(before, after, approved)
    yield from find_weaker_annotations(before, after)
    yield from find_lost_safeguards(before, after)


def _whole(definition: object) -> Mapping[str, Any]:
    return definition if isinstance(definition, dict) else {INSTRUCTIONS: definition}
