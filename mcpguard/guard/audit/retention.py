"""Retention of the audit log: pruning by the settings, and pruning on request.

Rules kept here:
1. Nothing is pruned unless a setting or a person asks for it. That person must be allowed to loosen protection.
2. Pruning works in batches, with other work in between. What cannot be pruned now is pruned later, and fails nothing
   else.
3. A request that cannot be carried out is refused with the reason, and then nothing was pruned.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Decision, Undecidable
from mcpguard.domain.errors import LedgerUnavailable, StoreUnavailable
from mcpguard.domain.json import Json
from mcpguard.guard.people.users import check_reason
from mcpguard.guard.servers import facts
from mcpguard.ledger.ledger import Ledger
from mcpguard.ledger.pruner import Pruner
from mcpguard.ledger.prunings import PrunedPart, PruningCause, Stretch, Unsound
from mcpguard.settings.guard_groups import RetentionSettings
from mcpguard.store.engine.store import Store

DAY: Final = 86_400 * 1_000_000
FEWEST: Final = 1000
"""Records that are pruned at once because of the database's size: what that frees is known only afterwards."""
LATER: Final = (
    "nothing can be pruned yet: records from {} on are not covered by a signed checkpoint, or belong to a call that is "
    "open or can still be answered; try again later"
)
Upto = Callable[[int], Awaitable[int]]
"""Says up to which number records may be pruned, of those after a number."""
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class PruningRequest:
    """What is to be pruned: everything before a moment, or all but the newest; `bodies`: only their bodies."""

    before: int | None = None
    keep: int | None = None
    bodies: bool = False

    @property
    def what(self) -> PrunedPart:
        return PrunedPart.BODIES if self.bodies else PrunedPart.RECORDS


class Retention:
    """Prunes records and bodies, from time to time or on request."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock, settings: RetentionSettings) -> None:
        self.pruner = Pruner(store, ledger, clock)
        self._survey = self.pruner.survey
        self._ledger = ledger
        self._clock = clock
        self._settings = settings

    async def run(self) -> None:
        """Prune what the settings say, again and again; first finish what an earlier run has begun."""
        while True:
            await self.sweep()
            await self._clock.sleep(self._settings.every_seconds)

    async def sweep(self) -> bool:
        """Prune once what the settings say. Returns whether all of it could be done."""
        try:
            async with self.pruner.alone():
                pass
            await self._by_age()
            await self._by_count()
            await self._by_size()
        except (LedgerUnavailable, StoreUnavailable) as error:
            log.warning("retention.later", why=str(error))
            return False
        except Unsound as error:
            log.error("retention.unsound", why=str(error), look="mcpguard audit verify")
            return False
        return True

    async def prune_on_request(self, wanted: PruningRequest, decision: Decision, *, dry: bool) -> Json:
        """Prune what an admin asks for, as much as is done at once: `more` says whether to ask again.

        Raises Forbidden, Undecidable, Unsound, LedgerUnavailable or StoreUnavailable.
        """
        decision.by.check_widening()
        check_reason(decision)
        async with self.pruner.alone():
            decision.by.check()
            after, horizon = await self._survey.pruned_up_to(wanted.what), await self._survey.horizon()
            upto = await self._upto(wanted, after)
            if upto <= after:
                raise Undecidable("nothing to prune: these records were pruned already, or are kept by this rule")
            # Only what a signed checkpoint covers may go: else nobody could prove later that the rest is complete.
            if horizon <= after:
                raise Undecidable(LATER.format(after + 1))
            last = min(upto, horizon)
            if dry:
                count = await self._survey.count(wanted.what, after, last)
                return _answer(wanted.what, after + 1, last, count, upto - last)
            stretches = await self._next(wanted.what, after, last)
            if not stretches:
                raise Undecidable("nothing to prune: the remaining records have to stay")
            numbers = await self.pruner.prune(stretches, PruningCause.ASKED, facts.pruning_fields(decision))
        first, end, count = stretches[0].first, stretches[-1].last, sum(each.count for each in stretches)
        more = end < last and await self._survey.count(wanted.what, end, last) > 0
        return _answer(wanted.what, first, end, count, upto - last, numbers, more=more)

    async def _upto(self, wanted: PruningRequest, after: int) -> int:
        if wanted.keep is not None:
            return self._end - wanted.keep
        return await self._survey.older(after, self._end, wanted.before or 0, self._clock.now())

    async def _by_age(self) -> None:
        for what, days in (
            (PrunedPart.RECORDS, self._settings.record_days),
            (PrunedPart.BODIES, self._settings.body_days),
        ):
            if days is not None:
                await self._prune(what, PruningCause.AGE, partial(self._too_old, days))

    async def _by_count(self) -> None:
        most = self._settings.records
        if most is not None:
            await self._prune(PrunedPart.RECORDS, PruningCause.COUNT, partial(self._too_many, most))

    async def _by_size(self) -> None:
        most = self._settings.database_bytes
        if most is not None:
            await self._prune(PrunedPart.RECORDS, PruningCause.SIZE, partial(self._too_large, most))

    async def _prune(self, what: PrunedPart, why: PruningCause, upto: Upto) -> None:
        """Prune up to where `upto` says, again and again until there is nothing more."""
        while True:
            async with self.pruner.alone():
                after = await self._survey.pruned_up_to(what)
                stretches = await self._next(what, after, min(await upto(after), await self._survey.horizon()))
                if not stretches:
                    return
                await self.pruner.prune(stretches, why)

    async def _next(self, what: PrunedPart, after: int, upto: int) -> tuple[Stretch, ...]:
        """The stretches that are pruned at once."""
        if upto <= after:
            return ()
        return await (self._survey.records if what is PrunedPart.RECORDS else self._survey.bodies)(after, upto)

    async def _too_old(self, days: int, after: int) -> int:
        now = self._clock.now()
        return await self._survey.older(after, self._end, now - days * DAY, now)

    async def _too_many(self, most: int, _: int) -> int:
        return self._end - most

    async def _too_large(self, most: int, after: int) -> int:
        """Up to where to prune to get below a size. That is only an estimate, so rather too few, and then look
        again."""
        taken, end = await self._survey.bytes_taken(after, self._end), self._end
        if taken <= most or end <= after:
            return after
        return after + max(FEWEST, (taken - most) * (end - after) // taken)

    @property
    def _end(self) -> int:
        acknowledged = self._ledger.chain.acknowledged
        return acknowledged.seq if acknowledged else 0


def _answer(
    what: PrunedPart, first: int, last: int, count: int, later: int, numbers: Sequence[int] = (), *, more: bool = False
) -> Json:
    """The answer to a request. `later`: how many of the records have to wait; `more`: whether to ask again at once."""
    said: Json = {"what": what.value, "first": first, "last": last, "count": count, "later": max(0, later)}
    return said | {"records": [*numbers], "more": more}
