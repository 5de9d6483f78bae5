"""The calls in progress at one server: how many there may be, how many may queue, and what belongs to each of them.

Rules kept here:
1. A call without a free slot waits in a queue of bounded length, and is served in turn.
2. While the client is being asked, the call's timeout is paused and its slot is free for other calls: a user may take
   longer to answer than any server.
3. Questions that belong to a call end with the call.
"""

import asyncio
import math
import secrets
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType

import anyio

from mcpguard.domain.asks import Answers, Asks, QuestionDeclined
from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.errors import GuardError
from mcpguard.domain.reasons import Reason


class Busy(GuardError):
    """Too many calls are waiting for the server already."""


class Overdue(GuardError):
    """The server did not answer in time; whether the call was executed is unknown."""


class CallSlots:
    """The slots of a server. A call without a free slot waits in a queue of bounded length, or raises Busy.

    `async with slots:` takes a slot.
    """

    def __init__(self, places: int, line: int) -> None:
        self.taken = 0
        self.places = places
        self._longest = line
        self._line: deque[anyio.Event] = deque()

    def limit(self, places: int) -> None:
        """Change the number of slots. Calls in progress keep theirs, also beyond the new number."""
        self.places = places
        self._call_in()

    def take_free(self) -> bool:
        """Take a slot, if one is free now. Returns whether it was."""
        # In turn: a call that comes now must not overtake those that wait.
        if self.taken >= self.places or self._line:
            return False
        self.taken += 1
        return True

    def give_back(self) -> None:
        self.taken -= 1
        if self._line:
            self._call_in()

    async def __aenter__(self) -> None:
        if self.take_free():
            return
        if len(self._line) >= self._longest:
            raise Busy(f"{len(self._line)} calls are waiting for this server already; retry later")
        called = anyio.Event()
        # Bounded above, or a slow server would collect waiting calls, with their arguments, without end.
        self._line.append(called)
        came = False
        try:
            await called.wait()
            came = True
        finally:
            if not came:
                self._leave(called)

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.give_back()

    def send_away(self) -> None:
        """Wake every waiting call at once, so that it can take a slot at another connection."""
        while self._line:
            self.taken += 1
            self._line.popleft().set()

    def step_aside(self) -> bool:
        """Give up a slot for a while; if this returns true, `come_back` has to be called later.

        The only slot of a server stays taken: whatever the server asks meanwhile must belong to this call alone, or one
        client could be asked on another one's account.
        """
        if self.places == 1:
            return False
        self.give_back()
        return True

    def come_back(self) -> None:
        """Take the slot again at once, even if that makes one too many for a while."""
        self.taken += 1

    def _leave(self, called: anyio.Event) -> None:
        if called.is_set():
            # Cancelled just when its turn came: the slot is taken already, and would be lost for ever.
            self.give_back()
        else:
            self._line.remove(called)

    def _call_in(self) -> None:
        while self._line and self.taken < self.places:
            self.taken += 1
            self._line.popleft().set()


class InFlight(AbstractContextManager["InFlight"]):
    """A call in progress, from now until the end of its `with` block, which is left with Overdue when its time is over.

    `among` holds the calls in progress on its connection. A client that wants progress is known to the server by a
    random `token`; none can be guessed.
    """

    def __init__(
        self, counterpart: Counterpart, seconds: float, turns: CallSlots, among: "dict[object, InFlight]"
    ) -> None:
        self.counterpart = counterpart
        self.token = secrets.token_urlsafe(12) if counterpart.wants_progress else ""
        self.key: object = self.token or self
        self.is_over = False
        self._left = seconds
        self._turns = turns
        self._among = among
        self._asked: set[anyio.CancelScope] = set()
        self._ended: anyio.Event | None = None
        self._aside = False
        self._overdue = False
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - calls are made by tasks
        self._task, self._cancelling = task, task.cancelling()
        among[self.key] = self
        # The loop keeps one heap of all deadlines. A cancel scope for each call would cost ten times as much.
        self._loop = loop = task.get_loop()
        self.deadline = loop.time() + seconds
        self._timer = loop.call_at(self.deadline, self._expire)

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        del self._among[self.key]
        self.is_over = True
        if self._asked or self._ended is not None:
            self._end()
        # Somebody else may have cancelled the task at the same time: that is not the server's delay.
        if self._overdue and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise Overdue

    async def wait_until_over(self) -> None:
        """Return once the call is over."""
        if not self.is_over:
            self._ended = self._ended or anyio.Event()
            await self._ended.wait()

    async def ask(self, asks: Asks) -> Answers:
        """Ask the client and return its answers. Raises QuestionDeclined, also when the call ends first."""
        if not self.is_over:
            with self._set_aside(), anyio.CancelScope() as scope:
                self._asked.add(scope)
                try:
                    return await self.counterpart.ask(asks)
                finally:
                    self._asked.discard(scope)
        raise QuestionDeclined(Reason.CLIENT_UNANSWERED)

    def _expire(self) -> None:
        self._overdue = True
        self._task.cancel()

    def _end(self) -> None:
        # A question must not outlive its call: a user would be asked for nothing.
        for scope in self._asked:
            scope.cancel()
        if self._ended is not None:
            self._ended.set()

    @contextmanager
    def _set_aside(self) -> Iterator[None]:
        if not self._asked:
            # Only for the first of several questions at once: the time that is left must not be counted twice.
            self._timer.cancel()
            self._left = self.deadline - self._loop.time()
            self.deadline = math.inf
            self._aside = self._turns.step_aside()
        try:
            yield
        finally:
            if not self._asked:
                if self._aside:
                    self._turns.come_back()
                if not self.is_over:
                    self.deadline = self._loop.time() + self._left
                    self._timer = self._loop.call_at(self.deadline, self._expire)
