"""The servers that the guard knows and their status, in memory: calls are judged from it.

Only `standings` changes this state, and the store has all of it but the listing. Findings in what servers list advise
reviewers; no call is judged by them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import anyio

from mcpguard.catalog.shelf import Shelf, make_shelf
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import CapabilityKey, Unknown
from mcpguard.domain.findings import Finding, InspectionFindings, finding_weight
from mcpguard.domain.servers.inspections import InspectionStage
from mcpguard.domain.servers.launches import DeclaredServer, Launch, Mount, Profile, StdioLaunch
from mcpguard.domain.servers.listings import INSTRUCTIONS, KEYS, Definition, Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.servers.listed_findings import NOTHING, ListedFindings, launch_findings
from mcpguard.policy.tasks import needs_tasks

if TYPE_CHECKING:
    from mcpguard.inspection.detectors.detector import Surroundings


@dataclass(slots=True, eq=False, weakref_slot=True)
class ServerState:
    """One server: its status and that of each capability, its declaration, and what it listed last.

    `listing` is the one that `pins` were compared with last. Whoever changes anything here holds `lock`. `moved` is set
    and replaced whenever something changes that a call may wait for. `stage` says how far a running inspection has
    come; nothing is decided by it, and only `ServerInspections` sets it.
    """

    upstream: Upstream
    declared: DeclaredServer
    pins: Mapping[CapabilityKey, Pin] = field(default_factory=dict)
    listing: Listing | None = None
    listed_at: int | None = None
    odd: tuple[str, ...] = ()
    found: ListedFindings = field(default_factory=ListedFindings)
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    moved: anyio.Event = field(default_factory=anyio.Event)
    stage: InspectionStage | None = None
    _launched: tuple[Launch, InspectionFindings] | None = field(default=None, init=False)
    _indexed: "ListingIndex | None" = field(default=None, init=False)

    @property
    def name(self) -> str:
        return self.upstream.name

    @property
    def enabled(self) -> bool:
        return self.upstream.enabled and self.declared.enabled

    @property
    def runs(self) -> bool:
        """Whether it is meant to run: it is approved, enabled and not removed."""
        upstream = self.upstream
        is_enabled = upstream.enabled and self.declared.enabled and not upstream.removed
        return is_enabled and upstream.standing is UpstreamStanding.APPROVED

    @property
    def sandbox(self) -> Profile | None:
        """Its sandbox profile; None for a server that we do not start."""
        return self.declared.sandbox

    @property
    def is_inspected(self) -> bool:
        """Whether an inspection of it is under way."""
        inspection = self.upstream.inspection
        return inspection is not None and not inspection.failed

    @property
    def runnable(self) -> DeclaredServer:
        """Its declaration, with the artifact that was installed when it was inspected."""
        return replace(self.declared, artifact=self.upstream.artifact)

    def pin(self, key: CapabilityKey) -> Pin:
        """What is decided about one capability. Raises Unknown where the server never listed it."""
        pin = self.pins.get(key)
        if pin is None:
            raise Unknown(f"server {self.name} has no {key[0]} {key[1]}")
        return pin

    def effect(self, kind: CapabilityKind, name: str) -> Effect | None:
        """The effect of a capability that is approved as it is; None for any other."""
        pin = self.pins.get((kind, name))
        return pin.effect if pin is not None and pin.callable else None

    def _approved_since(self, kind: CapabilityKind, name: str) -> int:
        return self.pins[kind, name].approved_since

    def definition(self, kind: CapabilityKind, name: str) -> Definition | None:
        """A definition as it was listed last; its fingerprint is the one in `pins`."""
        return self.index.definitions.get((kind, name))

    @property
    def index(self) -> "ListingIndex":
        """What was listed last, its definitions, and the tools that can only be called as a task."""
        if self._indexed is None or self._indexed.listing is not self.listing:
            self._indexed = _index(self.listing)
        return self._indexed

    def shelf(self) -> Shelf | None:
        """What agents may find of it, even before it is connected: that was approved as an inspection listed it, and a
        call waits until the connection lists the same. None where the server is not meant to run, or never listed."""
        if not self.runs or self.listing is None:
            return None
        return make_shelf(self.name, self.listing, self.effect, self.upstream.prefixes, self._approved_since)

    def findings_in(self, key: CapabilityKey) -> InspectionFindings:
        """The findings in a capability as it is listed now."""
        pin = self.pins.get(key)
        return self.found.at(pin) if pin is not None else NOTHING

    @property
    def launch_findings(self) -> InspectionFindings:
        """The findings in how it is launched or reached."""
        if self._launched is None or self._launched[0] is not self.declared.launch:
            self._launched = self.declared.launch, launch_findings(self.declared.launch)
        return self._launched[1]

    @property
    def own_findings(self) -> InspectionFindings:
        """The findings in the server itself: in its launch and in its instructions."""
        said = self.findings_in((CapabilityKind.INSTRUCTIONS, INSTRUCTIONS))
        findings = sorted((*self.launch_findings.findings, *said.findings), key=finding_weight, reverse=True)
        return InspectionFindings(tuple(findings), max(self.launch_findings.risk, said.risk))

    def findings_by_part(self) -> Iterator[tuple[CapabilityKey | None, InspectionFindings]]:
        """The findings in its launch (None), and in each capability that it lists now and that has any. Whatever counts
        findings counts these.
        """
        yield None, self.launch_findings
        for key in sorted(self.found.of):
            if (pin := self.pins.get(key)) is not None and pin.present:
                yield key, self.found.at(pin)

    def unread_approvals(self) -> Mapping[CapabilityKey | None, frozenset[str]]:
        """The rules of grave findings in what is approved as it is, which no reviewer confirmed reading: by capability,
        None for the launch."""
        if self.upstream.standing is not UpstreamStanding.APPROVED:
            return {}
        unread: dict[CapabilityKey | None, frozenset[str]] = {
            None: self.launch_findings.grave - self.upstream.findings_read
        }
        # Only what has findings: a server may list thousands of tools, and this is asked for every page.
        for key in self.found.of:
            pin = self.pins.get(key)
            if pin is not None and pin.callable:
                unread[key] = self.findings_in(key).grave - pin.findings_read
        return {key: rules for key, rules in unread.items() if rules}

    def findings(self) -> Iterator[tuple[Finding, CapabilityKey | None]]:
        """Every finding, with the capability that it is in; None for the launch."""
        return ((finding, key) for key, found in self.findings_by_part() for finding in found.findings)

    def announce(self) -> None:
        """Wake everybody who waits for a change of this server."""
        # Replaced, not cleared: whoever waits holds the old event, and cannot miss this change.
        self.moved.set()
        self.moved = anyio.Event()


class ListingIndex(NamedTuple):
    """A listing, its definitions, and the tools that can only be called as a task."""

    listing: Listing | None
    definitions: Mapping[CapabilityKey, Definition]
    for_tasks: frozenset[str]


def _index(listing: Listing | None) -> ListingIndex:
    lists = {CapabilityKind.TOOL: listing.tools, CapabilityKind.PROMPT: listing.prompts} if listing else {}
    found = {
        (kind, name): each
        for kind, definitions in lists.items()
        for each in definitions
        if isinstance(name := each.get(KEYS[kind]), str)
    }
    tools = CapabilityKind.TOOL
    for_tasks = frozenset(name for kind, name in found if kind is tools and needs_tasks(found[kind, name]))
    return ListingIndex(listing, found, for_tasks)


class Registry:
    """All servers by name; and the removed ones, whose names and launches are never forgotten: a block outlives
    removal.

    `compared`: whether definitions and responses are compared with published attacks (`screening.resemblance`).
    """

    def __init__(self, *, compared: bool = True) -> None:
        self.compared = compared
        self.live: dict[str, ServerState] = {}
        self.surroundings: dict[str, Surroundings] = {}
        """What is beside each server, where that was asked for since anything changed (`neighbours`)."""
        self._tombstones: list[Upstream] = []

    def __iter__(self) -> Iterator[ServerState]:
        return iter(tuple(self.live[name] for name in sorted(self.live)))

    def find(self, name: str) -> ServerState | None:
        return self.live.get(name)

    def get(self, name: str) -> ServerState:
        """The server of this name. Raises Unknown."""
        known = self.live.get(name)
        if known is None:
            raise Unknown(f"there is no server {name}")
        return known

    def add(self, known: ServerState) -> None:
        self.live[known.name] = known
        self.note_change()

    def note_change(self) -> None:
        """Note that the capabilities or the standing of a server have changed: they are beside every other server."""
        self.surroundings.clear()

    def bury(self, known: ServerState) -> None:
        """Remove a server, and remember that it was there."""
        self.live.pop(known.name, None)
        self._tombstones.append(known.upstream)
        self.note_change()

    def writable(self) -> tuple[tuple[str, Mount], ...]:
        """The folders that sandboxed servers may write to, which run or are being inspected; each with the server's
        name."""
        # Servers under inspection count as well: they run with the same mounts.
        launches = ((known.name, known.declared.launch) for known in self if known.runs or known.is_inspected)
        return tuple(
            (name, mount)
            for name, launch in launches
            if isinstance(launch, StdioLaunch) and launch.profile is not Profile.NONE
            for mount in launch.mounts
            if mount.writable
        )

    def load(self, live: Iterable[ServerState], tombstones: Iterable[Upstream]) -> None:
        """Replace everything with what the store has."""
        self.live = {known.name: known for known in live}
        self._tombstones = list(tombstones)
        self.note_change()

    def ever(self) -> tuple[Upstream, ...]:
        """Every server that there is or was."""
        return (*(known.upstream for known in self.live.values()), *self._tombstones)
