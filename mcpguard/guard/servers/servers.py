"""The servers as a call meets them: where each stands, what it may ask, whether what it listed is in force."""

from collections.abc import Iterator

import anyio

from mcpguard.domain.asks import AskKind
from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.clock import Clock
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.connections import Condition, ConnectionState
from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.news import News, Updated
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.servers.argument_checks import Checking
from mcpguard.guard.servers.first_connections import FirstConnections
from mcpguard.guard.servers.grave_findings import unread
from mcpguard.guard.servers.intake import Intake
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.standings import Standings
from mcpguard.guard.servers.status import InspectionStatus, ServerStatus
from mcpguard.policy.scopes import reaches
from mcpguard.settings.model import Settings
from mcpguard.upstreams.supervise.fleet import Fleet

_KINDS = (CapabilityKind.TOOL, CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE, CapabilityKind.PROMPT)


class Servers:
    """What is known of the servers, for whoever wants to use them."""

    def __init__(self, standings: Standings, intake: Intake, clock: Clock, settings: Settings) -> None:
        self.publisher = standings.publisher
        self.subscriptions = standings.subscriptions
        self.checking = Checking(settings)
        self._standings = standings
        self._registry = standings.registry
        self._intake = intake
        self._clock = clock
        self._settle_seconds = settings.upstreams.settle_seconds
        self._first_connections = FirstConnections(settings.upstreams)
        self._confirm_seconds = settings.definitions.confirm_seconds
        self._screening = Screening(settings.screening.mode)
        self._fleet: Fleet | None = None
        self._began = clock.monotonic()

    def take(self, news: News) -> None:
        """What the fleet has to tell."""
        if isinstance(news, Updated):
            self.subscriptions.updated(news.server, news.uri)
        else:
            self._intake.take(news)

    def command(self, fleet: Fleet) -> None:
        """This is the fleet that runs the servers."""
        self._fleet = fleet

    def find(self, name: str) -> ServerState | None:
        return self._registry.find(name)

    def every(self) -> tuple[ServerState, ...]:
        """All that are there, wherever they stand."""
        return tuple(self._registry)

    def knows(self, name: str) -> bool:
        return self._registry.find(name) is not None

    def in_force(self, known: ServerState) -> bool:
        """Whether what the server is known to offer is what it listed last, on the connection that calls use."""
        listing = self._fleet.in_force(known.name) if self._fleet else None
        return listing is not None and listing is known.listing

    def reachable(self, known: ServerState) -> bool:
        """Whether there is a connection that calls could use."""
        return self._fleet is not None and self._fleet.is_connected(known.name)

    def starting(self, known: ServerState) -> bool:
        """Whether it is being connected for the first time, so that a call may wait for that.

        It still is while a program that is not the one which was looked at is being put in quarantine.
        """
        if self._fleet is None or not known.runs:
            return False
        return self._fleet.is_starting(known.name) or self._intake.is_altering(known.name)

    async def started(self, known: ServerState, caller: Caller) -> None:
        """Until its first connection was made or has failed, or it has taken as long as a call may. Raises Crowded."""
        with (
            self._first_connections.place(known.name, caller.id),
            anyio.move_on_after(self._first_connections.seconds(known.declared.timeout)),
        ):
            while self.starting(known):
                await known.moved.wait()

    def ended(self, known: ServerState) -> str:
        """Why there is no connection to it, with its last words; empty where there is one."""
        found = self._fleet.conditions().get(known.name) if self._fleet else None
        return found.error if found is not None else ""

    async def confirmed(self, known: ServerState) -> None:
        """Until what the server lists is in force, there is no connection to it, or it has taken too long."""
        with anyio.move_on_after(self._confirm_seconds):
            while known.runs and not self.in_force(known):
                moved = known.moved
                if self._fleet is None:
                    return
                is_listed = self._fleet.in_force(known.name) is not None  # then it is only being taken in
                if not is_listed and not self._fleet.confirm(known.name):
                    return
                await moved.wait()

    async def catch_up(self, name: str) -> None:
        """Until nothing is being changed about this server, and it is known as the store has it."""
        await self._standings.catch_up(name)

    def may_ask(self, name: str) -> frozenset[AskKind]:
        """What this server is permitted to ask of clients."""
        known = self._registry.find(name)
        return known.upstream.may_ask if known is not None and known.runs else frozenset()

    def screening(self, name: str) -> Screening:
        """How what this server says is screened now."""
        known = self._registry.find(name)
        decided = known.upstream.screening if known is not None else None
        return decided or self._screening

    @property
    def asked_for(self) -> frozenset[AskKind]:
        """What any server is permitted to ask of clients."""
        return frozenset[AskKind]().union(*(known.upstream.may_ask for known in self._registry if known.runs))

    def roots_changed(self, scope: Scope) -> None:
        """A client within this scope has other roots now; those that may ask for them are told."""
        for known in self._registry:
            if self._fleet is not None and AskKind.ROOTS in self.may_ask(known.name) and reaches(scope, known.name):
                self._fleet.roots_changed(known.name)

    def restart(self, name: str) -> bool:
        """Whether there is a connection to this server to be made anew."""
        return self._fleet is not None and self._fleet.restart(name)

    async def settled(self) -> None:
        """For a moment after the start: until every server was taken in, or has failed to connect. Later at once."""
        left = self._began + self._settle_seconds - self._clock.monotonic()
        if left > 0:
            with anyio.move_on_after(left):
                await self._intake.settling.settled()

    @property
    def has_settled(self) -> bool:
        """Whether `settled` would return at once. It stays so, whatever becomes of servers later."""
        return self._intake.settling.is_settled or self._clock.monotonic() >= self._began + self._settle_seconds

    def unconnected(self) -> tuple[str, ...]:
        """Those that are approved and switched on, and that there is no connection to now."""
        return tuple(known.name for known in self._registry if known.runs and not self.reachable(known))

    def states(self) -> Iterator[tuple[str, UpstreamStanding, ConnectionState]]:
        """Each by its name: where it stands, and how it is with the connection to it."""
        conditions = self._fleet.conditions() if self._fleet else {}
        for known in self._registry:
            found = conditions.get(known.name)
            yield known.name, known.upstream.standing, found.state if found else ConnectionState.DISCONNECTED

    def status(self) -> tuple[ServerStatus, ...]:
        return tuple(self.status_of(known) for known in self._registry)

    def status_of(self, known: ServerState) -> ServerStatus:
        upstream, shelf = known.upstream, self.publisher.catalog.shelves.get(known.name)
        counts = [len(shelf.entries_of(kind)) if shelf else 0 for kind in _KINDS]
        conditions = self._fleet.conditions() if self._fleet else {}
        state = conditions.get(known.name) or Condition(ConnectionState.DISCONNECTED, 0)
        found = [each for _, each in known.every()]
        grave = [finding.grave for each in found for finding in each.findings]
        return ServerStatus(
            name=known.name,
            transport=upstream.transport.value,
            standing=upstream.standing.value,
            enabled=known.enabled,
            origin=upstream.origin.value,
            requester=upstream.requester,
            revision=upstream.revision,
            fingerprint=upstream.identity.launch.text if upstream.identity else "",
            sandbox=known.sandbox.value if known.sandbox else "",
            waiting=sum(pin.waits for pin in known.pins.values()),
            present=sum(pin.present for pin in known.pins.values()),
            approved_now=sum(pin.callable for pin in known.pins.values()),
            unread=len(unread(known)),
            inspected=upstream.identity is not None and upstream.identity.observed is not None,
            inspecting=_inspecting(upstream.inspection),
            inspection_stage=known.stage.value if known.stage else None,
            failed_inspection=_failed(upstream.inspection),
            risk=max(each.risk for each in found),
            flagged=any(each.flagged for each in found),
            found=len(grave),
            grave=sum(grave),
            state=state.state.value,
            since=state.since,
            error=state.error,
            next_try=state.next_try,
            protocol=state.protocol,
            server=state.server,
            tools=counts[0],
            resources=counts[1],
            templates=counts[2],
            prompts=counts[3],
            left_out=(*known.odd, *(shelf.odd if shelf else ())),
        )


def _inspecting(last: Inspection | None) -> int | None:
    return last.began if last is not None and not last.failed else None


def _failed(last: Inspection | None) -> InspectionStatus | None:
    if last is None or last.ended is None:
        return None
    return InspectionStatus(last.ended, last.by, last.why, last.started)
