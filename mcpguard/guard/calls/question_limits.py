"""Where all that servers ask of clients passes: how much of it waits at once, and that it ends with the guard."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from mcpguard.domain.asks import Declined
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.kept_bodies import KeptBodies
from mcpguard.ledger.ledger import Ledger
from mcpguard.settings.model import AskingSettings as Limits


class QuestionLimits:
    """One for all calls."""

    def __init__(self, ledger: Ledger, bodies: KeptBodies, limits: Limits) -> None:
        self.ledger = ledger
        self.bodies = bodies
        self.limits = limits
        self._waiting: Counter[str] = Counter()
        self._scopes: set[anyio.CancelScope] = set()
        self._unanswered = Reason.CLIENT_UNANSWERED

    @contextmanager
    def patience(self, caller: str) -> Iterator[None]:
        """A caller is asked something in the block. Raises Declined when that takes too long, or cannot be."""
        if self._unanswered is Reason.GUARD_STOPPING:
            raise Declined(self._unanswered)
        if self._waiting[caller] >= self.limits.waiting:
            raise Declined(Reason.UPSTREAM_REQUEST_EXCESSIVE)
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
            raise Declined(self._unanswered)

    def close(self) -> None:
        """Nobody is asked any more, and nobody waits for an answer."""
        self._unanswered = Reason.GUARD_STOPPING
        for scope in self._scopes:
            scope.cancel()
