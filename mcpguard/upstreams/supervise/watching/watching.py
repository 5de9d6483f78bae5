"""The resources of one server that somebody wants to hear of: wanted on the one hand, running on the other.

Rules kept here:
1. What is wanted outlives connections. On each the server is asked for all of it, and once for each resource, however
   many want it.
2. Whoever begins waits until the server has agreed, and hears if it does not. What was agreed to once and is refused
   later is asked for again, after a pause that grows.
3. Only what is wanted, or is a part of it, goes up; no server can say more than so much of it in a second.
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
from mcpguard.upstreams.supervise.watching.each import Each
from mcpguard.upstreams.supervise.watching.pacing import Pacing
from mcpguard.upstreams.supervise.watching.union import Union
from mcpguard.upstreams.supervise.watching.wishes import Wishes

MOST = 1000
LONGEST_URI = 8192
_HALF = re.compile("[\ud800-\udfff]")


class Watched(Each.Server, Union.Server, Protocol):
    """What a connection is asked."""

    @property
    def subscribes(self) -> bool:
        """Whether the server offers to tell of changes to a resource."""
        ...

    @property
    def modern(self) -> bool: ...


class Watching:
    """What is watched of one server. `keep` runs once for each connection, for as long as it lasts."""

    def __init__(
        self, clock: Clock, seconds: float, pauses: Callable[[], Backoff], steady: float, tell: Callable[[str], None]
    ) -> None:
        """`seconds` is the time that an answer may take; `pauses` are those before what was refused is asked again, and
        begin anew when nothing was for `steady` seconds."""
        self._clock = clock
        self._seconds = seconds
        self._pauses = pauses
        self._steady = steady
        self._wishes = Wishes(tell)
        self._pacing = Pacing(clock, tell)
        self._keeper: Each | Union | None = None
        self._offered = True

    async def add(self, uri: str, holder: object) -> None:
        """Returns when the server tells of it. Raises ServerError, TransportEnded or TimeoutError and holds nothing."""
        self._check(uri)
        agreed = False
        try:
            with anyio.fail_after(self._seconds):
                await self._wishes.add(uri, holder).agreed()
            agreed = True
        finally:
            if not agreed:
                self.drop(uri, holder)

    def drop(self, uri: str, holder: object) -> None:
        """It does not want to hear any more; nothing comes of it where it did not."""
        self._wishes.drop(uri, holder)

    def heard(self, uri: object) -> None:
        """The server says that this has changed."""
        if not isinstance(uri, str) or len(uri) > LONGEST_URI or _HALF.search(uri):
            return
        if (whole := self._wishes.covering(uri)) is not None:
            self._pacing.take(uri, whole)

    async def keep(self, server: Watched, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Let what runs at this server be what is wanted, until cancelled."""
        self._offered = server.subscribes
        self._keeper = (Union if server.modern else Each)(server, self._wishes, self._seconds)
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
                self._wishes.refused(uri, TransportEnded("the connection to the server ended"))

    def _check(self, uri: str) -> None:
        if self._keeper is None:
            raise TransportEnded("there is no connection to the server")
        if not self._offered:
            raise _refusal(METHOD_NOT_FOUND, "the server does not offer subscriptions to its resources")
        if uri not in self._wishes and max(len(self._wishes), self._keeper.busy) >= MOST:
            raise _refusal(DENIED, "too many resources of this server are subscribed to")

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
