"""The selection of records to export: all, or those that match a filter.

It has one canonical text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from mcpguard.codec import filters
from mcpguard.domain.filters import ALL_RECORDS, Filter
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records
from mcpguard.store.search import record_search

TOGETHER: Final = 500
"""Records that are searched for at once."""


class SelectedRecord(Protocol):
    """What an export needs of a record. `content` is None if it was pruned."""

    @property
    def seq(self) -> int: ...
    @property
    def hash(self) -> bytes: ...
    @property
    def content(self) -> bytes | None: ...


class Selection(Protocol):
    """A choice of records of a chain, always the same ones."""

    @property
    def text(self) -> str:
        """The canonical text of the choice; empty for all records."""
        ...

    def walk(self, connection: Connection, chain: str, after: int, upto: int) -> Iterator[SelectedRecord]:
        """The chosen records after the number `after` and up to the number `upto`, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Fitting:
    """The records that match a filter. Pruned records match only the empty one."""

    filter: Filter = ALL_RECORDS

    @property
    def text(self) -> str:
        return filters.write(self.filter)

    def walk(self, connection: Connection, chain: str, after: int, upto: int) -> Iterator[SelectedRecord]:
        # Without a filter no index is needed, and pruned records are included.
        if self == EVERYTHING:
            return records.walk_bare(connection, chain, after, upto)
        return _found(connection, chain, self.filter, after, upto)


EVERYTHING: Final = Fitting()


def _found(connection: Connection, chain: str, wanted: Filter, after: int, upto: int) -> Iterator[SelectedRecord]:
    ended = False
    while not ended:
        page = record_search.search(
            connection, chain, wanted, start=after, limit=TOGETHER, newest_first=False, upto=upto
        )
        connection.rollback()  # between pages no transaction is open, which would delay writers
        yield from page.records
        after, ended = page.reached, page.ended
