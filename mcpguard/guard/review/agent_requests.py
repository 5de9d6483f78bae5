"""What callers may do about servers: ask for one; and, where a person has granted `manage`, declare and switch them.

Rules kept here:
1. Everything goes the way that it goes for people (`admission`, `decisions`), without a person's authority: what is new
   or launched otherwise is quarantined, and nothing here approves, unblocks, or lets more happen.
2. What is beyond a caller's reach and what there is not look the same, whatever is asked about it.
3. What a server is given in secret is a person's matter: references are refused, wherever they stand.
4. A caller enables what itself has disabled, and nothing else.
5. A change is made to what stands at that moment. Where something else stands when it is its turn, or its caller was
   revoked meanwhile, nothing changes.
6. What is asked for beside a declaration is a request to people (`requests`), and in force for nobody.
7. How many servers a caller brings is bounded, also of those that it removes again; and so is what is declared of one.
   Each change counts as a call of its budget.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

import anyio

from mcpguard.codec.messages import dumps
from mcpguard.codec.names import server_name_for
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.verdicts import Allow
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor, Decision, Undecidable, Unknown
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.calls.caller_budgets import Budgeting
from mcpguard.guard.review.admission import Added, Admission, DeclarationSource
from mcpguard.guard.review.decisions import Decisions
from mcpguard.guard.review.requests import notices, parted, requested
from mcpguard.guard.servers.registry import Registry, ServerState
from mcpguard.policy.scopes import reaches
from mcpguard.settings.entries.members import as_members, patched
from mcpguard.settings.entries.references import unreferenced

MOST_REQUESTED: Final = 3
"""Requests of one caller that may wait for a person."""
MOST_ADDED: Final = 20
"""The same for a caller that may manage."""
MOST_BROUGHT: Final = 100
"""Servers that one caller brings, with those that were removed: their names and launches are never forgotten."""
LARGEST: Final = 64 * 1024
"""Bytes of what is declared of one server."""
WHY: Final = "the caller has asked for it (upstream_servers)"
_SWITCHES: Final = {"enabled": True, "disabled": False}
_OWN: Final = Capability("", CapabilityKind.TOOL, "upstream_servers")
Members = Mapping[str, object]


class Managing:
    """Carries out what callers want of servers."""

    def __init__(
        self,
        registry: Registry,
        admission: Admission,
        decisions: Decisions,
        callers: Callers,
        budgets: Budgeting,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._admission = admission
        self._decisions = decisions
        self._callers = callers
        self._budgets = budgets
        self._clock = clock
        self._adding = anyio.Lock()

    def objection(self, caller: Caller, *, manages: bool) -> Reason | None:
        """Why a caller may do nothing of the kind now."""
        if manages and (not caller.manage or caller.id == ANONYMOUS):
            return Reason.AUTHORITY_PERSON
        if not self._callers.holds(caller):
            return Reason.CALLER_REVOKED
        return Reason.BUDGET_CALLS if self._budgets.spent(caller, _OWN) else None

    def counted(self, caller: Caller) -> AbstractContextManager[object]:
        """Around what is done for a caller, of which there was no objection a moment ago."""
        return self._budgets.counted(caller, _OWN, Allow())

    async def request(self, caller: Caller, label: str, members: Members) -> Added:
        """Bring a server, which a person looks at. Raises Undecidable, and what `Admission.add` does."""
        return await self._bring(caller, label, members, MOST_REQUESTED)

    async def add(self, caller: Caller, label: str, members: Members) -> Added:
        """The same, for a caller that may manage."""
        return await self._bring(caller, label, members, MOST_ADDED)

    async def patch(self, caller: Caller, name: str, patch: Members) -> Added:
        """Change how a server is declared, or switch it. Raises Unknown, Undecidable, and what each of that does."""
        known = self._reached(caller, name)
        if (on := _switched(patch)) is not None:
            return Added(await (self.enable if on else self.disable)(caller, name), ())
        _without_references(patch)
        changes, asked = parted(patch)
        _bounded(patched(as_members(known.declared), changes))
        requests = requested(known.declared.requests, asked, caller, self._clock.now())
        by = self._actor(caller)
        done = await self._admission.patch(known.name, changes, known.upstream.revision, by, requests)
        return Added(done.name, done.notices + notices(asked))

    async def remove(self, caller: Caller, name: str) -> str:
        """The name that it had. Raises Unknown, and what `Admission.remove` does."""
        known = self._reached(caller, name)
        await self._admission.remove(known.name, known.upstream.revision, self._actor(caller))
        return known.name

    async def disable(self, caller: Caller, name: str) -> str:
        """The name of what it is. Raises Unknown, IllegalMove or LedgerUnavailable."""
        known = self._reached(caller, name)
        await self._decisions.disable(known.name, Decision(self._actor(caller), WHY), caller.id)
        return known.name

    async def enable(self, caller: Caller, name: str) -> str:
        """Raises Forbidden where it was not this caller who has disabled it, and as `disable`."""
        known = self._reached(caller, name)
        await self._decisions.enable_again(known.name, Decision(self._actor(caller), WHY), caller.id)
        return known.name

    async def _bring(self, caller: Caller, label: str, members: Members, most_waiting: int) -> Added:
        try:
            name = server_name_for(label)
        except InvalidName:
            raise Undecidable("name has no letter a to z and no digit that a server could be called by") from None
        if not reaches(caller.scope, name):  # whether there is such a server is not this caller's to know
            raise Undecidable("name is beyond what you may reach")
        _without_references(members)
        declares, asked = parted(members)
        _bounded(declares)
        requests = requested((), asked, caller, self._clock.now())
        async with self._adding:
            mine = [each for each in self._registry.ever() if each.requester == caller.id]
            waiting = [each for each in mine if each.standing is UpstreamStanding.QUARANTINED and not each.removed]
            if len(waiting) >= most_waiting:
                raise Undecidable(f"{most_waiting} servers that you asked for wait for a person already")
            if len(mine) >= MOST_BROUGHT:
                raise Undecidable(f"you have brought {MOST_BROUGHT} servers, as many as one caller may")
            source = DeclarationSource(Origin.AGENT, self._actor(caller), caller.id)
            done = await self._admission.add(label, declares, source, requests)
            return Added(done.name, done.notices + notices(asked))

    def _actor(self, caller: Caller) -> Actor:
        return Actor(caller.id, "agent", caller.label, may_widen=False, holds=partial(self._callers.holds, caller))

    def _reached(self, caller: Caller, name: str) -> ServerState:
        try:
            known = self._registry.find(server_name_for(name))
        except InvalidName:
            known = None
        if known is None or not reaches(caller.scope, known.name):
            raise Unknown("there is no such server within reach")
        return known


def _switched(patch: Members) -> bool | None:
    """What a patch does that only switches a server. What does so beside other things is refused: those are two."""
    given = [name for name in _SWITCHES if name in patch]
    if not given:
        return None
    value = patch[given[0]]
    if len(patch) > 1 or not isinstance(value, bool):
        raise Undecidable(f"{given[0]} is true or false, and is changed by itself")
    return value is _SWITCHES[given[0]]


def _bounded(members: object) -> None:
    if len(dumps(members)) > LARGEST:
        raise Undecidable(f"what is declared of a server is larger than {LARGEST} bytes")


def _without_references(value: object) -> None:
    """Raises Undecidable where something of it would be taken from the guard's environment or files."""
    match value:
        case str():
            if unreferenced(value):
                raise Undecidable("config holds a reference (${…}); a person adds secrets when they review it")
        case dict():
            for each in value.values():
                _without_references(each)
        case list():
            for each in value:
                _without_references(each)
        case _:
            return
