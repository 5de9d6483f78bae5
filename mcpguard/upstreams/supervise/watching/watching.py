"""The resource subscriptions of one server: which are wanted, and which are active at the server.

Rules kept here:
1. Wanted subscriptions outlive connections. On each connection the server is asked for all of them, once for each
   resource, however many subscribers it has.
2. A new subscriber waits until the server has accepted the subscription, and receives any refusal. A subscription that
   is refused later is requested again, after a pause that grows.
3. Only changes of wanted resources, or of parts of one, are passed on, and only a limited number per second.
"""

import re
from collections.abc import Callable
from typing import Protocol

import anyio
from anyio.abc import TaskStatus

from mcpguard.domain.clock import Clock
from mcpguard.upstreams.exchange.conversation import DENIED, METHOD_NOT_FOUND, ServerError
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.supervise.backoff import Backoff
from mcpguard.upstreams.supervise.watching.combined_subscription import CombinedSubscription
from mcpguard.upstreams.supervise.watching.single_subscriptions import SingleSubscriptions
from mcpguard.upstreams.supervise.watching.wishes import Wishes

MOST = 1000
LONGEST_URI = 8192
_HALF = re.compile("[\ud800-\udfff]")


PERIOD_SECONDS = 1.0
MOST = 100


class Pacing:
    """Passes on changes at a bounded pace. `run` has to run for the delayed ones.

    Changes beyond a number in a second are reported once, a second later: none is lost, and a server that keeps
    reporting changes cannot drown those of others.
    """

    def __init__(self, clock: Clock, tell: Callable[[str], None], most: int = MOST) -> None:
        self._clock = clock
        self._tell = tell
        self._most = most
        self._since = clock.monotonic()
        self._told = 0
        self._later: dict[str, None] = {}
        self._more = anyio.Event()

    def take(self, uri: str, whole: str) -> None:
        """Report `uri` now, or report `whole`, which it is a part of, later."""
        now = self._clock.monotonic()
        # A fixed window: at its border twice as many may pass, which is still bounded.
        if now - self._since >= PERIOD_SECONDS:
            self._since, self._told = now, 0
        if self._told < self._most:
            self._told += 1
            self._tell(uri)
        else:
            self._later[whole] = None
            self._more.set()

    async def run(self) -> None:
        while True:
            await self._more.wait()
            await self._clock.sleep(PERIOD_SECONDS)
            self._more = anyio.Event()
            # Each resource once, however often it changed meanwhile.
            later, self._later = self._later, {}
            for whole in later:
                self._tell(whole)


class SubscribingServer(SingleSubscriptions.Server, CombinedSubscription.Server, Protocol):
    """The requests about subscriptions that a connection supports."""

    @property
    def subscribes(self) -> bool:
        """Whether the server offers subscriptions to resources."""
        ...

    @property
    def modern(self) -> bool: ...


class Watching:
    """The subscriptions at one server. `keep` runs once for each connection, for as long as it lasts."""

    def __init__(
        self, clock: Clock, seconds: float, pauses: Callable[[], Backoff], steady: float, tell: Callable[[str], None]
    ) -> None:
        """`seconds` is how long an answer may take. `pauses` come before a refused subscription is requested again, and
        begin anew after `steady` seconds without a refusal."""
        self._clock = clock
        self._seconds = seconds
        self._pauses = pauses
        self._steady = steady
        self._wishes = Wishes(tell)
        self._pacing = Pacing(clock, tell)
        self._keeper: SingleSubscriptions | CombinedSubscription | None = None
        self._offered = True

    async def add(self, uri: str, holder: object) -> None:
        """Subscribe a holder, and return once the server agrees. Raises ServerError, TransportEnded or TimeoutError."""
        self._check(uri)
        agreed = False
        try:
            with anyio.fail_after(self._seconds):
                await self._wishes.add(uri, holder).wait()
            agreed = True
        finally:
            # Also if the caller is cancelled: nobody would ever drop a subscription without a holder.
            if not agreed:
                self.drop(uri, holder)

    def drop(self, uri: str, holder: object) -> None:
        """Unsubscribe a holder; nothing happens if it was not subscribed."""
        self._wishes.drop(uri, holder)

    def take_update(self, uri: object) -> None:
        """Pass on that a resource has changed, as the server reports."""
        # The server chooses this text: a huge one, or one that cannot be encoded, must not reach a client.
        if not isinstance(uri, str) or len(uri) > LONGEST_URI or _HALF.search(uri):
            return
        if (whole := self._wishes.covering(uri)) is not None:
            self._pacing.take(uri, whole)

    async def keep(
        self, server: SubscribingServer, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Make the subscriptions at this server match the wishes, until cancelled."""
        self._offered = server.subscribes
        self._keeper = (CombinedSubscription if server.modern else SingleSubscriptions)(
            server, self._wishes, self._seconds
        )
        try:
            task_status.started()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._pacing.run, name="what a server told too fast")
                if self._offered:
                    self._wishes.ask_again()
                    tasks.start_soon(self._ask_again, name="what a server refused")
                    await self._keeper.run()
        finally:
            self._keeper = None
            for uri in tuple(self._wishes):
                self._wishes.note_refused(uri, TransportEnded("the connection to the server ended"))

    def _check(self, uri: str) -> None:
        if self._keeper is None:
            raise TransportEnded("the server is not connected")
        if not self._offered:
            raise _refusal(METHOD_NOT_FOUND, "the server does not support resource subscriptions")
        if uri not in self._wishes and max(len(self._wishes), self._keeper.busy) >= MOST:
            # Each wish costs memory here and a request at the server, on every new connection.
            raise _refusal(DENIED, "too many subscriptions to resources of this server")

    async def _ask_again(self) -> None:
        pauses, began = self._pauses(), self._clock.monotonic()
        while True:
            await self._wishes.failures()
            if self._clock.monotonic() - began >= self._steady:
                pauses.reset()
            await self._clock.sleep(pauses.next())
            began = self._clock.monotonic()
            if not self._wishes.ask_again():
                pauses.reset()


def _refusal(code: int, sentence: str) -> ServerError:
    return ServerError({"code": code, "message": sentence})
