"""Slows down repeated sign-in attempts, by the name that is tried and by the address that they come from.

Rules kept here:
1. An attempt counts when it begins, so that parallel attempts are as slow as consecutive ones; a success is forgiven.
2. Existing and unknown names are treated alike. All texts that cannot be a name count as one name.
3. Memory is bounded; when it is full, the entries with the fewest attempts are dropped.
"""

from dataclasses import dataclass
from heapq import nsmallest
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from typing import Final

from mcpguard.domain.clock import Clock
from mcpguard.domain.people import NAME, TooManyTries

FREE_BY_NAME: Final = 5
FREE_BY_PEER: Final = 20
LONGEST_SECONDS: Final = 300.0
FORGOTTEN_SECONDS: Final = 3600.0
MOST_REMEMBERED: Final = 10_000
Key = tuple[str, str]


@dataclass(slots=True)
class _Tries:
    count: int = 0
    last: float = 0.0

    def next_allowed(self, free: int) -> float:
        """When the next try may begin."""
        if self.count < free:
            return self.last
        return self.last + min(2.0 ** min(self.count - free, 30), LONGEST_SECONDS)


class Throttle:
    """Counts tries that have failed, and those that have not ended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries: dict[Key, _Tries] = {}

    def __len__(self) -> int:
        return len(self._tries)

    def begin(self, name: str, peer: str) -> None:
        """Begin a try. Raises TooManyTries where it may not begin; then it does not count."""
        now = self._clock.monotonic()
        keys = _keys(name, peer)
        wait = max(self._wait(key, free, now) for key, free in keys)
        if wait > 0:
            raise TooManyTries(ceil(wait))
        # Counted before the password is verified: many tries at once must not all see the same count.
        for key, _ in keys:
            tries = self._tries.get(key)
            if tries is None:
                self._make_room(now)
                tries = self._tries[key] = _Tries()
            tries.count += 1
            tries.last = now

    def forgive_success(self, name: str, peer: str) -> None:
        """Forgive a name whose owner has signed in; for the address, only this try is taken back."""
        (mine, _), (theirs, _) = _keys(name, peer)
        self._tries.pop(mine, None)
        self._take_back(theirs)

    def withdraw_try(self, name: str, peer: str) -> None:
        """Take a try back for which no password was verified."""
        for key, _ in _keys(name, peer):
            self._take_back(key)

    def forgive(self, name: str) -> None:
        """Forget the tries for a name, after an admin has set another password."""
        self._tries.pop(("name", name), None)

    def _take_back(self, key: Key) -> None:
        tries = self._tries.get(key)
        if tries is not None:
            tries.count -= 1
            if tries.count <= 0:
                del self._tries[key]

    def _wait(self, key: Key, free: int, now: float) -> float:
        tries = self._tries.get(key)
        if tries is None:
            return 0.0
        if now - tries.last >= FORGOTTEN_SECONDS:
            del self._tries[key]
            return 0.0
        return tries.next_allowed(free) - now

    def _make_room(self, now: float) -> None:
        if len(self._tries) < MOST_REMEMBERED:
            return
        old = [key for key, tries in self._tries.items() if now - tries.last >= FORGOTTEN_SECONDS]
        for key in old or nsmallest(MOST_REMEMBERED // 16, self._tries, key=self._weight):
            del self._tries[key]

    def _weight(self, key: Key) -> tuple[int, float]:
        return self._tries[key].count, self._tries[key].last


def _keys(name: str, peer: str) -> tuple[tuple[Key, int], tuple[Key, int]]:
    known = name if NAME.fullmatch(name) else ""
    return (("name", known), FREE_BY_NAME), (("peer", _network(peer)), FREE_BY_PEER)


def _network(peer: str) -> str:
    """The source of a try: an address, or for IPv6 the network of one subscriber."""
    try:
        address = ip_address(peer)
    except ValueError:
        return ""
    # One subscriber has a whole network of IPv6 addresses, and could try from each.
    if isinstance(address, IPv6Address):
        return str(ip_network((address, 64), strict=False))
    return str(address)
