"""The servers that the guard knows, as they stand now: the memory that calls are judged from.

Only `standings` changes what is here, and the store has all of it but the listing. What was found in what servers list
advises people; no call is judged by it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import anyio

from mcpguard.catalog.shelf import Shelf, make_shelf
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import Key, Unknown
from mcpguard.domain.findings import Finding, Inspected, weight
from mcpguard.domain.servers.inspections import InspectionStage
from mcpguard.domain.servers.launches import Declared, Launch, Mount, Profile, StdioLaunch
from mcpguard.domain.servers.listings import INSTRUCTIONS, KEYS, Definition, Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.servers.listed_findings import NOTHING, ListedFindings, in_launch


@dataclass(slots=True, eq=False, weakref_slot=True)
class ServerState:
    """One server: where it and each of its capabilities stand, how it is declared, and what it listed last.

    `listing` is the one that `pins` were compared with last. Whoever changes anything of it holds the lock. `moved` is
    set, and made anew, whenever something has changed that a call may wait for. `stage` says how far an inspection has
    come that is under way; nothing is decided by it, and only `inspecting` sets it.
    """

    upstream: Upstream
    declared: Declared
    pins: Mapping[Key, Pin] = field(default_factory=dict)
    listing: Listing | None = None
    listed_at: int | None = None
    odd: tuple[str, ...] = ()
    found: ListedFindings = field(default_factory=ListedFindings)
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    moved: anyio.Event = field(default_factory=anyio.Event)
    stage: InspectionStage | None = None
    _launched: tuple[Launch, Inspected] | None = field(default=None, init=False)
    _indexed: tuple[Listing, Mapping[Key, Definition]] | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        return self.upstream.name

    @property
    def enabled(self) -> bool:
        return self.upstream.enabled and self.declared.enabled

    @property
    def runs(self) -> bool:
        """Whether a person wants it to run as it is."""
        upstream = self.upstream
        return upstream.standing is UpstreamStanding.APPROVED and self.enabled and not upstream.removed

    @property
    def sandbox(self) -> Profile | None:
        """How it is confined; None where we do not start it."""
        return self.declared.sandbox

    @property
    def is_inspected(self) -> bool:
        """Whether an inspection has begun, and it is not known how it ended."""
        inspection = self.upstream.inspection
        return inspection is not None and not inspection.failed

    @property
    def runnable(self) -> Declared:
        """How it is declared, with what was installed for it when a person had it looked at."""
        return replace(self.declared, artifact=self.upstream.artifact)

    def effect(self, kind: CapabilityKind, name: str) -> Effect | None:
        """Of what may be called now; None for everything else."""
        pin = self.pins.get((kind, name))
        return pin.effect if pin is not None and pin.callable else None

    def definition(self, kind: CapabilityKind, name: str) -> Definition | None:
        """As it was listed last: what the fingerprint in `pins` is of."""
        if self.listing is None:
            return None
        if self._indexed is None or self._indexed[0] is not self.listing:
            self._indexed = self.listing, _index(self.listing)
        return self._indexed[1].get((kind, name))

    def shelf(self) -> Shelf | None:
        """What agents may find of it, before it is connected too: what is found was approved as an inspection listed
        it, and a call waits until its connection lists the same. None where it is not to run, or nobody knows."""
        if not self.runs or self.listing is None:
            return None
        return make_shelf(self.name, self.listing, self.effect, self.upstream.prefixes)

    def inspected(self, key: Key) -> Inspected:
        """What was found in a capability as it is listed now."""
        pin = self.pins.get(key)
        return self.found.at(pin) if pin is not None else NOTHING

    @property
    def launched(self) -> Inspected:
        """What was found in how it is launched or reached."""
        if self._launched is None or self._launched[0] is not self.declared.launch:
            self._launched = self.declared.launch, in_launch(self.declared.launch)
        return self._launched[1]

    @property
    def told(self) -> Inspected:
        """What was found in the server itself: in its launch and its instructions, each with its own places."""
        said = self.inspected((CapabilityKind.INSTRUCTIONS, INSTRUCTIONS))
        findings = sorted((*self.launched.findings, *said.findings), key=weight, reverse=True)
        return Inspected(tuple(findings), max(self.launched.risk, said.risk))

    def every(self) -> Iterator[tuple[Key | None, Inspected]]:
        """What was found in it: None, in how it is launched; each capability that it lists now and in which there is
        something. Whatever counts findings counts these.
        """
        yield None, self.launched
        for key in sorted(self.found.of):
            if (pin := self.pins.get(key)) is not None and pin.present:
                yield key, self.found.at(pin)

    def findings(self) -> Iterator[tuple[Finding, Key | None]]:
        """Every finding, with what it is in."""
        return ((finding, key) for key, found in self.every() for finding in found.findings)

    def announce(self) -> None:
        """Whoever waits for this server looks again."""
        self.moved.set()
        self.moved = anyio.Event()


def _index(listing: Listing) -> dict[Key, Definition]:
    lists = {CapabilityKind.TOOL: listing.tools, CapabilityKind.PROMPT: listing.prompts}
    return {
        (kind, name): each
        for kind, definitions in lists.items()
        for each in definitions
        if isinstance(name := each.get(KEYS[kind]), str)
    }


class Registry:
    """All of them, by name; and those that were removed, whose names and launches are not forgotten."""

    def __init__(self) -> None:
        self._live: dict[str, ServerState] = {}
        self._tombstones: list[Upstream] = []

    def __iter__(self) -> Iterator[ServerState]:
        return iter(tuple(self._live[name] for name in sorted(self._live)))

    def find(self, name: str) -> ServerState | None:
        return self._live.get(name)

    def get(self, name: str) -> ServerState:
        """Raises Unknown."""
        known = self._live.get(name)
        if known is None:
            raise Unknown(f"there is no server {name}; mcpguard server list shows those that there are")
        return known

    def add(self, known: ServerState) -> None:
        self._live[known.name] = known

    def bury(self, known: ServerState) -> None:
        """It was removed."""
        self._live.pop(known.name, None)
        self._tombstones.append(known.upstream)

    def writable(self) -> tuple[tuple[str, Mount], ...]:
        """The folders that those which run confined, or are being inspected, may write to, with the server's name."""
        launches = ((known.name, known.declared.launch) for known in self if known.runs or known.is_inspected)
        return tuple(
            (name, mount)
            for name, launch in launches
            if isinstance(launch, StdioLaunch) and launch.profile is not Profile.NONE
            for mount in launch.mounts
            if mount.writable
        )

    def load(self, live: Iterable[ServerState], tombstones: Iterable[Upstream]) -> None:
        """What the store has."""
        self._live = {known.name: known for known in live}
        self._tombstones = list(tombstones)

    def ever(self) -> tuple[Upstream, ...]:
        """Every one that there is or was."""
        return (*(known.upstream for known in self._live.values()), *self._tombstones)
