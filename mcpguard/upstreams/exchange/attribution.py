"""For which of our requests a server speaks, where nothing says so: on a stream that all of them share.

Rules kept here:
1. With one request in progress it is that one. With several, or with none, it is nobody's; this is never a guess.
2. What was taken back counts as in progress until it is answered all the same: the server may still be at it.
3. Requests that stay open do not count: what is said on their account says so.
"""

from typing import Final

from mcpguard.codec.messages import Id
from mcpguard.upstreams.exchange.conversation import Origin, StandingRequest

MOST_TAKEN_BACK: Final = 1000


class Whose:
    """The requests of one connection that are in progress, each with its origin."""

    def __init__(self) -> None:
        self._origins: dict[Id, Origin | None] = {}
        self._taken_back: set[Id] = set()
        self._lost_track = False

    @property
    def only(self) -> Origin | None:
        """The origin of the one request in progress; None where it cannot be known."""
        if len(self._origins) != 1 or self.in_doubt:
            return None
        return next(iter(self._origins.values()))

    @property
    def in_doubt(self) -> bool:
        """Whether the server may still be at something that was taken back."""
        return bool(self._taken_back) or self._lost_track

    def begin(self, id_: Id, origin: Origin | None) -> None:
        if not isinstance(origin, StandingRequest):
            self._origins[id_] = origin

    def end(self, id_: Id) -> None:
        self._origins.pop(id_, None)

    def take_back(self, id_: Id) -> None:
        """Its caller does not wait for it any more. What was nobody's is nobody's still."""
        if self._origins.get(id_) is None:
            return
        if len(self._taken_back) < MOST_TAKEN_BACK:
            self._taken_back.add(id_)
        else:  # servers rightly leave unanswered what was taken back, and nothing is remembered without end
            self._lost_track = True

    def answered_late(self, id_: Id | None) -> None:
        """The server has come to an end with something that was taken back."""
        if id_ is not None:
            self._taken_back.discard(id_)
