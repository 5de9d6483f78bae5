"""Chooses the connection to close when a listener has more than it allows.

Rules kept here:
1. A new connection is accepted, and the one that has been idle the longest is closed: first those without a request in
   progress, then those whose request body is incomplete. So nobody can lock others out by opening connections.
2. A connection with a complete request is kept until that request is answered.
"""

from collections.abc import Callable
from enum import Enum


class Standing(Enum):
    """What a connection is doing. The first two may be closed to make room."""

    SILENT = "no request is in progress"
    WITHOUT_BODY = "all earlier requests are answered, and the body of this one is still to come"
    BUSY = "a complete request is in progress"


class Places:
    """The connections of one listener."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: dict[object, Callable[[], None]] = {}
        self._silent: dict[object, None] = {}
        self._without_body: dict[object, None] = {}

    def take(self, who: object, give_up: Callable[[], None]) -> None:
        """Add a connection, which is silent. `give_up` is called when it has to make room for another."""
        if len(self._taken) >= self._most:
            self._make_room()
        self._taken[who] = give_up
        self._silent[who] = None

    def move(self, who: object, standing: Standing) -> None:
        """Note what a connection is doing from now on."""
        if who in self._taken:
            self._silent.pop(who, None)
            self._without_body.pop(who, None)
            if standing is Standing.SILENT:
                self._silent[who] = None
            elif standing is Standing.WITHOUT_BODY:
                self._without_body[who] = None

    def leave(self, who: object) -> None:
        for each in (self._taken, self._silent, self._without_body):
            each.pop(who, None)

    def _make_room(self) -> None:
        for some in (self._silent, self._without_body):
            for longest in some:
                give_up = self._taken[longest]
                self.leave(longest)
                give_up()
                return
