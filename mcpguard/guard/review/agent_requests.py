"""Server changes by callers: any may request one; callers with `manage` may declare and switch them.

Rules kept here:
1. Requests take the same path as those of people (`admission`, `decisions`), without a person's authority: new or
   changed launches are quarantined, and nothing here approves, unblocks or loosens anything.
2. Servers that are out of scope and servers that do not exist look the same to a caller, in every request.
3. Only reviewers give secrets to servers: references are refused, wherever they occur.
4. A caller can enable only what it has disabled itself.
5. A change applies to the state that it was based on. If that has changed by the time it is carried out, or the caller
   was revoked, nothing changes.
6. `isolation` and `oauth` beside a declaration are requests to reviewers (`requests`), and have no effect by
   themselves.
7. The number of servers a caller adds is bounded, including those it removes again; so is the size of a declaration.
   Each change counts as a call against its budget.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

import anyio

from mcpguard.codec.messages import dumps
from mcpguard.codec.names import server_name_for
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor, Decision, Undecidable, Unknown
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.review.admission import AddedServer, Admission, DeclarationSource
from mcpguard.guard.review.decisions import Decisions
from mcpguard.guard.review.requests import merge_requests, request_notices, split_requests
from mcpguard.guard.servers.registry import Registry, ServerState
from mcpguard.policy.budgets import CallBudgets
from mcpguard.policy.scopes import is_server_in_scope
from mcpguard.settings.entries.members import apply_patch, as_members
from mcpguard.settings.entries.references import misplaced_reference

MOST_REQUESTED: Final = 3
"""Requested servers of one caller that may wait for review."""
MOST_ADDED: Final = 20
"""Servers waiting for review of a caller that may manage."""
MOST_BROUGHT: Final = 100
"""Servers that one caller may ever add; removed ones count, as their names and launches are never forgotten."""
LARGEST: Final = 64 * 1024
"""Bytes of one server's declaration."""
WHY: Final = "the caller has asked for it (upstream_servers)"
_SWITCHES: Final = {"enabled": True, "disabled": False}
_OWN: Final = Capability("", CapabilityKind.TOOL, "upstream_servers")
Members = Mapping[str, object]


