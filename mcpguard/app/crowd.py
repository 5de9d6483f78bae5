"""Chooses the connection to close when a listener has more than it allows.

Rules kept here:
1. A new connection is accepted, and the one that has been idle the longest is closed: first those without a request in
   progress, then those whose request body is incomplete. So nobody can lock others out by opening connections.
2. A connection with a complete request is kept until that request is answered.
"""

from collections.abc import Callable

Queue = dict[object, None]


class Places:
    """The connections of one listener. Each puts itself into one of the two queues, or into none, as its request goes
    on; it may be closed while it is in one.
    """

    def __init__(self, most: int) -> None:
        self.silent: Queue = {}
        """No request is in progress."""
        self.without_body: Queue = {}
        """All earlier requests are answered, and the body of this one is still to come."""
        self._most = most
        self._taken: dict[object, Callable[[], None]] = {}

    def take(self, who: object, give_up: Callable[[], None]) -> None:
        """Add a connection, which is silent. `give_up` is called when it has to make room for another."""
        if len(self._taken) >= self._most:
            self._make_room()
        self._taken[who] = give_up
        self.silent[who] = None

    def leave(self, who: object) -> None:
        self._taken.pop(who, None)
        for queue in (self.silent, self.without_body):
            queue.pop(who, None)

    def _make_room(self) -> None:
        for queue in (self.silent, self.without_body):
            for longest in queue:
                give_up = self._taken[longest]
                self.leave(longest)
                give_up()
                return
