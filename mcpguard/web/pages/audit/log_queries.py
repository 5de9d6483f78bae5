"""The query of the audit page, and the addresses of queries that are a little different from it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from mcpguard.codec.filters import LONGEST, MOST_WILD, SINCE, UNTIL, WrittenTerm, split_terms, write, written_term
from mcpguard.domain.filters import Filter, FilterKey

RANGES: Final = (("15 min", "15m"), ("1 h", "1h"), ("24 h", "24h"), ("7 d", "7d"), ("All", ""))
"""Those that are offered: the label, and how long ago they begin."""


@dataclass(frozen=True, slots=True)
class RangeLink:
    """A range of time that is offered. `here`: it is the one that is shown."""

    label: str
    link: str
    here: bool


@dataclass(frozen=True, slots=True)
class LogQuery:
    """A query as it is written, and its terms."""

    text: str
    terms: tuple[WrittenTerm, ...]

    @classmethod
    def from_text(cls, text: str) -> "LogQuery":
        return cls(text, tuple(split_terms(text)) if len(text) <= LONGEST else ())

    def has(self, key: FilterKey, value: str) -> bool:
        return any(_is(term, key, value) for term in self.terms)

    def toggle_link(self, key: FilterKey, value: str) -> str:
        """Return the address with this term, or without it where it is there."""
        if self.has(key, value):
            return _address(term.written for term in self.terms if not _is(term, key, value))
        return self.link_with(written_term(key, value))

    def link_with(self, *written: str, without: Iterable[str] = ()) -> str:
        """Return the address with more terms, and without those with some keys."""
        kept = (term.written for term in self.terms if term.key not in {*without})
        return _address([*kept, *written])

    def span_link(self, since: int, until: int) -> str:
        """Return the address with another span of time, in microseconds."""
        return self.link_with(write(Filter((), since, until)), without=(SINCE, UNTIL))

    def ranges(self) -> Iterator[RangeLink]:
        times = [term.written for term in self.terms if term.key in (SINCE, UNTIL)]
        for label, ago in RANGES:
            wanted = [f"{SINCE}:{ago}"] if ago else []
            yield RangeLink(label, self.link_with(*wanted, without=(SINCE, UNTIL)), times == wanted)

    def zoom_out_link(self, wanted: Filter, now: int) -> str:
        """Return the address with a span twice as long, that ends now at the latest; "" where all time is shown."""
        if wanted.since is None:
            return ""
        until = now if wanted.until is None else min(now, wanted.until)
        more = max(0, until - wanted.since) // 2
        return self.span_link(max(0, wanted.since - more), min(now, until + more))

    def drops(self) -> list[tuple[str, str]]:
        """Return each key of the query with the address without it."""
        return [(key, self.link_with(without=(key,))) for key in dict.fromkeys(term.key for term in self.terms)]


def is_term(value: str) -> bool:
    """Tell whether a filter can have this value."""
    return bool(value) and value.isprintable() and value.count("*") + value.count("?") <= MOST_WILD


def address(path: str, **query: object) -> str:
    """Return a URL of ours with the non-empty parts of the query."""
    given = {name: value for name, value in query.items() if value is not None and value != ""}
    return f"{path}?{urlencode(given)}" if given else path


def _is(term: WrittenTerm, key: FilterKey, value: str) -> bool:
    return term.key == key and term.value == value and not term.without


def _address(written: Iterable[str]) -> str:
    return address("/audit", q=" ".join(written))
