"""A filter as a condition of SQL.

`*` and `?` are those of the database's own operator: GLOB in SQLite, which tells capitals apart as PostgreSQL's LIKE
does, and SQLite's LIKE does not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, TextClause, false, func, not_, or_, select, true

from mcpguard.codec.globs import matcher
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.filters import Filter, Key
from mcpguard.store.rows.tables import NOT_ALLOWED, NOT_ANSWERED, NOT_READ, ONCE, OTHERWISE, callers, records

Condition = ColumnElement[bool]
_OF_KIND: Final = {
    Key.TOOL: CapabilityKind.TOOL,
    Key.RESOURCE: CapabilityKind.RESOURCE,
    Key.TEMPLATE: CapabilityKind.TEMPLATE,
    Key.PROMPT: CapabilityKind.PROMPT,
}
_LEFT_OUT: Final[Mapping[str, tuple[tuple[str, ...], TextClause]]] = {
    "kind": (("opened", "closed"), OTHERWISE),
    "verdict": (("allow",), NOT_ALLOWED),
    "outcome": (("answered",), NOT_ANSWERED),
    "effect": (("read",), NOT_READ),
}
"""Words that the index of a column leaves out, and how it says so."""
_BEST: Final = (
    Key.CALL, Key.REASON, Key.ACTOR, Key.CALLER, Key.TOOL, Key.RESOURCE, Key.TEMPLATE, Key.PROMPT, Key.NAME, Key.SERVER,
    Key.OUTCOME, Key.VERDICT, Key.KIND, Key.EFFECT,
)  # fmt: skip
"""Which index finds the fewest rows, as a rule."""
MOST_WAYS: Final = 50
"""Ways to fit a term that are asked one by one."""


def times(wanted: Filter) -> Iterator[Condition]:
    """What the filter says of the time of a record."""
    if wanted.since is not None:
        yield records.c.at >= wanted.since
    if wanted.until is not None:
        yield records.c.at < wanted.until


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a row has to fulfil: all of `every`, and one of `either`, of which each is asked by itself, so that an index
    finds it. None: nothing more than `every`."""

    every: Sequence[Condition]
    either: Sequence[Condition]


def conditions(connection: Connection, chain: str, wanted: Filter) -> Conditions:
    """A filter, for this database."""
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


def of_call(connection: Connection, entry: str) -> list[int]:
    """The numbers of its records. Asked in two, each half is found by an index of its own."""
    mine = select(records.c.seq).where(records.c.entry == entry)
    return [seq for half in (ONCE, OTHERWISE) for seq in connection.scalars(mine.where(half))]


class _Fitting:
    """In which ways a record can fit a value, in this database. What stands for something else is looked up first."""

    def __init__(self, connection: Connection, chain: str) -> None:
        self._connection = connection
        self._chain = chain

    def ways(self, key: Key, value: str) -> list[Condition]:  # noqa: PLR0911 - a line for each key
        match key:
            case Key.TOOL | Key.RESOURCE | Key.TEMPLATE | Key.PROMPT:
                return [(records.c.capability == _OF_KIND[key].value) & way for way in self._name(value)]
            case Key.NAME:
                return self._name(value)
            case Key.CALLER:
                return self._caller(value)
            case Key.ACTOR:
                return [*self._few(records.c.by, value, in_brackets=True), *self._caller(value)]
            case Key.CALL:
                return [records.c.seq == seq for seq in of_call(self._connection, value)]
            case Key.SERVER | Key.REASON:
                return self._few(records.c[key.value], value)
            case _:
                return [self._word(records.c[key.value], value)]

    def _word(self, column: ColumnElement[Any], value: str) -> Condition:
        """Where an index leaves out what most records say, the condition says so too."""
        left_out, index = _LEFT_OUT[column.key or ""]
        fits = self._like(column, value)
        return fits if _wild(value) or value in left_out else fits & index

    def _name(self, value: str) -> list[Condition]:
        """By itself, or behind the name of its server."""
        server, _, name = value.partition(":")
        alone = self._like(records.c.name, value)
        return [alone, self._like(records.c.server, server) & self._like(records.c.name, name)] if name else [alone]

    def _caller(self, value: str) -> list[Condition]:
        """By the id, or by the name that it has or had."""
        named = self._connection.scalars(select(callers.c.id).where(self._like(callers.c.label, value)))
        return [*self._few(records.c.caller, value), *(records.c.caller == id_ for id_ in named)]

    def _few(self, column: ColumnElement[Any], value: str, *, in_brackets: bool = False) -> list[Condition]:
        """Of what a column says, of which there is not much that differs; also by a name in brackets behind an id."""
        if not _wild(value) and not in_brackets:
            return [column == value]
        fits = matcher(value)
        return [
            column == said
            for said in self._different(column)
            if fits(said) or (in_brackets and fits(said.partition(" (")[2].removesuffix(")")))
        ]

    def _different(self, column: ColumnElement[Any]) -> Iterator[str]:
        """Everything different that a column says, by jumping along its index."""
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
