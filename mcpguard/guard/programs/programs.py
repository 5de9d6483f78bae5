"""Runs programs that agents send: recorded before they start, each call judged by itself, the answer screened.

Rules kept here:
1. A run is recorded before its engine gets the program, and its end before the agent is answered, however it ends.
2. A program that waits for a person is suspended. Who sent it goes on with it by sending the same program again; no
   call of it is made twice. A restart forgets it, and the next run begins anew.
3. What leaves is screened in the strictest mode of the servers that were called. Their replies were screened before.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

import anyio

from mcpguard.domain.calls.bodies import Body
from mcpguard.domain.calls.counterpart import CallingClient
from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.reasons import Reason
from mcpguard.engines.code_run import (
    FailureCode,
    MustWait,
    RunEnd,
    RunFailed,
    RunFailure,
    RunLimits,
    SuspendedRun,
)
from mcpguard.engines.engines import CodeEngines
from mcpguard.guard.calls.kept_bodies import KeptBodies
from mcpguard.guard.calls.screening import Screener
from mcpguard.guard.programs.inner_calls import Handle, InnerCalls, PendingCalls
from mcpguard.guard.programs.run_records import ended_fields, ran_fields, same_run
from mcpguard.guard.programs.run_request import RunAnswer, RunRequest
from mcpguard.guard.programs.screened_answer import screen_answer
from mcpguard.guard.servers.servers import Servers
from mcpguard.guard.traffic.counts import ProgramCounts
from mcpguard.ledger.ledger import Ledger
from mcpguard.policy.secrets.detection import find_secrets
from mcpguard.policy.shares import Crowded, Shares
from mcpguard.settings.model import Settings

MOST_SUSPENDED: Final = 200
"""Suspended programs of all callers together; beyond that, the oldest is forgotten."""


@dataclass(frozen=True, slots=True)
class _Suspended:
    """A program that waits, and until when it is kept."""

    run: SuspendedRun
    calls: InnerCalls
    until: float


class Programs:
    """Runs programs with one engine."""

    def __init__(
        self,
        engines: CodeEngines,
        ledger: Ledger,
        bodies: KeptBodies,
        screener: Screener,
        servers: Servers,
        clock: Clock,
        new_id: Ids,
        settings: Settings,
        *,
        handle: Handle,
    ) -> None:
        """`handle`: handles one call."""
        self.engines = engines
        self.settings = settings.code
        self._ledger = ledger
        self._bodies = bodies
        self._screener = screener
        self.servers = servers
        self._clock = clock
        self._new_id = new_id
        self._handle = handle
        self._version = settings.version
        self._life = settings.holds.life_seconds
        self._shares = Shares(self.settings.per_caller, 1_000_000)
        self.counts = ProgramCounts()
        self._suspended: dict[bytes, _Suspended] = {}

    @property
    def suspended(self) -> int:
        """How many programs wait for a person."""
        self._forget_expired()
        return len(self._suspended)

    async def run(self, asked: RunRequest, counterpart: CallingClient) -> RunAnswer:
        """Run a program, or go on with the same one if it is suspended."""
        try:
            with self._shares.take(asked.caller.id):
                return await self._recorded(asked, counterpart)
        except Crowded:
            most = self.settings.per_caller
            return _refused(FailureCode.LIMIT_EXCEEDED, f"this caller runs {most} programs already; retry later")

    async def _recorded(self, asked: RunRequest, counterpart: CallingClient) -> RunAnswer:
        entry, key = self._new_id(), same_run(asked)
        self._forget_expired()
        waiting = self._suspended.pop(key, None)
        given = {"code": asked.program.source, "input": asked.program.input}
        body = await self._bodies.make_body("", given)
        found = find_secrets(given)
        secrets = (*found.sure, *found.maybe)
        try:
            await self._ledger.note(
                RecordKind.RAN, ran_fields(asked, entry, self.engines.name, self._version, secrets), body
            )
        except LedgerUnavailable:
            return _refused(FailureCode.RUNTIME_ERROR, Reason.LEDGER_UNAVAILABLE.sentence)
        began = self._clock.monotonic()
        calls = InnerCalls(self.servers, asked, entry, counterpart, self._handle)
        outcome, answer = OutcomeKind.CANCELLED, RunAnswer(entry)
        try:
            answer = await self._screened(await self._go(asked, calls, waiting, key), calls, entry)
            outcome = _outcome(answer)
        finally:
            with anyio.CancelScope(shield=True):
                took = self._clock.monotonic() - began
                self.counts.add(outcome, answer.failure.code.value if answer.failure else "", took)
                told = await self._answer_body(answer)
                fields = ended_fields(asked, entry, outcome, answer, calls.told, round(took * 1_000_000))
                try:
                    await self._ledger.note(RecordKind.ENDED_RUN, fields, told)
                except LedgerUnavailable:
                    answer = _refused(FailureCode.RUNTIME_ERROR, Reason.LEDGER_OUTCOME_UNRECORDED.sentence)
        return answer

    async def _go(
        self, asked: RunRequest, calls: InnerCalls, waiting: _Suspended | None, key: bytes
    ) -> RunEnd | SuspendedRun:
        settings = self.settings
        limits = RunLimits(
            wall_seconds=asked.wall_seconds,
            seconds=settings.engine_seconds,
            memory=settings.memory_bytes,
            calls=asked.most_calls,
            parallel=settings.parallel,
        )
        try:
            if waiting is None or (pending := waiting.calls.pending) is None:
                ended = await self.engines.execute(asked.program, limits, calls, asked.caller.id)
            else:
                calls.touched |= waiting.calls.touched
                calls.named = waiting.calls.named
                ended = await self._resumed(asked, calls, waiting.run, pending, limits)
        except RunFailed as error:
            return RunEnd(failure=error.failure)
        if isinstance(ended, SuspendedRun):
            while len(self._suspended) >= MOST_SUSPENDED:
                del self._suspended[next(iter(self._suspended))]
            self._suspended[key] = _Suspended(ended, calls, self._clock.monotonic() + self._life)
        return ended

    async def _resumed(
        self,
        asked: RunRequest,
        calls: InnerCalls,
        run: SuspendedRun,
        pending: PendingCalls,
        limits: RunLimits,
    ) -> RunEnd | SuspendedRun:
        try:
            with anyio.fail_after(limits.wall_seconds):
                found = await calls.finish(pending, limits.parallel)
        except MustWait:
            return run
        except TimeoutError:
            said = f"the calls for which the program waited took longer than {limits.wall_seconds:g} seconds"
            raise RunFailed(FailureCode.TIMEOUT, said) from None
        return await self.engines.resume(run, found, asked.program, limits, calls, asked.caller.id)

    def _forget_expired(self) -> None:
        now = self._clock.monotonic()
        self._suspended = {key: each for key, each in self._suspended.items() if each.until >= now}

    async def _screened(self, ended: RunEnd | SuspendedRun, calls: InnerCalls, entry: str) -> RunAnswer:
        told = tuple(calls.told)
        if isinstance(ended, SuspendedRun):
            return RunAnswer(entry, waits=Reason.HOLD_WAITING.value, calls=told, named=calls.named)
        said: dict[str, Any] = {"value": ended.value, "logs": [*ended.logs]}
        if ended.failure is not None:
            said["message"] = ended.failure.message
        passed, found = await screen_answer(self._screener, tuple(calls.touched), said)
        if passed is None:
            failure = RunFailure(FailureCode.ANSWER_WITHHELD, Reason.REPLY_SCREENED.sentence)
            return RunAnswer(entry, failure=failure, calls=told, named=calls.named, screened=found)
        failed = ended.failure and replace(ended.failure, message=passed["message"])
        return RunAnswer(entry, passed["value"], failed, "", tuple(passed["logs"]), told, calls.named, found)

    async def _answer_body(self, answer: RunAnswer) -> Body | None:
        if answer.failure is not None:
            return await self._bodies.make_body("", {"logs": answer.logs})
        return await self._bodies.make_body("", {"value": answer.value, "logs": answer.logs})


def _outcome(answer: RunAnswer) -> OutcomeKind:
    if answer.waits:
        return OutcomeKind.HELD
    return OutcomeKind.ANSWERED if answer.failure is None else OutcomeKind.FAILED


def _refused(code: FailureCode, message: str) -> RunAnswer:
    return RunAnswer("", failure=RunFailure(code, message))
