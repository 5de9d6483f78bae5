"""A filter as a condition of SQL.

`*` and `?` are those of the database's own operator: GLOB in SQLite, which tells capitals apart as PostgreSQL's LIKE
does, and SQLite's LIKE does not.
"""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, func, not_, or_, select

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.filters import Filter, Key
from mcpguard.store.tables import ONCE, OTHERWISE, callers, records

Condition = ColumnElement[bool]
_OF_KIND: Final = {
    Key.TOOL: CapabilityKind.TOOL,
    Key.RESOURCE: CapabilityKind.RESOURCE,
    Key.TEMPLATE: CapabilityKind.TEMPLATE,
    Key.PROMPT: CapabilityKind.PROMPT,
}
_TWICE: Final = ("opened", "closed")
"""The kinds that the index of kinds leaves out."""


def times(wanted: Filter) -> Iterator[Condition]:
    """What the filter says of the time of a record."""
    if wanted.since is not None:
        yield records.c.at >= wanted.since
    if wanted.until is not None:
        yield records.c.at < wanted.until


def conditions(connection: Connection, wanted: Filter) -> Iterator[Condition]:
    """All of them have to hold."""
    yield from times(wanted)
    for term in wanted.terms:
        any_of = or_(*(_Fitting(connection.dialect.name, value).to(term.key) for value in term.values))
        yield not_(func.coalesce(any_of, False)) if term.without else any_of


def of_call(entry: str) -> Condition:
    """Written so that each half is found by an index of its own."""
    mine = records.c.entry == entry
    return or_(and_(mine, ONCE), and_(mine, OTHERWISE))


class _Fitting:
    """One value of a term, in the words of one kind of database."""

    def __init__(self, dialect: str, value: str) -> None:
        self._dialect = dialect
        self._value = value

    def to(self, key: Key) -> Condition:  # noqa: PLR0911 - a line for each key
        match key:
            case Key.TOOL | Key.RESOURCE | Key.TEMPLATE | Key.PROMPT:
                return and_(records.c.capability == _OF_KIND[key].value, self._name())
            case Key.NAME:
                return self._name()
            case Key.CALLER:
                return self._caller()
            case Key.ACTOR:
                return or_(self._is(records.c.by), self._like(records.c.by, f"*({self._value})"), self._caller())
            case Key.CALL:
                return of_call(self._value)
            case Key.KIND:
                return self._kind()
            case _:
                return self._is(records.c[key.value])

    def _name(self) -> Condition:
        """By itself, or behind the name of its server."""
        server, _, name = self._value.partition(":")
        alone = self._is(records.c.name)
        return or_(alone, self._like(records.c.server, server) & self._like(records.c.name, name)) if name else alone

    def _kind(self) -> Condition:
        kind = self._is(records.c.kind)
        return kind if _wild(self._value) or self._value in _TWICE else kind & OTHERWISE

    def _caller(self) -> Condition:
        """By the id, or by the name that it has or had."""
        named = select(callers.c.id).where(self._is(callers.c.label))
        return or_(self._is(records.c.caller), records.c.caller.in_(named))

    def _is(self, column: ColumnElement[Any]) -> Condition:
        return self._like(column, self._value)

    def _like(self, column: ColumnElement[Any], value: str) -> Condition:
        if not _wild(value):
            return column == value
        if self._dialect == "sqlite":
            return column.op("GLOB")(value.replace("[", "[[]"))
        for plain, escaped in (("\\", "\\\\"), ("%", "\\%"), ("_", "\\_"), ("*", "%"), ("?", "_")):
            value = value.replace(plain, escaped)
        return column.like(value, escape="\\")


def _wild(value: str) -> bool:
    return "*" in value or "?" in value
