"""Translates a filter into conditions: what a record must say, and which blocks of records may have such ones. No index
tells where a text is.

`*` and `?` use the database's own operator: LIKE in PostgreSQL, and GLOB in SQLite, whose LIKE ignores case.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_ as both
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, false, func, not_, or_, select

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.store.rows.tables import ONCE, OTHERWISE, callers, records
from mcpguard.store.search.search_index import BLOCK, FIELDS, Fits, blocks_at, blocks_with, edge
from mcpguard.store.search.text_conditions import says

Condition = ColumnElement[bool]
Range = tuple[int, int]
"""The first and the last of some numbers."""
_OF_KIND: Final = {
    FilterKey.TOOL: CapabilityKind.TOOL,
    FilterKey.RESOURCE: CapabilityKind.RESOURCE,
    FilterKey.TEMPLATE: CapabilityKind.TEMPLATE,
    FilterKey.PROMPT: CapabilityKind.PROMPT,
}
_BEST: Final = tuple(
    map(
        FilterKey,
        (
            *("call", "parent", "reason", "actor", "caller", "tool", "resource", "template", "prompt", "name"),
            *("server", "outcome", "verdict", "kind", "effect", "text"),
        ),
    )
)
"""Keys in the order of how few blocks they usually leave."""
GAP: Final = 4
"""As many blocks in between are read with those on both sides: it takes no longer than another query."""

FEW: Final = 200
"""So many blocks are looked up one by one."""


class Conditions:
    """The conditions of a filter for the records of a chain."""

    def __init__(self, connection: Connection, chain: str, wanted: Filter) -> None:
        self._connection = connection
        self._chain = chain
        self._wanted = wanted
        self._edge = edge(connection, chain)
        self._numbers: dict[FilterTerm, Sequence[int]] = {}
        self._ways: dict[FilterTerm, Sequence[Mapping[str, Fits]]] = {}
        self._left_by: dict[FilterTerm, int] = {}
        self._texts = [term for term in wanted.terms if term.key is FilterKey.TEXT]
        self._indexed = any(not term.without and term.key is not FilterKey.TEXT for term in wanted.terms)
        for term in sorted(wanted.terms, key=lambda term: _BEST.index(term.key)):
            if term.key is FilterKey.CALL:
                self._numbers[term] = [seq for value in term.values for seq in numbers_of_call(connection, value)]
            elif term.key is not FilterKey.TEXT:
                self._ways[term] = [way for value in term.values for way in self._fits(term.key, value)]

    def every(self) -> Iterator[Condition]:
        """Yield the conditions that all hold for a record that matches."""
        yield records.c.chain == self._chain
        yield from times(self._wanted)
        for term, numbers in self._numbers.items():
            yield _as_wanted(term, records.c.seq.in_(numbers))
        for term, ways in self._ways.items():
            fits = (and_(*(way[name](records.c[name]) for name in way)) for way in ways)
            yield _as_wanted(term, or_(false(), *fits))
        for term in self._texts:
            yield _as_wanted(term, or_(*(says(self._connection.dialect.name, value) for value in term.values)))

    @property
    def reads_texts(self) -> bool:
        """Whether the content of records is read, which takes much longer than comparing columns."""
        return bool(self._texts)

    @property
    def reads_all(self) -> bool:
        """Whether there are terms, but no index tells where they can match, so that every record is compared."""
        return bool(self._wanted.terms) and not self._indexed

    def span(self) -> Range | None:
        """Return the lowest and the highest number that can match by its time; None if none can."""
        ends = (func.min(records.c.seq), func.max(records.c.seq))
        # One query for each: a database then finds them in the index without reading all rows.
        mine = records.c.chain == self._chain
        low, high = (self._connection.scalar(select(end).where(mine)) for end in ends)
        since, until = self._wanted.since, self._wanted.until
        if low is None or (since is None and until is None):
            return None if low is None else (low, high)
        blocks = blocks_at(self._connection, self._chain, since, until)
        first = self._edge if blocks is None else blocks[0] * BLOCK
        # What is not indexed may have any time.
        last = high if high >= self._edge or blocks is None else blocks[1] * BLOCK + BLOCK - 1
        low, high = (low if low < 0 else max(low, first)), min(high, last)
        return (low, high) if low <= high else None

    def ranges(self, first: int, last: int) -> list[Range]:
        """Return the ranges of these numbers in which records can match, in order."""
        if not self._indexed:
            return [(first, last)]
        found = []
        if first < 0:  # not written by mcpguard, and so not indexed
            found.append((first, min(last, -1)))
        if max(first, 0) <= min(last, self._edge - 1):
            indexed = max(first, 0), min(last, self._edge - 1)
            blocks = self._blocks(indexed[0] // BLOCK, indexed[1] // BLOCK)
            found += ((max(low, indexed[0]), min(high, indexed[1])) for low, high in _runs(sorted(blocks)))
        if last >= self._edge:
            found.append((max(first, self._edge), last))
        return found

    def _blocks(self, first: int, last: int) -> set[int]:
        """Return those of these blocks in which a record can match every term."""
        left: Collection[int] = range(first, last + 1)
        for term, numbers in self._numbers.items():
            if not term.without:
                left = {seq // BLOCK for seq in numbers}.intersection(left)
        wanted = [term for term in self._ways if not term.without]
        # The first blocks show which terms leave few; in all others these come first, and often nothing else is asked.
        for term in sorted(wanted, key=lambda term: self._left_by.get(term, 0)):
            if not left:
                break
            only = left if term in self._left_by and len(left) <= FEW else None
            its = set[int]().union(*(self._blocks_of(way, first, last, only) for way in self._ways[term]))
            self._left_by.setdefault(term, len(its))
            left = its.intersection(left)
        return {*left}

    def _blocks_of(self, way: Mapping[str, Fits], first: int, last: int, only: Collection[int] | None) -> set[int]:
        named = [name for name in way if name in FIELDS]
        found = (blocks_with(self._connection, self._chain, name, way[name], (first, last), only) for name in named)
        return reduce(both, found)

    def _fits(self, key: FilterKey, value: str) -> list[Mapping[str, Fits]]:
        """Return the ways in which a record can match a value: for each the columns that must fit."""
        fits = self._like(value)
        match key:
            case FilterKey.TOOL | FilterKey.RESOURCE | FilterKey.TEMPLATE | FilterKey.PROMPT:
                of_kind = _OF_KIND[key].value
                return [{"capability": lambda column: column == of_kind, **way} for way in self._name(value)]
            case FilterKey.NAME:
                return self._name(value)
            case FilterKey.CALLER:
                return self._caller(value)
            case FilterKey.ACTOR:
                in_brackets = self._like(f"* ({value})")
                return [{"by": lambda column: or_(fits(column), in_brackets(column))}, *self._caller(value)]
            case _:
                return [{key.value: fits}]

    def _name(self, value: str) -> list[Mapping[str, Fits]]:
        """Match the name alone, or after the name of its server."""
        server, _, name = value.partition(":")
        alone: list[Mapping[str, Fits]] = [{"name": self._like(value)}]
        return [*alone, {"server": self._like(server), "name": self._like(name)}] if name else alone

    def _caller(self, value: str) -> list[Mapping[str, Fits]]:
        """Match the id, or a present or former label."""
        labelled = select(callers.c.id).where(self._like(value)(callers.c.label))
        ids = [*self._connection.scalars(labelled)]
        return [{"caller": self._like(value)}, *({"caller": _equal(id_)} for id_ in ids)]

    def _like(self, value: str) -> Fits:
        if not ("*" in value or "?" in value):
            return _equal(value)
        if self._connection.dialect.name == "sqlite":
            pattern = value.replace("[", "[[]")
            return lambda column: column.bool_op("GLOB")(pattern)
        for plain, escaped in (("\\", "\\\\"), ("%", "\\%"), ("_", "\\_"), ("*", "%"), ("?", "_")):
            value = value.replace(plain, escaped)
        return lambda column: column.like(value, escape="\\")


def times(wanted: Filter) -> Iterator[Condition]:
    """Yield the conditions for the time of a record."""
    if wanted.since is not None:
        yield records.c.at >= wanted.since
    if wanted.until is not None:
        yield records.c.at < wanted.until


def numbers_of_call(connection: Connection, entry: str) -> list[int]:
    """Return the numbers of a call's records. There are two queries, because each half has an index of its own."""
    mine = select(records.c.seq).where(records.c.entry == entry)
    return [seq for half in (ONCE, OTHERWISE) for seq in connection.scalars(mine.where(half))]


def _equal(value: str) -> Fits:
    return lambda column: column == value


def _as_wanted(term: FilterTerm, fits: Condition) -> Condition:
    return not_(func.coalesce(fits, False)) if term.without else fits


def _runs(blocks: Sequence[int]) -> Iterator[Range]:
    """Yield the numbers of blocks that follow each other, or nearly do."""
    first: int | None = None
    last = 0
    for block in blocks:
        if first is not None and block > last + 1 + GAP:
            yield first * BLOCK, last * BLOCK + BLOCK - 1
            first = None
        first, last = (block if first is None else first), block
    if first is not None:
        yield first * BLOCK, last * BLOCK + BLOCK - 1
