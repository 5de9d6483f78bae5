"""The servers that there are: what was declared, where each stands, how the connection to it is."""

import anyio
import structlog

from mcpguard.domain.asks import AskKind
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.connections import Condition, ConnectionState
from mcpguard.domain.launches import Declared
from mcpguard.domain.news import News, Updated
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.domain.upstreams import Upstream
from mcpguard.guard.admission import admitted
from mcpguard.guard.intake import Intake
from mcpguard.guard.publish import Publisher
from mcpguard.guard.status import ServerStatus
from mcpguard.guard.subscriptions import Subscription, Subscriptions
from mcpguard.policy.scopes import reaches
from mcpguard.settings.model import Settings
from mcpguard.upstreams.fleet import Fleet

log = structlog.get_logger("mcpguard.guard")
_KINDS = (CapabilityKind.TOOL, CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE, CapabilityKind.PROMPT)


class Servers:
    """Takes declarations in, and knows what became of them."""

    def __init__(self, publisher: Publisher, clock: Clock, new_id: Ids, settings: Settings) -> None:
        self.publisher = publisher
        self.asked_for: frozenset[AskKind] = frozenset()
        """What any server is permitted to ask of clients."""
        self.subscriptions = Subscriptions(self._unwatch)
        self._intake = Intake(publisher)
        self._clock = clock
        self._new_id = new_id
        self._settle_seconds = settings.upstreams.settle_seconds
        self._permitted = settings.asking.permitted
        self._known: dict[str, Upstream] = {}
        self._declared: dict[str, Declared] = {}
        self._fleet: Fleet | None = None
        self._began = clock.monotonic()

    def take(self, news: News) -> None:
        """What the fleet has to tell."""
        if isinstance(news, Updated):
            self.subscriptions.updated(news.server, news.uri)
        else:
            self._intake.take(news)

    def command(self, fleet: Fleet) -> None:
        """This is the fleet that carries out what is declared."""
        self._fleet = fleet

    def declare(self, declared: tuple[Declared, ...]) -> None:
        """From now on these are the servers, as they stand here, and there are no others."""
        for name in self._declared.keys() - {one.name for one in declared if self._stays(one)}:
            self.subscriptions.withdraw(name)
        new = {one.name for one in declared if one.enabled and one.name not in self._known}
        self._known = {one.name: self._upstream(one) for one in declared}
        self.asked_for = frozenset[AskKind]().union(*(upstream.may_ask for upstream in self._known.values()))
        self._declared = {one.name: one for one in declared}
        for name in sorted({each.rpartition(":")[0] for each in self._permitted} - self._known.keys()):
            log.warning("asking.unknown_server", server=name, setting="asking.permitted")
        self._intake.expect(new)
        if self._fleet is not None:
            self._fleet.want(one for one in declared if self.standing(one.name) is UpstreamStanding.APPROVED)

    def _upstream(self, declared: Declared) -> Upstream:
        """What is declared as before stays the same upstream."""
        if self._stays(declared):
            return self._known[declared.name]
        return admitted(declared, self._permitted, self._new_id)

    def _stays(self, declared: Declared) -> bool:
        return self._declared.get(declared.name) == declared

    def _unwatch(self, subscription: Subscription) -> None:
        if self._fleet is not None:
            self._fleet.unwatch(subscription.server, subscription.uri, subscription)

    def standing(self, name: str) -> UpstreamStanding | None:
        """None for a server that is not known."""
        upstream = self._known.get(name)
        return upstream.standing if upstream else None

    def enabled(self, name: str) -> bool:
        upstream = self._known.get(name)
        return upstream is not None and upstream.enabled

    def may_ask(self, name: str) -> frozenset[AskKind]:
        """What this server is permitted to ask of clients."""
        upstream = self._known.get(name)
        return upstream.may_ask if upstream else frozenset()

    def roots_changed(self, scope: Scope) -> None:
        """A client within this scope has other roots now; those that may ask for them are told."""
        for name, upstream in self._known.items():
            if self._fleet is not None and AskKind.ROOTS in upstream.may_ask and reaches(scope, name):
                self._fleet.roots_changed(name)

    def knows(self, name: str) -> bool:
        return name in self._known

    def restart(self, name: str) -> bool:
        """Whether there is a connection to this server to be made anew."""
        return self._fleet is not None and self._fleet.restart(name)

    async def settled(self) -> None:
        """For a moment after the start: until every server has connected, or has failed to. Later at once."""
        left = self._began + self._settle_seconds - self._clock.monotonic()
        if left > 0:
            with anyio.move_on_after(left):
                await self._intake.settled()

    def status(self) -> tuple[ServerStatus, ...]:
        conditions = self._fleet.conditions() if self._fleet else {}
        return tuple(self._status(one, conditions.get(name)) for name, one in sorted(self._known.items()))

    def _status(self, upstream: Upstream, condition: Condition | None) -> ServerStatus:
        shelf = self.publisher.catalog.shelves.get(upstream.name)
        counts = [len(shelf.of(kind)) if shelf else 0 for kind in _KINDS]
        state = condition or Condition(ConnectionState.DISCONNECTED, 0)
        return ServerStatus(
            name=upstream.name,
            transport=upstream.transport.value,
            standing=upstream.standing.value,
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
            left_out=shelf.odd if shelf else (),
        )
