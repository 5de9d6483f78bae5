"""Which records are exported: everything, or what fits a filter. What was chosen is told in one canonical text.

Whatever chooses is asked for the records of a span and says what it is; nothing else of it is known here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from mcpguard.codec import filters
from mcpguard.domain.filters import EVERYTHING as ALL
from mcpguard.domain.filters import Filter
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records, searching

TOGETHER: Final = 500
"""Records that are looked for at once."""


class SelectedRecord(Protocol):
    """What an export needs of a record. `content` is None where it was pruned."""

    @property
    def seq(self) -> int: ...
    @property
    def hash(self) -> bytes: ...
    @property
    def content(self) -> bytes | None: ...


class Selection(Protocol):
    """Some records of a chain, always the same ones."""

    @property
    def text(self) -> str:
        """What was chosen; empty for everything."""
        ...

    def walk(self, connection: Connection, chain: str, after: int, upto: int) -> Iterator[SelectedRecord]:
        """Those of them that follow the number `after`, to the number `upto`, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Fitting:
    """What fits a filter. What was pruned fits the empty one alone."""

    filter: Filter = ALL

    @property
    def text(self) -> str:
        return filters.write(self.filter)

    def walk(self, connection: Connection, chain: str, after: int, upto: int) -> Iterator[SelectedRecord]:
        if self == EVERYTHING:
            return records.walk_bare(connection, chain, after, upto)
        return _found(connection, chain, self.filter, after, upto)


EVERYTHING: Final = Fitting()


def _found(connection: Connection, chain: str, wanted: Filter, after: int, upto: int) -> Iterator[SelectedRecord]:
    ended = False
    while not ended:
        page = searching.search(connection, chain, wanted, start=after, limit=TOGETHER, newest_first=False, upto=upto)
        connection.rollback()  # as a walk does: nobody who writes is held up
        yield from page.records
        after, ended = page.reached, page.ended
