"""A call that a server is working on: whose it is, how long it may take, and what is asked meanwhile.

Rules kept here:
1. While the client is asked something, the server's time does not run and its place is free for others: a person may
   need longer than any server.
2. What is asked on a call's account ends with the call.
"""

import math
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from mcpguard.domain.asks import Answers, Asks, Declined
from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.errors import GuardError
from mcpguard.domain.reasons import Reason
from mcpguard.upstreams.protocol.call_slots import CallSlots


class Overdue(GuardError):
    """The server did not answer in time; what it did is unknown."""


class InFlight:
    """Such a call. `token` is what the server names in its progress; no server can guess another call's."""

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
        """What the client answers. Raises Declined, also when the call ends first."""
        if not self._over:
            with self._set_aside(), anyio.CancelScope() as scope:
                self._asked.add(scope)
                try:
                    return await self.counterpart.ask(asks)
                finally:
                    self._asked.discard(scope)
        raise Declined(Reason.CLIENT_UNANSWERED)

    def end(self) -> None:
        self._over = True
        for scope in self._asked:
            scope.cancel()

    @contextmanager
    def _set_aside(self) -> Iterator[None]:
        if not self._asked:
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
