"""`upstream_servers`: what an agent may know of servers, and ask for. Nothing here makes one trusted.

Rules kept here:
1. Servers beyond a caller's scope do not exist for it.
2. A server that an agent asks for lands in quarantine in the agent's name, a few at a time; what it would be given in
   secret stays a person's matter, so references are refused.
"""

from typing import Any, Final

from mcpguard.codec.names import folded
from mcpguard.domain.callers import Caller
from mcpguard.domain.decisions import Actor, NameTaken, NotDeclared, Undecidable
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.domain.upstreams import Origin
from mcpguard.gateway.tools.given import Operation, Servers, Unusable
from mcpguard.guard.admission import Source
from mcpguard.guard.guard import Guard
from mcpguard.policy.scopes import reaches
from mcpguard.settings.references import unreferenced

Json = dict[str, Any]
MOST_OPEN: Final = 3
"""Requests of one caller that may wait for a person."""


class ServersTool:
    """Answers for one guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def answer(self, caller: Caller, given: Servers) -> Json:
        """Raises Unusable, and what admission raises."""
        match given.operation:
            case Operation.LIST:
                return {"servers": [self._shown(status) for status in self._in_scope(caller)]}
            case Operation.REQUEST:
                return await self._request(caller, given)

    def _in_scope(self, caller: Caller) -> list[Any]:
        return [status for status in self._guard.servers.status() if reaches(caller.scope, status.name)]

    def _shown(self, status: Any) -> Json:  # noqa: ANN401 - a ServerStatus
        return {
            "name": status.name,
            "standing": status.standing,
            "enabled": status.enabled,
            "state": status.state,
            "tools": status.tools,
            "resources": status.resources + status.templates,
            "prompts": status.prompts,
        }

    async def _request(self, caller: Caller, given: Servers) -> Json:
        if given.name is None or given.config is None:
            raise Unusable("name and config say which server is wanted")
        try:
            name = folded(given.name)
        except InvalidName:
            raise Unusable("name has no letter a to z and no digit that a server could be called by") from None
        if not reaches(caller.scope, name):  # whether there is such a server is not this caller's to know
            raise Unusable("name is beyond what you may reach")
        _without_references(given.config)
        mine = [known for known in self._guard.servers.every() if known.upstream.requester == caller.id]
        waiting = [known for known in mine if known.upstream.standing is UpstreamStanding.QUARANTINED]
        if len(waiting) >= MOST_OPEN:
            raise Unusable(f"{MOST_OPEN} servers that you asked for wait for a person already")
        source = Source(Origin.AGENT, Actor(caller.id, "agent", caller.label, may_widen=False), caller.id)
        try:
            added = await self._guard.admission.add(given.name, given.config, source)
        except (NotDeclared, NameTaken, Undecidable) as error:
            raise Unusable(str(error)) from None
        return {"requested": added.name, "standing": "quarantined", "notices": list(added.notices)}


def _without_references(value: object) -> None:
    """Raises Unusable where something of it would be taken from the guard's environment or files."""
    match value:
        case str():
            if unreferenced(value):
                raise Unusable("config holds a reference (${…}); a person adds secrets when they review it")
        case dict():
            for each in value.values():
                _without_references(each)
        case list():
            for each in value:
                _without_references(each)
        case _:
            return
