"""Held calls as people see and answer them: who wants to do what to which server, with which arguments, and why.

Rules kept here:
1. What the agent says of its reasons is told as what the agent says. It is not checked, and proves nothing.
2. The arguments are those of the record: what looked like a secret in them is masked. Whatever else would be sent is
   shown beside them: what remains of `_meta`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from mcpguard.codec.findings import as_json
from mcpguard.codec.strict import parse
from mcpguard.domain.calls.holds import HeldCall
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Decision
from mcpguard.domain.json import Json
from mcpguard.guard.calls.hold_answers import Answering
from mcpguard.guard.servers.registry import Registry
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import records

DEEPEST: Final = 200
"""What a call may carry is no deeper (settings `limits.depth`)."""


class Held:
    """All that wait, were allowed and not yet made, or were denied lately."""

    def __init__(self, answering: Answering, registry: Registry, store: Store, chain: str) -> None:
        self._answering = answering
        self._registry = registry
        self._store = store
        self._chain = chain

    @property
    def waiting(self) -> int:
        """How many calls wait for a person."""
        return self._answering.tickets.waiting()

    async def every(self) -> list[Json]:
        """The oldest first."""
        return await self._shown(self._answering.every())

    async def one(self, ticket: str) -> Json:
        """Raises Unknown."""
        return await self._alone(self._answering.get(ticket))

    def tag(self, ticket: str) -> str:
        """Of it as it stands now. Raises Unknown."""
        hold = self._answering.get(ticket)
        return tag(hold.state, hold.until)

    async def allow(self, ticket: str, decision: Decision) -> Json:
        """Raises what `Answering.allow` does."""
        return await self._alone(await self._answering.allow(ticket, decision))

    async def deny(self, ticket: str, decision: Decision) -> Json:
        """Raises what `Answering.deny` does."""
        return await self._alone(await self._answering.deny(ticket, decision))

    async def run(self) -> None:
        """End those whose time is over."""
        await self._answering.run()

    async def _alone(self, hold: HeldCall) -> Json:
        (shown,) = await self._shown([hold])
        return shown

    async def _shown(self, holds: Sequence[HeldCall]) -> list[Json]:
        read = partial(_arguments, self._chain, [hold.id for hold in holds])
        given = await self._store.readers.run(read) if holds else {}
        return [self._as_json(hold, given.get(hold.id)) for hold in holds]

    def _as_json(self, hold: HeldCall, arguments: bytes | None) -> Json:
        asking, capability = hold.asking, hold.capability
        known = self._registry.find(capability.server)
        found = known.inspected((capability.kind, capability.name)).findings if known else ()
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
            **_read(arguments),
            "findings": [as_json(finding) for finding in found],
            "by": hold.by or None,
            "why": hold.why or None,
        }


def tag(state: str, until: int) -> str:
    """Another one for every way in which a held call stands."""
    return f"{state}-{until}"


def _arguments(chain: str, entries: Sequence[str], connection: Connection) -> dict[str, bytes | None]:
    return {entry: records.body_of(connection, chain, entry, RecordKind.OPENED) for entry in entries}


def _read(params: bytes | None) -> Json:
    """The arguments, or what there is of a call that has none, and `_meta`. None where they are not kept: they are too
    large, or the setting says so."""
    said = None if params is None else parse(params, max_bytes=len(params), max_depth=DEEPEST)
    if not isinstance(said, dict):
        return {"arguments": said, "meta": None}
    rest = {name: value for name, value in said.items() if name != "_meta"}
    return {"arguments": rest.get("arguments", rest), "meta": said.get("_meta")}
