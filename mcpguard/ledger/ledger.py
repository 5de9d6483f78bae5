"""The ledger, which allows no call without a stored record.

Rules kept here:
1. The opening, with its verdict, is stored before the work of a call begins: synced to disk for any call that does more
   than read, committed for the rest. The closing is stored before the caller learns how the call ended.
2. While the ledger cannot write, every call is refused with `ledger:unavailable` and nothing is sent; it reports since
   when, and keeps retrying. The first record afterwards says how long it could not write and how many calls it refused.
3. A closing that could not be stored is owed and is written, marked `late`, when the ledger can write again. After a
   crash the next start closes calls left open as `unknown`, or as `held` if nobody had allowed them yet.
4. The ledger never gets clear text: bodies arrive masked or as keyed digests, and free text from people, agents and
   servers is masked here.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn, TypeVar, cast

import anyio
import structlog

from mcpguard.domain.calls.bodies import Body
from mcpguard.domain.calls.outcomes import Executed, Outcome
from mcpguard.domain.calls.records import Opening, RecordKind
from mcpguard.domain.calls.verdicts import Deny, Verdict
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import EntryMisused, LedgerUnavailable, Overtaken, StoreUnavailable, Unrecordable
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.chain import Chain
from mcpguard.ledger.checkpoints import CheckpointCause, SignedCheckpoint
from mcpguard.ledger.entries import Entry, Still, durability
from mcpguard.ledger.format import (
    Fields,
    call_fields,
    closing_fields,
    crashed_run_fields,
    opening_fields,
    parse_content,
    recordable,
    released_fields,
)
from mcpguard.ledger.outage import Outage, Owed
from mcpguard.ledger.unclosed_calls import calls
from mcpguard.settings.model import Settings
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.writer import Writer
from mcpguard.store.rows import records
from mcpguard.text.visible import visible

T = TypeVar("T")
Append = Callable[[RecordKind, Fields], int]
"""Adds a record to the running transaction, and returns its number. Raises Unrecordable."""
log = structlog.get_logger("mcpguard.ledger")


class Ledger:
    """Records every call before it is carried out."""

    def __init__(self, writer: Writer, chain: Chain, settings: Settings, clock: Clock) -> None:
        self.chain = chain
        self.outage: Outage | None = None
        self._writer = writer
        self._settings = settings.audit
        self._clock = clock
        self._live: set[str] = set()
        self._owed: dict[str, Owed] = {}
        self._disowned: set[str] = set()
        self.started = 0
        self._quiet = anyio.Event()

    @property
    def open_entries(self) -> int:
        """How many calls are open now."""
        return len(self._live)

    @property
    def unsettled_entries(self) -> frozenset[str]:
        """The entries whose closing may be yet to come."""
        return frozenset(self._live | self._disowned)

    async def start(self, facts: Fields, more: Sequence[tuple[RecordKind, Fields]] = ()) -> int:
        """Record that the guard starts, and `more`; close the calls and programs that an earlier run left open. Returns
        how many calls."""

        def job(connection: Connection) -> tuple[int, int]:
            since = records.last_of_kind(connection, self.chain.id, "started")
            left = records.open_entries(connection, self.chain.id, since)
            held = records.never_released(connection, self.chain.id, left)
            runs = records.open_runs(connection, self.chain.id, since)
            started = self.chain.append(RecordKind.STARTED, facts)
            for kind, fields in more:
                self.chain.append(kind, fields)
            for entry, call in calls(connection, self.chain.id, left).items():
                was = Outcome.hold(Reason.HOLD_WAITING) if entry in held else Outcome.unknown(Reason.GUARD_CRASHED)
                self._append_closing(entry, was, None, call, late=True)
            for ran in runs:
                self.chain.append(RecordKind.ENDED_RUN, crashed_run_fields(parse_content(ran)))
            self.chain.checkpoint(CheckpointCause.START)
            return started, len(left)

        self.started, left = await self._writer.submit(job, Durability.SYNCED)
        return left

    async def stop(self, why: str) -> None:
        """Record that the guard stops."""
        if self.outage or self._owed:
            await self._resume()

        def job(_: Connection) -> None:
            self.chain.append(RecordKind.STOPPED, {"why": why})
            self.chain.checkpoint(CheckpointCause.STOP)

        await self._store(job, Durability.SYNCED)

    async def wait_until_quiet(self) -> None:
        """Wait until no call is open, but for those whose closing is owed."""
        while self._live - self._owed.keys():
            self._quiet = anyio.Event()
            await self._quiet.wait()

    def open(self, opening: Opening, still: Still) -> Entry:
        """Return the entry of a call, to be made in its `async with` block.

        The block runs only once the verdict is stored. `still` is asked in the transaction that would store it; if it
        says no, nothing is recorded and Overtaken is raised. Raises LedgerUnavailable where it cannot be stored.
        """
        return Entry(self, opening, still, self._clock.monotonic())

    async def refuse(self, opening: Opening) -> Outcome:
        """Record a denied call, its opening and its closing in one transaction. Returns what the caller is told."""
        if not isinstance(opening.verdict, Deny):
            raise EntryMisused(f"entry {opening.entry} is not denied")
        outcome, fields = Outcome.refusal(opening.verdict.reason), recordable(opening_fields(opening))

        def job(_: Connection) -> None:
            self.chain.append(RecordKind.OPENED, fields, opening.arguments)
            self._append_closing(opening.entry, outcome, 0, call_fields(fields))

        try:
            await self._store(job, Durability.COMMITTED)
        except LedgerUnavailable:
            return Outcome.refusal(Reason.LEDGER_UNAVAILABLE)
        return outcome

    async def note(self, kind: RecordKind, fields: Fields, body: Body | None = None) -> None:
        """Record a fact that neither opens nor closes a call. Raises LedgerUnavailable."""
        checked = recordable(fields)
        await self._store(lambda _: self.chain.append(kind, checked, body), Durability.COMMITTED)

    async def transact(self, work: Callable[[Connection, Append], T]) -> T:
        """Run `work` and append its records in one transaction. Raises LedgerUnavailable, and what it raises."""

        def append(kind: RecordKind, fields: Fields) -> int:
            return self.chain.append(kind, recordable(fields))

        if self.outage is not None:
            self._refuse_during(self.outage)
        try:
            return await self._writer.submit(lambda connection: work(connection, append), Durability.SYNCED)
        except StoreUnavailable as error:
            self._went_down(str(error)).refused += 1
            raise LedgerUnavailable(str(error)) from error

    async def checkpoint(self, why: CheckpointCause) -> SignedCheckpoint:
        """Sign the chain as it stands, and return the newest checkpoint. Raises LedgerUnavailable."""
        await self._store(lambda _: self.chain.checkpoint(why), Durability.SYNCED)
        return cast("SignedCheckpoint", self.chain.signed)  # set since the start, which is signed

    async def upkeep(self) -> None:
        """Sign in intervals, and try again while the ledger cannot write. Runs until it is cancelled."""
        signed = self._clock.monotonic()
        while True:
            await self._clock.sleep(self._settings.probe_seconds)
            if self.outage or self._owed:
                await self._resume()
            elif self._clock.monotonic() - signed >= self._settings.checkpoint_seconds:
                signed = self._clock.monotonic()
                with suppress(LedgerUnavailable):  # noted as an outage; the next record brings the next checkpoint
                    await self.checkpoint(CheckpointCause.TIME)

    async def store_opening(self, entry: Entry) -> None:
        """Store the opening of an entry. Raises Overtaken and LedgerUnavailable."""
        opening = entry.opening
        if isinstance(opening.verdict, Deny):
            raise EntryMisused(f"entry {entry.id} is denied")
        self._live.add(entry.id)  # before it is queued: `_resume` must not close it as a lost one
        queued = self.outage is None

        def job(connection: Connection) -> bool:
            holds = entry.still(connection)
            if holds:
                self.chain.append(RecordKind.OPENED, entry.fields, opening.arguments)
            return holds

        try:
            opened = await self._store(job, durability(opening.verdict, opening.effect))
        except LedgerUnavailable:
            self._live.discard(entry.id)
            if queued:  # the error may hide a commit that succeeded
                self._disowned.add(entry.id)
            raise
        if not opened:
            self._live.discard(entry.id)
            self._quiet.set()
            raise Overtaken

    async def store_release(self, entry: Entry, verdict: Verdict, still: Still) -> None:
        """Store the verdict that ends the hold of an entry. Raises Overtaken and LedgerUnavailable."""
        fields = released_fields(entry.id, verdict, entry.call)

        def job(connection: Connection) -> bool:
            holds = still(connection)
            if holds:
                self.chain.append(RecordKind.RELEASED, fields)
            return holds

        if not await self._store(job, durability(verdict, entry.opening.effect)):
            raise Overtaken

    async def store_closing(self, entry: Entry, outcome: Outcome) -> Outcome:
        """Store how an entry ended, and return what its caller is told."""
        took_us = round((self._clock.monotonic() - entry.began) * 1_000_000)
        fields = closing_fields(entry.id, outcome, took_us, entry.call)
        try:
            await self._store(
                lambda _: self.chain.append(RecordKind.CLOSED, fields, outcome.reply), Durability.COMMITTED
            )
        except LedgerUnavailable:
            # Still in `_live`: nobody else may close it meanwhile.
            self._owed[entry.id] = Owed(outcome, took_us)
            self._quiet.set()
            unsent = outcome.executed is Executed.NO
            return replace(outcome, reason=Reason.LEDGER_UNAVAILABLE if unsent else Reason.LEDGER_OUTCOME_UNRECORDED)
        self._live.discard(entry.id)
        self._quiet.set()
        return outcome

    def _append_closing(
        self, entry: str, outcome: Outcome, took_us: int | None, call: Fields, *, late: bool = False
    ) -> None:
        self.chain.append(RecordKind.CLOSED, closing_fields(entry, outcome, took_us, call, late=late), outcome.reply)

    async def _store(self, job: Callable[[Connection], T], durability: Durability) -> T:
        if self.outage is not None:
            self._refuse_during(self.outage)
        try:
            return await self._writer.submit(job, durability, bare=True, alone=len(self._live) <= 1)
        except StoreUnavailable as error:
            self._went_down(str(error)).refused += 1
            raise LedgerUnavailable(str(error)) from error

    def _refuse_during(self, outage: Outage) -> NoReturn:
        outage.refused += 1
        raise LedgerUnavailable(outage.why)

    def _went_down(self, cause: str) -> Outage:
        why = visible(cause)[:500]  # it goes into a record, and names files, whose names may be any bytes
        if self.outage is None:
            self.outage = Outage(min(self._clock.now(), 2**53 - 1), why)  # the largest integer that a record can hold
            log.error("ledger.unavailable", why=why)
        self.outage.why = why
        return self.outage

    async def _resume(self) -> None:
        """Try to write again: the outage, the closings that are owed, and a closing for entries that nobody owns.

        An entry whose opening was reported as failed, and was stored all the same, was never sent. Any other that
        nobody owns was closed before, and the database lost the closing: its outcome is not known any more.
        """
        outage, owed, live = self.outage, dict(self._owed), frozenset(self._live)
        disowned = frozenset(self._disowned)

        def job(connection: Connection) -> None:
            if outage is not None:
                said: Fields = {"since": outage.since, "why": outage.why, "refused": outage.refused}
                self.chain.append(RecordKind.RESUMED, said)
            self.chain.flush(connection)
            left = records.open_entries(connection, self.chain.id, self.started)
            for entry, call in calls(connection, self.chain.id, left).items():
                if entry in owed:
                    self._append_closing(entry, owed[entry].outcome, owed[entry].took_us, call, late=True)
                elif entry in disowned:
                    self._append_closing(entry, Outcome.refusal(Reason.LEDGER_UNAVAILABLE), None, call, late=True)
                elif entry not in live:
                    lost = Outcome.unknown(Reason.LEDGER_OUTCOME_UNRECORDED)
                    self._append_closing(entry, lost, None, call, late=True)

        try:
            await self._writer.submit(job, Durability.SYNCED)
        except (StoreUnavailable, Unrecordable) as error:  # Unrecordable: the clock is beyond what a record can hold
            self._went_down(str(error))
            return
        for entry in owed:
            del self._owed[entry]
            self._live.discard(entry)
        self._disowned -= disowned
        if outage is not None:
            self.outage = None
            log.warning("ledger.resumed", since=outage.since, refused=outage.refused)
