"""Who gives up a place when more connections come than there may be.

Rules kept here:
1. A newcomer is let in, and whoever has kept a place for longest without asking anything whole gives it up: first those
   of whom no request is under way, then those whose body has not come.
2. Whoever has asked something whole keeps the place until it is answered.
"""

from collections.abc import Callable


class Places:
    """The places of one listener."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: dict[object, Callable[[], None]] = {}
        self._silent: dict[object, None] = {}
        self._without_body: dict[object, None] = {}

    def take(self, who: object, give_up: Callable[[], None]) -> None:
        """Somebody has come. `give_up` is called when the place is needed for another."""
        if len(self._taken) >= self._most:
            self._make_room()
        self._taken[who] = give_up
        self._silent[who] = None

    def head_came(self, who: object) -> None:
        """A request has begun, whose body is still to come."""
        if who in self._silent:
            del self._silent[who]
            self.waits_for_body(who)

    def waits_for_body(self, who: object) -> None:
        """All requests before this one are answered."""
        if who in self._taken:
            self._without_body[who] = None

    def body_came(self, who: object) -> None:
        """The request is whole."""
        self._without_body.pop(who, None)

    def answered(self, who: object) -> None:
        """No request is under way any more. Without its body, it goes on being one whose body has not come."""
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
