"""A call in progress at a server: its client, its timeout, and the questions that the server asks during it.

Rules kept here:
1. While the client is being asked, the call's timeout is paused and its slot is free for other calls: a user may take
   longer to answer than any server.
2. Questions that belong to a call end with the call.
"""

import math
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from mcpguard.domain.asks import Answers, Asks, QuestionDeclined
from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.errors import GuardError
from mcpguard.domain.reasons import Reason
from mcpguard.upstreams.protocol.call_slots import CallSlots


class Overdue(GuardError):
    """The server did not answer in time; whether the call was executed is unknown."""


class InFlight:
    """A call in progress. Its random `token` identifies it in the server's progress messages; none can be guessed."""

    def __init__(self, counterpart: Counterpart, seconds: float, turns: CallSlots) -> None:
        self.counterpart = counterpart
        self.token = secrets.token_urlsafe(12)
        self.limit = anyio.CancelScope(deadline=anyio.current_time() + seconds)
        self._left = seconds
        self._turns = turns
        self._asked: set[anyio.CancelScope] = set()
        self._over = False
        self._aside = False

    async def ask(self, asks: Asks) -> Answers:
        """Ask the client and return its answers. Raises QuestionDeclined, also when the call ends first."""
        if not self._over:
            with self._set_aside(), anyio.CancelScope() as scope:
                self._asked.add(scope)
                try:
                    return await self.counterpart.ask(asks)
                finally:
                    self._asked.discard(scope)
        raise QuestionDeclined(Reason.CLIENT_UNANSWERED)

    def end(self) -> None:
        self._over = True
        # A question must not outlive its call: a user would be asked for nothing.
        for scope in self._asked:
            scope.cancel()

    @contextmanager
    def _set_aside(self) -> Iterator[None]:
        if not self._asked:
            # Only for the first of several questions at once: the time that is left must not be counted twice.
            self._left = self.limit.deadline - anyio.current_time()
            self.limit.deadline = math.inf
            self._aside = self._turns.step_aside()
        try:
            yield
        finally:
            if not self._asked:
                self.limit.deadline = anyio.current_time() + self._left
                if self._aside:
                    self._turns.come_back()