class AgentRequests:
    """Carries out what callers request about servers."""

    def __init__(
        self,
        registry: Registry,
        admission: Admission,
        decisions: Decisions,
        callers: Callers,
        budgets: CallBudgets,
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
        """Why a caller may not change servers now; None where it may."""
        if manages and (not caller.manage or caller.id == ANONYMOUS):
            return Reason.AUTHORITY_PERSON
        if not self._callers.holds(caller):
            return Reason.CALLER_REVOKED
        return Reason.BUDGET_CALLS if self._budgets.exhausted_budget(caller, _OWN) else None

    def count_change(self, caller: Caller) -> AbstractContextManager[object]:
        """Count a change against the caller's budget while the block runs."""
        return self._budgets.take(caller, _OWN)

    async def request(self, caller: Caller, label: str, members: Members) -> AddedServer:
        """Request a server, which waits for review. Raises Undecidable, and what `Admission.add` does."""
        return await self._bring(caller, label, members, MOST_REQUESTED)

    async def add(self, caller: Caller, label: str, members: Members) -> AddedServer:
        """Add a server for a caller that may manage. It waits for review all the same. Raises as `request`."""
        return await self._bring(caller, label, members, MOST_ADDED)

    async def patch(self, caller: Caller, name: str, patch: Members) -> AddedServer:
        """Change a server's declaration, or enable or disable it. Raises Unknown, Undecidable, and as
        `Admission.patch`."""
        known = self._reached(caller, name)
        if (on := _switched(patch)) is not None:
            return AddedServer(await (self.enable if on else self.disable)(caller, name), ())
        _without_references(patch)
        changes, asked = split_requests(patch)
        _bounded(apply_patch(as_members(known.declared), changes))
        requests = merge_requests(known.declared.requests, asked, caller, self._clock.now())
        by = self._actor(caller)
        done = await self._admission.patch(known.name, changes, known.upstream.revision, by, requests)
        return AddedServer(done.name, done.notices + request_notices(asked))

    async def remove(self, caller: Caller, name: str) -> str:
        """Remove a server; return its name. Raises Unknown, and what `Admission.remove` does."""
        known = self._reached(caller, name)
        await self._admission.remove(known.name, known.upstream.revision, self._actor(caller))
        return known.name

    async def disable(self, caller: Caller, name: str) -> str:
        """Disable a server; return its name. Raises Unknown, IllegalMove or LedgerUnavailable."""
        known = self._reached(caller, name)
        await self._decisions.disable(known.name, Decision(self._actor(caller), WHY), caller.id)
        return known.name

    async def enable(self, caller: Caller, name: str) -> str:
        """Enable a server again; return its name. Raises Forbidden where another has disabled it, and as `disable`."""
        known = self._reached(caller, name)
        await self._decisions.enable_again(known.name, Decision(self._actor(caller), WHY), caller.id)
        return known.name

    async def _bring(self, caller: Caller, label: str, members: Members, most_waiting: int) -> AddedServer:
        try:
            name = server_name_for(label)
        except InvalidName:
            raise Undecidable("name must contain a letter a to z or a digit") from None
        if not is_server_in_scope(caller.scope, name):  # whether there is such a server is not this caller's to know
            raise Undecidable("name is not in your scope")
        _without_references(members)
        declares, asked = split_requests(members)
        _bounded(declares)
        requests = merge_requests((), asked, caller, self._clock.now())
        # Counted under a lock: requests that come at once must not all pass the same count.
        async with self._adding:
            mine = [each for each in self._registry.ever() if each.requester == caller.id]
            waiting = [each for each in mine if each.standing is UpstreamStanding.QUARANTINED and not each.removed]
            if len(waiting) >= most_waiting:
                raise Undecidable(f"{most_waiting} servers that you requested are waiting for review already")
            if len(mine) >= MOST_BROUGHT:
                raise Undecidable(f"you have requested {MOST_BROUGHT} servers, the most that one caller may")
            source = DeclarationSource(Origin.AGENT, self._actor(caller), caller.id)
            done = await self._admission.add(label, declares, source, requests)
            return AddedServer(done.name, done.notices + request_notices(asked))

    def _actor(self, caller: Caller) -> Actor:
        # Without the right to loosen anything, and asked again when the change is made: it may be revoked by then.
        return Actor(caller.id, "agent", caller.label, may_widen=False, holds=partial(self._callers.holds, caller))

    def _reached(self, caller: Caller, name: str) -> ServerState:
        try:
            known = self._registry.find(server_name_for(name))
        except InvalidName:
            known = None
        if known is None or not is_server_in_scope(caller.scope, known.name):
            raise Unknown("unknown server, or not in your scope")
        return known


def _switched(patch: Members) -> bool | None:
    """Tell whether a patch only enables (true) or disables (false) a server; None for any other. Both at once is
    refused.
    """
    given = [name for name in _SWITCHES if name in patch]
    if not given:
        return None
    value = patch[given[0]]
    if len(patch) > 1 or not isinstance(value, bool):
        raise Undecidable(f"{given[0]} must be true or false, and the only change in the patch")
    return value is _SWITCHES[given[0]]


def _bounded(members: object) -> None:
    if len(dumps(members)) > LARGEST:
        raise Undecidable(f"the declaration is larger than {LARGEST} bytes")


def _without_references(value: object) -> None:
    """Raise Undecidable for a reference: an agent must not have the guard hand its secrets to a server."""
    match value:
        case str():
            if misplaced_reference(value):
                raise Undecidable("config contains a reference (${…}); leave it out, the reviewer adds secrets")
        case dict():
            for each in value.values():
                _without_references(each)
        case list():
            for each in value:
                _without_references(each)
        case _:
            return
