"""The servers from the viewpoint of a call: their status, what they may ask, and whether their listing is in force."""

from collections.abc import Callable, Iterator

import anyio

from mcpguard.domain.asks import AskKind
from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.connections import Condition, ConnectionState
from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.news import News, ResourceUpdated
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.servers.argument_checks import CallArgumentChecks
from mcpguard.guard.servers.first_connections import FirstConnections
from mcpguard.guard.servers.intake import Intake
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.standings import Standings
from mcpguard.guard.servers.status import InspectionStatus, ServerStatus
from mcpguard.policy.arguments.schemas import ANYTHING, UNUSABLE, SchemaChecks
from mcpguard.policy.scopes import is_server_in_scope
from mcpguard.settings.model import Settings
from mcpguard.upstreams.supervise.fleet import Fleet

_KINDS = (CapabilityKind.TOOL, CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE, CapabilityKind.PROMPT)


class Servers:
    """What is known of all servers and their connections, for the parts of the guard that use them."""

    def __init__(self, standings: Standings, intake: Intake, settings: Settings) -> None:
        self.publisher = standings.publisher
        self.subscriptions = standings.subscriptions
        self.checking = CallArgumentChecks(settings)
        self._standings = standings
        self._registry = standings.registry
        self.find = standings.registry.find
        self._intake = intake
        self._first_connections = FirstConnections(settings.upstreams)
        self._confirm_seconds = settings.definitions.confirm_seconds
        self._screening = Screening(settings.screening.mode)
        self._fleet: Fleet | None = None
        self.connection_and_listing: Callable[[str], tuple[bool, Listing | None]] = _unconnected
        """Whether there is a connection that calls could use, and what the server listed on it last, as long as that
        is in force."""

    def take(self, news: News) -> None:
        """Accept news from the fleet."""
        if isinstance(news, ResourceUpdated):
            self.subscriptions.notify(news.server, news.uri)
        else:
            self._intake.take(news)

    def command(self, fleet: Fleet) -> None:
        """Ask this fleet about connections from now on."""
        self._fleet = fleet
        self.connection_and_listing = fleet.connection_and_listing

    def every(self) -> tuple[ServerState, ...]:
        """All servers, whatever their status."""
        return tuple(self._registry)

    def ever(self) -> tuple[Upstream, ...]:
        """Every server that there is or was."""
        return self._registry.ever()

    def knows(self, name: str) -> bool:
        return self._registry.find(name) is not None

    def is_in_force(self, known: ServerState) -> bool:
        """Tell whether what the server is known to offer is what it listed last, on the connection that calls use."""
        _, listing = self.connection_and_listing(known.name)
        return listing is not None and listing is known.listing

    def is_reachable(self, known: ServerState) -> bool:
        """Tell whether there is a connection that calls could use."""
        connected, _ = self.connection_and_listing(known.name)
        return connected

    def is_starting(self, known: ServerState) -> bool:
        """Tell whether a server is being connected for the first time, so that a call may wait for it.

        So it is, too, while a server whose program was exchanged is being quarantined: a call waits, and is told that.
        """
        if self._fleet is None or not known.runs:
            return False
        return self._fleet.is_starting(known.name) or self._intake.is_altering(known.name)

    async def wait_for_start(self, known: ServerState, caller: Caller) -> None:
        """Wait until the first connection was made or has failed, but no longer than a call may take. Raises
        Crowded."""
        with (
            self._first_connections.place(known.name, caller.id),
            anyio.move_on_after(self._first_connections.seconds(known.declared.timeout)),
        ):
            while self.is_starting(known):
                await known.moved.wait()

    def end_of_connection(self, known: ServerState) -> str:
        """Why there is no connection to a server, with its last words; empty where there is one."""
        return self._condition(known).error

    async def wait_until_confirmed(self, known: ServerState) -> None:
        """Wait until the server's listing is in force, its connection is lost, or this takes too long."""
        with anyio.move_on_after(self._confirm_seconds):
            while known.runs and not self.is_in_force(known):
                moved = known.moved  # taken before asking for a listing, which may come before anybody waits for it
                if self._fleet is None:
                    return
                is_listed = self.connection_and_listing(known.name)[1] is not None  # then it is only being taken in
                if not is_listed and not self._fleet.confirm(known.name):
                    return
                await moved.wait()

    async def catch_up(self, name: str) -> None:
        """Wait until no change to this server is under way, and read it from the store."""
        await self._standings.catch_up(name)

    def may_ask(self, name: str) -> frozenset[AskKind]:
        """What this server may ask of clients."""
        known = self._registry.find(name)
        return known.upstream.may_ask if known is not None and known.runs else frozenset()

    def screening(self, name: str) -> Screening:
        """The screening mode of this server."""
        known = self._registry.find(name)
        decided = known.upstream.screening if known is not None else None
        return decided or self._screening

    def result_checks(self, name: str, pin: Pin) -> SchemaChecks:
        """The checks for results of a tool that its approved definition prescribes."""
        known = self._registry.live.get(name)
        if known is None:
            return ANYTHING
        definition = known.definition(pin.kind, pin.name) if pin.listed == pin.approved else None
        if definition is None or pin.approved is None:
            return UNUSABLE
        return self.checking.prepare_checks(definition, pin.approved, "outputSchema")

    @property
    def asked_for(self) -> frozenset[AskKind]:
        """What at least one server may ask of clients."""
        kinds = frozenset[AskKind]()
        for known in self._registry.live.values():
            if known.upstream.may_ask and known.runs:
                kinds |= known.upstream.may_ask
        return kinds

    def roots_changed(self, scope: Scope) -> None:
        """Tell the servers in this scope that may ask for roots that a client's roots have changed."""
        for known in self._registry:
            if (
                self._fleet is not None
                and AskKind.ROOTS in self.may_ask(known.name)
                and is_server_in_scope(scope, known.name)
            ):
                self._fleet.roots_changed(known.name)

    async def wait_until_settled(self) -> None:
        """Wait after the start until every server was taken in or has failed to connect. Later this returns at once."""
        await self._intake.settling.wait()

    @property
    def has_settled(self) -> bool:
        """Whether `wait_until_settled` would return at once. Stays true, whatever becomes of servers later."""
        return self._intake.settling.is_over

    def unconnected_servers(self) -> tuple[str, ...]:
        """The servers that are approved and enabled, and not connected now."""
        return tuple(known.name for known in self._registry if known.runs and not self.is_reachable(known))

    def states(self) -> Iterator[tuple[str, UpstreamStanding, ConnectionState]]:
        """The status of each server, and the state of its connection."""
        for known in self._registry:
            yield known.name, known.upstream.standing, self._condition(known).state

    def status(self) -> tuple[ServerStatus, ...]:
        return tuple(self.status_of(known) for known in self._registry)

    def status_of(self, known: ServerState) -> ServerStatus:
        upstream, shelf = known.upstream, self.publisher.catalog.shelves.get(known.name)
        counts = [len(shelf.entries_of(kind)) if shelf else 0 for kind in _KINDS]
        state = self._condition(known)
        found = [each for _, each in known.findings_by_part()]
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
            unread=len(known.unread_approvals()),
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

    def _condition(self, known: ServerState) -> Condition:
        found = self._fleet.condition(known.name) if self._fleet else None
        return found or Condition(ConnectionState.DISCONNECTED, 0)


def _unconnected(_name: str) -> tuple[bool, Listing | None]:
    """What there is of a server while nothing connects servers yet."""
    return False, None


def _inspecting(last: Inspection | None) -> int | None:
    return last.began if last is not None and not last.failed else None


def _failed(last: Inspection | None) -> InspectionStatus | None:
    if last is None or last.ended is None:
        return None
    return InspectionStatus(last.ended, last.by, last.why, last.started)
