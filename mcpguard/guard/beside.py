"""Beside which other servers something is listed: their tools, read once for each change of them."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Key
from mcpguard.domain.pins import Pin
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.guard.finding import Beside, names_digest
from mcpguard.guard.known import Known, Registry
from mcpguard.inspection.detectors.detector import Surroundings

_OUT: Final = frozenset({UpstreamStanding.BLOCKED})


def own_tools(known: Known) -> frozenset[str]:
    """What it listed last."""
    return frozenset(name for (kind, name), pin in known.pins.items() if pin.present and kind is CapabilityKind.TOOL)


def _seniority(known: Known) -> tuple[bool, str]:
    """Less for whoever was there first: what was ever approved comes before what was not, then the time of coming.

    Whoever imitates is the newcomer, so an honest server is not suspected because of one that came after it.
    """
    return known.upstream.approved is None, known.upstream.id


class Neighbours:
    """Every server with the tools that it lists, unless it is blocked: nobody takes another's tool for one of its."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._tools: dict[str, tuple[Mapping[Key, Pin], frozenset[str], bytes]] = {}

    def of(self, known: Known) -> Beside:
        """All but this one. Nothing is read again that is as it was."""
        self._tools = {each.name: self._read(each) for each in self._registry if each.upstream.standing not in _OUT}
        others = {name: tools for name, tools in self._tools.items() if name != known.name and tools[1]}
        elders = frozenset(
            each.name for each in self._registry if each.name in others and _seniority(each) < _seniority(known)
        )
        every = b"".join(digest for _, _, digest in others.values()) + names_digest(elders)
        return Beside({name: tools for name, (_, tools, _) in others.items()}, elders, sha256(every).digest())

    def around(self, known: Known) -> Surroundings:
        """Beside what it listed last, and beside what all the others list."""
        beside = self.of(known)
        return Surroundings(known.name, own_tools(known), beside.others, beside.elders)

    def unchanged(self) -> tuple[Mapping[Key, Pin], ...]:
        """What all of it is made of: as long as this is the same, so is what is beside each."""
        return tuple(each.pins for each in self._registry if each.upstream.standing not in _OUT)

    def _read(self, known: Known) -> tuple[Mapping[Key, Pin], frozenset[str], bytes]:
        before = self._tools.get(known.name)
        if before is not None and before[0] is known.pins:
            return before
        tools = own_tools(known)
        return known.pins, tools, names_digest(tools)


class Around:
    """The same by the name of a server, and not read again as long as nothing has changed."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._neighbours = Neighbours(registry)
        self._made_of: tuple[Mapping[Key, Pin], ...] = ()
        self._of: dict[str, Surroundings] = {}

    def __call__(self, server: str) -> Surroundings:
        made_of = self._neighbours.unchanged()
        if len(made_of) != len(self._made_of) or any(a is not b for a, b in zip(made_of, self._made_of, strict=True)):
            self._made_of, self._of = made_of, {}
        known = self._registry.find(server)
        if known is None:
            return Surroundings(server)
        found = self._of.get(server)
        if found is None:
            found = self._of[server] = self._neighbours.around(known)
        return found
