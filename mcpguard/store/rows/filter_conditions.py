"""Translates a filter into SQL conditions.

`*` and `?` use the database's own operator: LIKE in PostgreSQL, and GLOB in SQLite, whose LIKE ignores case.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, TextClause, false, func, not_, or_, select, true

from mcpguard.codec.globs import matcher
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.filters import Filter, FilterKey
from mcpguard.store.rows.tables import NOT_ALLOWED, NOT_ANSWERED, NOT_READ, ONCE, OTHERWISE, callers, records

Condition = ColumnElement[bool]
_OF_KIND: Final = {
    FilterKey.TOOL: CapabilityKind.TOOL,
    FilterKey.RESOURCE: CapabilityKind.RESOURCE,
    FilterKey.TEMPLATE: CapabilityKind.TEMPLATE,
    FilterKey.PROMPT: CapabilityKind.PROMPT,
}
_LEFT_OUT: Final[Mapping[str, tuple[tuple[str, ...], TextClause]]] = {
    "kind": (("opened", "closed"), OTHERWISE),
    "verdict": (("allow",), NOT_ALLOWED),
    "outcome": (("answered",), NOT_ANSWERED),
    "effect": (("read",), NOT_READ),
}
"""Frequent values that the index of a column leaves out, and the condition of that partial index."""
_BEST: Final = tuple(
    map(
        FilterKey,
        (
            *("call", "reason", "actor", "caller", "tool", "resource", "template", "prompt", "name", "server"),
            *("outcome", "verdict", "kind", "effect"),
        ),
    )
)
"""Keys in the order of how few rows their index usually finds."""
MOST_WAYS: Final = 50
"""The maximum number of alternatives that are queried one by one."""


def times(wanted: Filter) -> Iterator[Condition]:
    """Yield the conditions for the time of a record."""
    if wanted.since is not None:
        yield records.c.at >= wanted.since
    if wanted.until is not None:
        yield records.c.at < wanted.until


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a filter: all of `every`, and one of `either`. The alternatives are queried one by one, so that
    each can use an index."""

    every: Sequence[Condition]
    either: Sequence[Condition]


def conditions(connection: Connection, chain: str, wanted: Filter) -> Conditions:
    """Return the conditions of a filter for this database."""
    every, either = [records.c.chain == chain, *times(wanted)], list[Condition]()
    fitting = _Fitting(connection, chain)
    for term in sorted(wanted.terms, key=lambda term: (term.without, _BEST.index(term.key))):
        ways = [way for value in term.values for way in fitting.ways(term.key, value)]
        any_of = or_(false(), *ways)
        if term.without:
            every.append(not_(func.coalesce(any_of, False)))
        elif either or len(ways) > MOST_WAYS:
            every.append(any_of)
        else:
            either = ways or [false()]
    return Conditions(every, either or [true()])


def numbers_of_call(connection: Connection, entry: str) -> list[int]:
    """Return the numbers of a call's records. There are two queries, because each half has an index of its own."""
    mine = select(records.c.seq).where(records.c.entry == entry)
    return [seq for half in (ONCE, OTHERWISE) for seq in connection.scalars(mine.where(half))]


class _Fitting:
    """Alternatives in which a record can match a value. Values such as labels of callers are looked up first."""

    def __init__(self, connection: Connection, chain: str) -> None:
        self._connection = connection
        self._chain = chain

    def ways(self, key: FilterKey, value: str) -> list[Condition]:  # noqa: PLR0911 - a line for each key
        match key:
            case FilterKey.TOOL | FilterKey.RESOURCE | FilterKey.TEMPLATE | FilterKey.PROMPT:
                return [(records.c.capability == _OF_KIND[key].value) & way for way in self._name(value)]
            case FilterKey.NAME:
                return self._name(value)
            case FilterKey.CALLER:
                return self._caller(value)
            case FilterKey.ACTOR:
                return [*self._few(records.c.by, value, in_brackets=True), *self._caller(value)]
            case FilterKey.CALL:
                return [records.c.seq == seq for seq in numbers_of_call(self._connection, value)]
            case FilterKey.SERVER | FilterKey.REASON:
                return self._few(records.c[key.value], value)
            case _:
                return [self._word(records.c[key.value], value)]

    def _word(self, column: ColumnElement[Any], value: str) -> Condition:
        """Return the condition, with that of the partial index where the value is in it."""
        left_out, index = _LEFT_OUT[column.key or ""]
        fits = self._like(column, value)
        return fits if _wild(value) or value in left_out else fits & index

    def _name(self, value: str) -> list[Condition]:
        """Match the name alone, or after the name of its server."""
        server, _, name = value.partition(":")
        alone = self._like(records.c.name, value)
        return [alone, self._like(records.c.server, server) & self._like(records.c.name, name)] if name else [alone]

    def _caller(self, value: str) -> list[Condition]:
        """Match the id, or a present or former label."""
        named = self._connection.scalars(select(callers.c.id).where(self._like(callers.c.label, value)))
        return [*self._few(records.c.caller, value), *(records.c.caller == id_ for id_ in named)]

    def _few(self, column: ColumnElement[Any], value: str, *, in_brackets: bool = False) -> list[Condition]:
        """Match a column with few different values; with `in_brackets`, also a name in brackets behind an id."""
        if not _wild(value) and not in_brackets:
            return [column == value]
        fits = matcher(value)
        return [
            column == value_found
            for value_found in self._different(column)
            if fits(value_found) or (in_brackets and fits(value_found.partition(" (")[2].removesuffix(")")))
        ]

    def _different(self, column: ColumnElement[Any]) -> Iterator[str]:
        """Yield the different values of a column, by jumping along its index."""
        mine = select(column).where(records.c.chain == self._chain, column.is_not(None)).order_by(column).limit(1)
        said: str | None = self._connection.scalar(mine)
        while said is not None:
            yield said
            said = self._connection.scalar(mine.where(column > said))

    def _like(self, column: ColumnElement[Any], value: str) -> Condition:
        if not _wild(value):
            return column == value
        if self._connection.dialect.name == "sqlite":
            return column.op("GLOB")(value.replace("[", "[[]"))
        for plain, escaped in (("\\", "\\\\"), ("%", "\\%"), ("_", "\\_"), ("*", "%"), ("?", "_")):
            value = value.replace(plain, escaped)
        return column.like(value, escape="\\")


def _wild(value: str) -> bool:
    return "*" in value or "?" in value
