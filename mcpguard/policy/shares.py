"""Limits on concurrent work: for each owner, and for all owners together.

Rules kept here:
1. An owner whose share is full gets no further place until it releases one. While all places are taken, nobody does.
2. Nothing waits between checking for a place and taking it. Work in progress never loses its place.
"""

from types import TracebackType

from mcpguard.domain.errors import GuardError


class Crowded(GuardError):
    """No place is free. `own`: because the owner's share is full."""

    def __init__(self, *, own: bool) -> None:
        super().__init__("a share is full" if own else "every place is taken")
        self.own = own


class Shares:
    """The places, and how many each owner has taken."""

    def __init__(self, of_one: int, of_all: int) -> None:
        self.of_one = of_one
        self._of_all = of_all
        self._of: dict[str, int] = {}
        self.taken = 0

    def take(self, owner: str) -> "SharePlace":
        """Take a place; it is released at the end of the `with` block. Raises Crowded."""
        self.begin(owner)
        return SharePlace(self, owner)

    def begin(self, owner: str) -> None:
        """Take a place, until it is released by `end`. Raises Crowded."""
        if self._of.get(owner, 0) >= self.of_one:
            raise Crowded(own=True)
        if self.taken >= self._of_all:
            raise Crowded(own=False)
        self._of[owner] = self._of.get(owner, 0) + 1
        self.taken += 1

    def end(self, owner: str) -> None:
        """Release a place of this owner."""
        self.taken -= 1
        self._of[owner] -= 1
        if not self._of[owner]:
            del self._of[owner]


class SharePlace:
    """One taken place, released at the end of a `with` block."""

    def __init__(self, shares: Shares, owner: str) -> None:
        self._shares = shares
        self._owner = owner

    def __enter__(self) -> None:
        """Do nothing: the place is taken already."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._shares.end(self._owner)
