"""The servers that the guard knows, as they stand now: the memory that calls are judged from.

Only `standings` changes what is here, and the store has all of it but the listing.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import anyio

from mcpguard.catalog.shelf import Shelf, shelf
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import Key, Unknown
from mcpguard.domain.launches import Declared
from mcpguard.domain.listings import Listing
from mcpguard.domain.pins import Pin
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.domain.upstreams import Upstream


@dataclass(slots=True, eq=False)
class Known:
    """One server: where it and each of its capabilities stand, how it is declared, and what it listed last.

    `listing` is the one that `pins` were compared with last. Whoever changes anything of it holds the lock. `moved` is
    set, and made anew, whenever something has changed that a call may wait for.
    """

    upstream: Upstream
    declared: Declared
    pins: Mapping[Key, Pin] = field(default_factory=dict)
    listing: Listing | None = None
    listed_at: int | None = None
    odd: tuple[str, ...] = ()
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    moved: anyio.Event = field(default_factory=anyio.Event)

    @property
    def name(self) -> str:
        return self.upstream.name

    @property
    def enabled(self) -> bool:
        return self.upstream.enabled and self.declared.enabled

    @property
    def runs(self) -> bool:
        """Whether a person wants it to run as it is."""
        upstream = self.upstream
        return upstream.standing is UpstreamStanding.APPROVED and self.enabled and not upstream.removed

    def effect(self, kind: CapabilityKind, name: str) -> Effect | None:
        """Of what may be called now; None for everything else."""
        pin = self.pins.get((kind, name))
        return pin.effect if pin is not None and pin.callable else None

    def shelf(self) -> Shelf | None:
        """What agents may find of it. None where it does not run, or has listed nothing yet."""
        if not self.runs or self.listing is None:
            return None
        return shelf(self.name, self.listing, self.effect, self.upstream.prefixes)

    def announce(self) -> None:
        """Whoever waits for this server looks again."""
        self.moved.set()
        self.moved = anyio.Event()


class Registry:
    """All of them, by name; and those that were removed, whose names and launches are not forgotten."""

    def __init__(self) -> None:
        self._live: dict[str, Known] = {}
        self._tombstones: list[Upstream] = []

    def __iter__(self) -> Iterator[Known]:
        return iter(tuple(self._live[name] for name in sorted(self._live)))

    def find(self, name: str) -> Known | None:
        return self._live.get(name)

    def get(self, name: str) -> Known:
        """Raises Unknown."""
        known = self._live.get(name)
        if known is None:
            raise Unknown(f"there is no server {name}; mcpguard server list shows those that there are")
        return known

    def add(self, known: Known) -> None:
        self._live[known.name] = known

    def bury(self, known: Known) -> None:
        """It was removed."""
        self._live.pop(known.name, None)
        self._tombstones.append(known.upstream)

    def load(self, live: Iterable[Known], tombstones: Iterable[Upstream]) -> None:
        """What the store has."""
        self._live = {known.name: known for known in live}
        self._tombstones = list(tombstones)

    def ever(self) -> tuple[Upstream, ...]:
        """Every one that there is or was."""
        return (*(known.upstream for known in self._live.values()), *self._tombstones)
