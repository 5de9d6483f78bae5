"""Limits on the questions of servers to clients: how many wait at once and for how long; all end with the guard."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from mcpguard.domain.asks import QuestionDeclined
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.kept_bodies import KeptBodies
from mcpguard.ledger.ledger import Ledger
from mcpguard.settings.call_groups import AskingSettings


class QuestionLimits:
    """Bounds the questions of all calls together; there is one for the whole guard."""

    def __init__(self, ledger: Ledger, bodies: KeptBodies, limits: AskingSettings) -> None:
        self.ledger = ledger
        self.bodies = bodies
        self.limits = limits
        self._waiting: Counter[str] = Counter()
        self._scopes: set[anyio.CancelScope] = set()
        self._unanswered = Reason.CLIENT_UNANSWERED

    @contextmanager
    def asking(self, caller: str) -> Iterator[None]:
        """Bound the time in which a caller answers. Raises QuestionDeclined when that runs out, or too many questions
        wait.
        """
        if self._unanswered is Reason.GUARD_STOPPING:
            raise QuestionDeclined(self._unanswered)
        if self._waiting[caller] >= self.limits.waiting:
            raise QuestionDeclined(Reason.UPSTREAM_REQUEST_EXCESSIVE)
        # Counted by caller, not by call: a server must not tie a client up by asking through many calls.
        self._waiting[caller] += 1
        scope = anyio.move_on_after(self.limits.answer_seconds)
        self._scopes.add(scope)
        try:
            with scope:
                yield
        finally:
            self._scopes.discard(scope)
            self._waiting -= Counter((caller,))
        if scope.cancelled_caught:
            raise QuestionDeclined(self._unanswered)

    def close(self) -> None:
        """End all waiting, and decline every further question."""
        self._unanswered = Reason.GUARD_STOPPING
        for scope in self._scopes:
            scope.cancel()
