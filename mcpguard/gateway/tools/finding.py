"""`retrieve_tools` and `describe_tool`: what an agent may find, and whether it can be called now.

Rules kept here:
1. What a server says is shown only of tools that a person approved as they are. Of everything else there is a reason.
2. What is beyond a caller's scope, and what does not exist, look the same. The names of a scope say what is found, its
   effects what may be used of that.
"""

from collections.abc import Iterable
from typing import Any, Final

from mcpguard.catalog.search.compact import signature, summary
from mcpguard.catalog.shelf import Pinned
from mcpguard.codec.messages import dumps
from mcpguard.codec.names import reference
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.gateway.tools.given import Describe, Retrieve
from mcpguard.guard.guard import Guard
from mcpguard.guard.searching import Hit, Wish
from mcpguard.policy.intents import call_with
from mcpguard.policy.scopes import reaches

Json = dict[str, Any]
MOST_BYTES: Final = 256 * 1024
"""Of definitions in one answer; what goes beyond it is left out, and said to be."""


class Finding:
    """Answers for one guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def retrieve(self, caller: Caller, given: Retrieve) -> Json:
        effects = frozenset(Effect if given.effects is None else given.effects)
        wish = Wish(caller.scope, effects, None if given.servers is None else frozenset(given.servers))
        hits, total = self._guard.searching.search(given.query, given.limit, wish)
        full = given.detail == "full"
        answer: Json = {"tools": list(_fitting(hits, full=full)), "total": total, "query": given.query}
        waiting = sum(
            known.upstream.standing is UpstreamStanding.QUARANTINED and reaches(caller.scope, known.name)
            for known in self._guard.servers.every()
        )
        if waiting:
            what = "server waits" if waiting == 1 else "servers wait"
            answer["notice"] = f"{waiting} {what} for a person to review; their tools cannot be used yet."
        return answer

    def describe(self, caller: Caller, given: Describe) -> Json:
        return {"tools": [self._one(caller, name) for name in dict.fromkeys(given.names)]}

    def _one(self, caller: Caller, name: str) -> Json:
        try:
            server, own = reference(name)
        except InvalidName:
            server, own = "", name
        capability = Capability(server, CapabilityKind.TOOL, own)
        said: Json = {"name": name, **self._guard.explained(caller, capability)}
        pinned = self._guard.catalog.find(server, CapabilityKind.TOOL, own)
        if said["answer"] != "unknown" and pinned is not None:
            said |= _full(pinned)
        return said


def _fitting(hits: Iterable[Hit], *, full: bool) -> Iterable[Json]:
    left = MOST_BYTES
    for hit in hits:
        one = _common(hit.pinned) | {"score": round(hit.score, 3)}
        one |= _full(hit.pinned) if full else _compact(hit.pinned)
        left -= len(dumps(one))
        if left >= 0:
            yield one


def _common(pinned: Pinned) -> Json:
    capability = pinned.capability
    return {
        "name": f"{capability.server}:{capability.name}",
        "server": capability.server,
        "effect": pinned.effect.value,
        "call_with": call_with(pinned.effect),
    }


def _compact(pinned: Pinned) -> Json:
    return {"description": summary(pinned.definition), "signature": signature(pinned.definition)}


def _full(pinned: Pinned) -> Json:
    wanted = ("description", "title", "inputSchema", "outputSchema", "annotations")
    return _common(pinned) | {key: pinned.definition[key] for key in wanted if key in pinned.definition}
