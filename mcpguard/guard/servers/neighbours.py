"""The tools of other servers, beside which a definition is inspected; read again only when they change."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.guard.servers.listed_findings import OtherTools, names_digest, resting_on
from mcpguard.guard.servers.registry import Registry, ServerState
from mcpguard.inspection.detectors.detector import Since, Surroundings

_OUT: Final = frozenset({UpstreamStanding.BLOCKED})


def own_tools(known: ServerState) -> frozenset[str]:
    """The names of the tools that a server listed last."""
    return frozenset(name for (kind, name), pin in known.pins.items() if pin.present and kind is CapabilityKind.TOOL)


def _since(known: ServerState) -> Mapping[str, Since]:
    """When each of the tools came that a server listed last.

    Whoever imitates is the newcomer, so an honest tool is not suspected because of one that came after it, whichever
    of their servers came first.
    """
    named = ((name, pin) for (kind, name), pin in known.pins.items() if pin.present and kind is CapabilityKind.TOOL)
    return {name: (pin.approved is None, pin.id) for name, pin in named}


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read from the pins of a server."""

    pins: Mapping[CapabilityKey, Pin]
    tools: frozenset[str]
    since: Mapping[str, Since]
    digest: bytes


class Neighbours:
    """The tools of every server that is not blocked. A blocked server's tools cannot be imitated, as nobody calls
    them."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._read_last: dict[str, _Read] = {}

    def other_tools(self, known: ServerState) -> OtherTools:
        """The tools of all servers but this one. Only what has changed is read again.

        None for the guard's own server: people write its scripts, and the tools of others are what they are about.
        """
        self._read_last = {each.name: self._read(each) for each in self._registry if each.upstream.standing not in _OUT}
        others = {name: read for name, read in self._read_last.items() if name != known.name and read.tools}
        others = {} if known.upstream.transport is Transport.OWN else others
        mine = _since(known)
        approved = names_digest(name for name, (is_new, _) in mine.items() if not is_new)
        every = b"".join(each.digest for each in others.values()) + approved
        since = {name: each.since for name, each in others.items()} | {known.name: mine}
        digest, compared = sha256(every).digest(), self._registry.compared
        return OtherTools({name: each.tools for name, each in others.items()}, since, digest, compared)

    def surroundings_of(self, known: ServerState) -> Surroundings:
        """What a definition of this server is inspected beside: its own tools, and those of all others."""
        beside = self.other_tools(known)
        return Surroundings(known.name, own_tools(known), beside.others, beside.since, beside.compared)

    def is_current(self, known: ServerState) -> bool:
        """Tell whether the findings in what this server lists rest on the tools that there are now."""
        return known.found.rests_on == resting_on(self.other_tools(known), own_tools(known))

    def _read(self, known: ServerState) -> _Read:
        before = self._read_last.get(known.name)
        if before is not None and before.pins is known.pins:
            return before
        since = _since(known)
        told = (f"{is_new} {id_} {name}" for name, (is_new, id_) in since.items())
        return _Read(known.pins, frozenset(since), since, names_digest(told))


class NeighbourTools:
    """Looks up the surroundings of a server by name. The registry keeps them until any server changes."""

    def __init__(self, registry: Registry) -> None:
        self.kept: Mapping[str, Surroundings] = registry.surroundings
        """What was looked up since any server changed."""
        self._registry = registry
        self._neighbours = Neighbours(registry)

    def __call__(self, server: str) -> Surroundings:
        known = self._registry.find(server)
        if known is None:
            return Surroundings(server, compared=self._registry.compared)
        if server not in self._registry.surroundings:
            self._registry.surroundings[server] = self._neighbours.surroundings_of(known)
        return self._registry.surroundings[server]
