"""Chooses the connection to close when a listener has more than it allows.

Rules kept here:
1. A new connection is accepted, and the one that has been idle the longest is closed: first those without a request in
   progress, then those whose request body is incomplete. So nobody can lock others out by opening connections.
2. A connection with a complete request is kept until that request is answered.
"""

from collections.abc import Callable


class Places:
    """The connections of one listener."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: dict[object, Callable[[], None]] = {}
        self._silent: dict[object, None] = {}
        self._without_body: dict[object, None] = {}

    def take(self, who: object, give_up: Callable[[], None]) -> None:
        """Add a connection. `give_up` is called when it has to make room for another."""
        if len(self._taken) >= self._most:
            self._make_room()
        self._taken[who] = give_up
        self._silent[who] = None

    def head_came(self, who: object) -> None:
        """Note that a request has begun, and its body is still to come."""
        if who in self._silent:
            del self._silent[who]
            self.waits_for_body(who)

    def waits_for_body(self, who: object) -> None:
        """Note that all earlier requests are answered, and this one's body is still to come."""
        if who in self._taken:
            self._without_body[who] = None

    def body_came(self, who: object) -> None:
        """Note that the request is complete."""
        self._without_body.pop(who, None)

    def requests_answered(self, who: object) -> None:
        """Note that no request is in progress any more. One without its whole body still counts as incomplete."""
        if who in self._taken and who not in self._without_body:
            self._silent[who] = None

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
