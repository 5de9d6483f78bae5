"""Attributes server messages that name no request, on a stream that all requests share, to a request.

Rules kept here:
1. If exactly one request is in progress, the message belongs to it. With several or none, it is attributed to no
   request: the guard never guesses.
2. A cancelled request counts as in progress until the server answers it, because the server may still be working on it.
3. Requests that stay open (subscriptions) do not count: messages that belong to them name them.
"""

from typing import Final

from mcpguard.codec.messages import Id
from mcpguard.upstreams.exchange.conversation import Origin

MOST_CANCELLED: Final = 1000


class RequestOrigins:
    """Holds the origins of the requests in progress on one connection."""

    def __init__(self) -> None:
        self.origins: dict[Id, Origin | None] = {}
        """The origin of each request in progress. Subscriptions are not in it: they stay open for hours."""
        self._cancelled: set[Id] = set()
        self._lost_track = False

    @property
    def sole_origin(self) -> Origin | None:
        """The origin of the only request in progress; None where there are several, or where there is doubt."""
        if len(self.origins) != 1 or self.in_doubt:
            return None
        return next(iter(self.origins.values()))

    @property
    def in_doubt(self) -> bool:
        """Whether the server may still be working on a request that was cancelled."""
        return bool(self._cancelled) or self._lost_track

    def cancel(self, id_: Id) -> None:
        """Note that the caller no longer waits for this request. A request without an origin leaves no doubt behind."""
        if self.origins.get(id_) is None:
            return
        if len(self._cancelled) < MOST_CANCELLED:
            self._cancelled.add(id_)
        else:
            # Servers may leave a cancelled request unanswered for ever, so the set would grow without end. Beyond the
            # limit doubt lasts as long as the connection: less is attributed then, never more.
            self._lost_track = True

    def note_late_answer(self, id_: Id | None) -> None:
        """Note that the server has finished a request that was cancelled."""
        if id_ is not None:
            self._cancelled.discard(id_)
