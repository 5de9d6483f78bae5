"""What was decided about a server, each decision once, whatever number of records it left.

Rules kept here:
1. Records of one decision share its id. What the guard itself changed has none: its records are one change where they
   are about the same server and the same move, with no record between them, as one listing leaves them.
2. The work is bounded: at most `MOST_DECISIONS`, of at most `MOST_RECORDS` records. Where that ends within a decision,
   the decision says that it is not whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.domain.json import Json
from mcpguard.guard.audit.audit_log import AuditLog

MOST_DECISIONS: Final = 100
MOST_RECORDS: Final = 5000
AT_ONCE: Final = 500
KINDS: Final = tuple(
    kind.value
    for kind in (
        RecordKind.DECIDED,
        RecordKind.MOVED,
        RecordKind.ADMITTED,
        RecordKind.INSPECTED,
        RecordKind.INSPECTION_FAILED,
    )
)


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A decision, or a change by the guard itself. `records`: what they say, with their numbers, the first one first;
    `is_whole`: whether these are all."""

    records: tuple[Json, ...]
    is_whole: bool = True

    @property
    def first(self) -> Json:
        return self.records[0]


@dataclass(frozen=True, slots=True)
class DecisionHistory:
    """The newest decisions about a server, the newest first. `has_more`: whether there are older ones."""

    decisions: tuple[RecordedDecision, ...]
    has_more: bool


async def server_decisions(log: AuditLog, server: str) -> DecisionHistory:
    """Read the newest decisions about a server of this name. Raises StoreUnavailable."""
    about = Filter((FilterTerm(FilterKey.SERVER, (server,)), FilterTerm(FilterKey.KIND, KINDS)))
    found: list[Json] = []
    start, has_more = None, True
    while has_more and len(found) < MOST_RECORDS and sum(_begins(found)) <= MOST_DECISIONS:
        page = await log.page(about, start, AT_ONCE, newest_first=True)
        found += ({"seq": each["seq"], **each["content"]} for each in page.records if each["content"])
        start, has_more = page.last, page.more
    decisions = [*_grouped(found)]
    cut = decisions[:MOST_DECISIONS]
    if cut and has_more and len(cut) == len(decisions):
        cut[-1] = RecordedDecision(cut[-1].records, is_whole=len(cut[-1].records) == 1)
    return DecisionHistory(tuple(cut), has_more or len(decisions) > MOST_DECISIONS)


def _begins(newest_first: list[Json]) -> Iterator[bool]:
    """Yield for each record whether another decision begins with it, read from the newest."""
    before: Json | None = None
    for each in newest_first:
        yield before is None or not _are_one(each, before)
        before = each


def _grouped(newest_first: list[Json]) -> Iterator[RecordedDecision]:
    together: list[Json] = []
    for each, begins in zip(newest_first, _begins(newest_first), strict=True):
        if begins and together:
            yield RecordedDecision(tuple(reversed(together)))
            together = []
        together.append(each)
    if together:
        yield RecordedDecision(tuple(reversed(together)))


def _are_one(older: Json, newer: Json) -> bool:
    if "decision" in older or "decision" in newer:
        return bool(older.get("decision") == newer.get("decision"))
    is_move = older["kind"] == newer["kind"] == RecordKind.MOVED and "ticket" not in older and "ticket" not in newer
    alike = all(older.get(field) == newer.get(field) for field in ("move", "upstream"))
    return is_move and alike and older["seq"] + 1 == newer["seq"]
