"""Held calls as reviewers see and answer them: the caller, the server, the capability, the arguments and the reason.

Rules kept here:
1. The agent's reason is shown as the agent's claim. It is not verified.
2. The arguments come from the record, with suspected secrets masked. Whatever else would be sent, the rest of `_meta`,
   is shown beside them.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio

from mcpguard.domain.calls.allowances import Allowance
from mcpguard.domain.calls.holds import HeldCall, HoldState
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Decision, Undecidable
from mcpguard.domain.json import Json
from mcpguard.guard.calls.holds.allowances import Allowances, AllowanceWish
from mcpguard.guard.calls.holds.hold_answers import HoldAnswers
from mcpguard.guard.calls.holds.hold_context import HoldContexts
from mcpguard.guard.calls.holds.sent_parameters import sent_parameters
from mcpguard.guard.servers.registry import Registry
from mcpguard.inspection.definitions.told_findings import finding_with_reason
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import records

MOST_IN_CONTEXT: Final = 50
"""Held calls whose context is read at once; the others have it alone."""


class HeldCalls:
    """The held calls: those that wait, that are allowed and not yet made, and that were denied lately."""

    def __init__(
        self,
        answering: HoldAnswers,
        allowances: Allowances,
        contexts: HoldContexts,
        registry: Registry,
        store: Store,
        chain: str,
    ) -> None:
        self._answering = answering
        self._allowances = allowances
        self._contexts = contexts
        self._registry = registry
        self._store = store
        self._chain = chain

    @property
    def waiting(self) -> int:
        """How many calls wait for an answer."""
        return self._answering.tickets.waiting()

    async def every(self) -> list[Json]:
        """All held calls as JSON, the oldest first."""
        return await self._shown(self._answering.every())

    async def one(self, ticket: str) -> Json:
        """One held call as JSON. Raises Unknown."""
        return await self._alone(self._answering.get(ticket))

    async def every_in_context(self) -> list[Json]:
        """All held calls as JSON, the oldest first. Those that wait have a `context`, None beyond the first of them."""
        return await self._in_context(self._answering.every())

    async def one_in_context(self, ticket: str) -> Json:
        """One held call as JSON, with its `context`. Raises Unknown."""
        hold = self._answering.get(ticket)
        bodies = await self._bodies([hold])
        contexts = await self._contexts.contexts([hold], bodies)
        return {**self._as_json(hold, bodies[ticket]), "context": contexts[ticket]}

    def tag(self, ticket: str) -> str:
        """The tag of a held call as it is now. Raises Unknown."""
        hold = self._answering.get(ticket)
        return tag(hold.state, hold.until)

    async def allow(self, ticket: str, decision: Decision) -> Json:
        """Allow a held call, and return it. Raises what `HoldAnswers.allow` does."""
        return await self._alone(await self._answering.allow(ticket, decision))

    async def deny(self, ticket: str, decision: Decision) -> Json:
        """Deny a held call, and return it. Raises what `HoldAnswers.deny` does."""
        return await self._alone(await self._answering.deny(ticket, decision))

    async def allow_for(self, ticket: str, decision: Decision, wish: AllowanceWish) -> Json:
        """Allow a held call and its like for some minutes, and return that allowance. Raises what `Allowances.give`
        does."""
        if await self._bodies([self._answering.get(ticket)]) == {ticket: None}:
            raise Undecidable("this call can only be allowed once: its arguments are not kept, so nobody can see them")
        _, allowance = await self._allowances.give(ticket, decision, wish)
        return allowance_json(allowance)

    def allowances(self) -> list[Json]:
        """The allowances that have not ended as JSON, the oldest first."""
        return [allowance_json(each.allowance) for each in self._allowances.every if each.ended is None]

    def allowance(self, id_: str) -> Json:
        """One allowance as JSON. Raises Unknown."""
        return allowance_json(self._allowances.every.get(id_).allowance)

    async def revoke_allowance(self, id_: str, decision: Decision) -> Json:
        """End an allowance, and return it as it was. Raises what `Allowances.revoke` does."""
        return allowance_json(await self._allowances.revoke(id_, decision))

    async def run(self) -> None:
        """End held calls as they expire, and allowances as they are due, until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._allowances.run, name="allowances")
            await self._answering.run()

    async def _alone(self, hold: HeldCall) -> Json:
        (shown,) = await self._shown([hold])
        return shown

    async def _shown(self, holds: Sequence[HeldCall]) -> list[Json]:
        bodies = await self._bodies(holds)
        return [self._as_json(hold, bodies[hold.id]) for hold in holds]

    async def _in_context(self, holds: Sequence[HeldCall]) -> list[Json]:
        bodies = await self._bodies(holds)
        waiting = [hold for hold in holds if hold.state is HoldState.WAITING][:MOST_IN_CONTEXT]
        contexts = await self._contexts.contexts(waiting, bodies) if waiting else {}
        return [{**self._as_json(hold, bodies[hold.id]), "context": contexts.get(hold.id)} for hold in holds]

    async def _bodies(self, holds: Sequence[HeldCall]) -> dict[str, bytes | None]:
        read = partial(_bodies, self._chain, [hold.id for hold in holds])
        return await self._store.readers.run(read) if holds else {}

    def _as_json(self, hold: HeldCall, params: bytes | None) -> Json:
        asking, capability = hold.asking, hold.capability
        # The findings as they are now: a reviewer decides with what is known today.
        known = self._registry.find(capability.server)
        found = known.findings_in((capability.kind, capability.name)).findings if known else ()
        return {
            "id": hold.id,
            "state": hold.state.value,
            "at": asking.at,
            "until": hold.until,
            "caller": {"id": hold.caller, "name": asking.caller_label},
            "client": asking.client,
            "face": asking.face,
            "method": asking.method,
            "server": capability.server,
            "kind": capability.kind.value,
            "name": capability.name,
            "effect": asking.effect,
            "fingerprint": asking.fingerprint or None,
            "operation": asking.operation,
            "declared": asking.declared,
            "sensitivity": asking.sensitivity,
            "agent_says": asking.agent_says,
            "because": asking.because,
            "run": asking.run or None,
            "program": [each.as_json() for each in asking.program],
            **sent_parameters(params),
            "findings": [finding_with_reason(finding) for finding in found],
            "by": hold.by or None,
            "why": hold.why or None,
            "allowance": self._offer(hold),
        }

    def _offer(self, hold: HeldCall) -> Json:
        """The allowance that may be given for the like of a held call, by the names of its arguments; or why there is
        none. `open`: the arguments that may differ unless the reviewer says otherwise."""
        why = self._allowances.why_not(hold)
        arguments = () if why else sorted(hold.asking.arguments or ())
        return {"why_not": why or None, "arguments": [*arguments], "open": [*hold.asking.free_texts] if not why else []}


def tag(state: str, until: int) -> str:
    """A tag that changes whenever the state of a held call does."""
    return f"{state}-{until}"


def allowance_json(allowance: Allowance) -> Json:
    """An allowance as JSON. The values that it covers are those of the held call."""
    capability = allowance.capability
    return {
        "id": allowance.id,
        "ticket": allowance.ticket,
        "caller": {"id": allowance.caller, "name": allowance.caller_label},
        "server": capability.server,
        "name": capability.name,
        "effect": allowance.effect,
        "fingerprint": allowance.fingerprint or None,
        "same": sorted(allowance.same.arguments),
        "open": [*allowance.open],
        "left": allowance.left,
        "at": allowance.at,
        "until": allowance.until,
        "by": allowance.by,
        "why": allowance.why,
    }


def allowance_tag(allowance: Json) -> str:
    """A tag of an allowance as JSON. It does not change while calls use it, so that it can be revoked meanwhile."""
    return f"{allowance['id']}-{allowance['until']}"


def _bodies(chain: str, entries: Sequence[str], connection: Connection) -> dict[str, bytes | None]:
    return {entry: records.body_of(connection, chain, entry, RecordKind.OPENED) for entry in entries}
