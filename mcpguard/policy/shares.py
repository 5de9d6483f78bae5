"""How much may be under way at once: of one, and of all together.

Rules kept here:
1. Whoever has a whole share under way gets no more before some of it is over. Nobody does while all places are taken.
2. Asking for a place and taking it are one moment. What is under way never loses its place to anybody else.
"""

from types import TracebackType

from mcpguard.domain.errors import GuardError


class Crowded(GuardError):
    """There is no place for one more. `own`: because of what the same one has under way already."""

    def __init__(self, *, own: bool) -> None:
        super().__init__("a share is full" if own else "every place is taken")
        self.own = own


class Shares:
    """The places that there are, and who has how many of them."""

    def __init__(self, of_one: int, of_all: int) -> None:
        self.of_one = of_one
        self._of_all = of_all
        self._of: dict[str, int] = {}
        self.taken = 0

    def take(self, who: str) -> "SharePlace":
        """A place until the block is left that it is used for. Raises Crowded."""
        if self._of.get(who, 0) >= self.of_one:
            raise Crowded(own=True)
        if self.taken >= self._of_all:
            raise Crowded(own=False)
        self._of[who] = self._of.get(who, 0) + 1
        self.taken += 1
        return SharePlace(self, who)

    def give_back(self, who: str) -> None:
        """One place less is taken."""
        self.taken -= 1
        self._of[who] -= 1
        if not self._of[who]:
            del self._of[who]


class SharePlace:
    """One place."""

    def __init__(self, shares: Shares, who: str) -> None:
        self._shares = shares
        self._who = who

    def __enter__(self) -> None:
        """It was taken already."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._shares.give_back(self._who)
