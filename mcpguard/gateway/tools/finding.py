"""`retrieve_tools` and `describe_tool`: what an agent may find, and whether it can be called now.

Rules kept here:
1. What a server says is shown only of tools that a person approved as they are. Of everything else there is a reason.
2. What is beyond a caller's scope, and what does not exist, look the same. The names of a scope say what is found, its
   effects what may be used of that.
"""

from typing import Any

from mcpguard.catalog.shelf import Pinned
from mcpguard.codec.names import reference
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.gateway.tools.fitting import described, retrieved
from mcpguard.gateway.tools.given import Describe, Retrieve
from mcpguard.guard.guard import Guard
from mcpguard.guard.searching import Wish
from mcpguard.policy.scopes import reaches

Json = dict[str, Any]


class Finding:
    """Answers for one guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def retrieve(self, caller: Caller, given: Retrieve) -> Json:
        effects = frozenset(Effect if given.effects is None else given.effects)
        wish = Wish(caller.scope, effects, None if given.servers is None else frozenset(given.servers))
        hits, total = self._guard.searching.search(given.query, given.limit, wish)
        tools, notices = retrieved(hits, full=given.detail == "full")
        answer: Json = {"tools": tools, "total": total, "query": given.query}
        waiting = sum(
            known.upstream.standing is UpstreamStanding.QUARANTINED and reaches(caller.scope, known.name)
            for known in self._guard.servers.every()
        )
        if waiting:
            what = "server waits" if waiting == 1 else "servers wait"
            notices.append(f"{waiting} {what} for a person to review; their tools cannot be used yet.")
        if notices:
            answer["notice"] = " ".join(notices)
        return answer

    def describe(self, caller: Caller, given: Describe) -> Json:
        return {"tools": described([self._one(caller, name) for name in dict.fromkeys(given.names)])}

    def _one(self, caller: Caller, name: str) -> tuple[Json, Pinned | None]:
        """What is said of it, and the definition that may be shown with that."""
        try:
            server, own = reference(name)
        except InvalidName:
            server, own = "", name
        capability = Capability(server, CapabilityKind.TOOL, own)
        said: Json = {"name": name, **self._guard.explained(caller, capability)}
        pinned = self._guard.catalog.find(server, CapabilityKind.TOOL, own)
        return said, pinned if said["answer"] != "unknown" else None
