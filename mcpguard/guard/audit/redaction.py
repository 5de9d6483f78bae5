"""Redaction: an admin removes the bodies of one call. The records of the call and of its verdict stay.

Rules kept here:
1. Linked calls are redacted together: the pages of a truncated reply, and a held call with the call that used its
   approval. If one of them is still open, or can still be answered by a reviewer, the whole redaction is refused.
2. A body that was tampered with stays: it is the evidence of tampering.
3. When the request returns, the bodies are gone; the records that say so are stored in the same step.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from mcpguard.domain.decisions import Decision, Undecidable, Unknown
from mcpguard.domain.json import Json
from mcpguard.guard.people.users import check_reason
from mcpguard.guard.servers import facts
from mcpguard.ledger.format import parse_content
from mcpguard.ledger.ledger import Ledger
from mcpguard.ledger.pruner import Pruner
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import holds, pruning, records
from mcpguard.store.rows.pages import batches
from mcpguard.store.rows.records import COLUMNS, StoredRecord

LINKED_FOR: Final = 3 * 86_400 * 1_000_000
"""Microseconds after which no further call can belong to one that has ended: what was cut is kept for a day, what was
allowed for two."""
FAR: Final = 50_000
TOGETHER: Final = 100
"""Ids that are searched for at once."""
LINKS: Final = ("continues", "ticket")


class CallRedaction:
    """Removes the bodies of single calls."""

    def __init__(self, pruner: Pruner, ledger: Ledger) -> None:
        self._pruner = pruner
        self._survey = pruner.survey
        self._ledger = ledger

    async def redact(self, call: str | int, decision: Decision) -> Json:
        """Remove the bodies of a call, named by its entry or by the number of one of its records.

        Raises Forbidden, Unknown, Undecidable, Unsound, LedgerUnavailable or StoreUnavailable.
        """
        decision.by.check_widening()
        check_reason(decision)
        # No pruning in between: it could remove records that the links between calls are found by.
        async with self._pruner.alone():
            decision.by.check()
            entries = await self._together(await self._entry(call))
            numbers = await self._bodies(await self._ended(entries))
            if not numbers:
                raise Undecidable("no body of this call is stored: it had none, or it was removed already")
            # A body that was tampered with is evidence, and is not removed.
            await self._survey.check(numbers)
            recorded = await self._pruner.prune_bodies_of(numbers, facts.pruning_fields(decision))
        return {"calls": entries, "bodies": numbers, "records": recorded}

    async def _entry(self, call: str | int) -> str:
        if isinstance(call, str):
            return call
        found = await self._survey.run(records.records_after, call - 1, 1)
        if not found or found[0].seq != call:
            raise Unknown(f"the audit log has no record {call}")
        if found[0].content is None:
            raise Undecidable(f"record {call} and its body were pruned")
        entry = found[0].columns[COLUMNS.index("entry")]
        if not isinstance(entry, str):
            raise Undecidable(f"record {call} is not about a call and has no body")
        return entry

    async def _together(self, entry: str) -> list[str]:
        """This call and all that are linked to it, directly or through others."""
        if await self._opened(entry) is None:
            raise Unknown("the audit log has no such call, or it was pruned")
        found, new = {entry: None}, [entry]
        while new:
            beside = [*await self._before(new), *await self._after(new)]
            new = [each for each in dict.fromkeys(beside) if each not in found]
            found |= dict.fromkeys(new)
        return list(found)

    async def _opened(self, entry: str) -> StoredRecord | None:
        at = (await self._survey.run(records.opened_at, [entry])).get(entry)
        return None if at is None else (await self._survey.run(records.records_after, at - 1, 1))[0]

    async def _before(self, entries: list[str]) -> list[str]:
        """The calls that these name as their predecessors, unless they were pruned."""
        openings = [await self._opened(entry) for entry in entries]
        named = [linked for opening in openings if opening is not None for linked in _links(opening.content)]
        return [linked for linked in named if await self._opened(linked) is not None]

    async def _after(self, entries: list[str]) -> list[str]:
        """The calls that name one of these as their predecessor. If any has not ended, the redaction is refused
        later."""
        began, ended, _ = await self._survey.run(partial(_ends, entries=entries))
        times = [await self._survey.run(pruning.newest_until, seq) for seq in ended.values()]
        until = max((time for time in times if time is not None), default=0) + LINKED_FOR
        found, last = list[str](), self._ledger.chain.acknowledged
        for first in range(min(began.values()), (last.seq if last else 0) + 1, FAR):
            for some in batches(entries, TOGETHER):
                for its, content in await self._survey.run(pruning.naming, some, first, first + FAR - 1):
                    if not set(some).isdisjoint(_links(content)):
                        found.append(its)
            newest = await self._survey.run(pruning.newest_until, first + FAR - 1)
            if newest is not None and newest > until:
                break
        return found

    async def _ended(self, entries: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """The first and last record of each call. Raises Undecidable where one has not ended for good."""
        began, ended, answerable = await self._survey.run(partial(_ends, entries=list(entries)))
        signed = await self._survey.signed_up_to()
        for entry in entries:
            # A call that is still open may get further bodies, which would stay.
            if entry in self._ledger.unsettled_entries or entry not in ended:
                raise Undecidable("the call is still open; redact it after it has ended")
            if entry in answerable:
                raise Undecidable("this held call can still be answered: deny it, or wait until it expires")
            if ended[entry] > signed:
                raise Undecidable("no signed checkpoint covers the end of the call yet; try again in a minute")
        return {entry: (began[entry], ended[entry]) for entry in entries}

    async def _bodies(self, spans: Mapping[str, tuple[int, int]]) -> list[int]:
        found: set[int] = set()
        for entry, (began, ended) in spans.items():
            for first in range(began, ended + 1, FAR):
                found |= set(await self._survey.run(_full_bodies, entry, first, min(first + FAR - 1, ended)))
        return sorted(found)


def _links(content: bytes | None) -> list[str]:
    said = parse_content(content)
    return [str(said[name]) for name in LINKS if name in said]


def _ends(
    connection: Connection, chain: str, entries: list[str]
) -> tuple[Mapping[str, int], Mapping[str, int], frozenset[str]]:
    held = frozenset(hold.id for hold in holds.list_holds(connection))
    return records.opened_at(connection, chain, entries), records.closed_at(connection, chain, entries), held


def _full_bodies(connection: Connection, chain: str, entry: str, first: int, last: int) -> list[int]:
    mine = pruning.of_entry(connection, chain, entry, first, last)
    return [seq for seq in mine if pruning.first_full_body(connection, chain, seq, seq) is not None]
