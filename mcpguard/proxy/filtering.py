"""Filters the entries of a list: those whose name begins with a prefix, and that have all of the tags.

A filter looks at nothing but the entry that would be shown, so nobody learns more by it than by the whole list.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

MOST_TAGS: Final = 20
LONGEST_TAG: Final = 200
ORIGIN: Final = "mcpguard/origin"
"""In `_meta`: where a guard has an entry from, and what its server calls it."""
_NAMES: Final = ("name", "uri", "uriTemplate")
_FRAMEWORKS: Final = ("fastmcp", "_fastmcp")
"""The protocol has no tags. Servers that are written with FastMCP put theirs into `_meta`, under one of these."""


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Which entries of a list are wanted; an empty filter wants all."""

    prefix: str = ""
    tags: tuple[str, ...] = ()

    def as_given(self) -> dict[str, Any]:
        """Return the tool's argument for this filter."""
        return ({"prefix": self.prefix} if self.prefix else {}) | ({"tags": list(self.tags)} if self.tags else {})

    def wants(self, entry: Mapping[str, Any]) -> bool:
        if self.prefix and not any(name.startswith(self.prefix) for name in _names(entry)):
            return False
        return not self.tags or {*_tags(entry)}.issuperset(self.tags)


EVERYTHING: Final = ListFilter()


def _names(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the entry's name in the list, and its name at its server."""
    for said in (entry, _object(_object(entry.get("_meta")).get(ORIGIN))):
        yield from (name for key in _NAMES if isinstance(name := said.get(key), str))


def _tags(entry: Mapping[str, Any]) -> Iterator[str]:
    meta = _object(entry.get("_meta"))
    for said in (entry, *(_object(meta.get(name)) for name in _FRAMEWORKS)):
        tags = said.get("tags")
        yield from (tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


def _object(said: object) -> Mapping[str, Any]:
    return said if isinstance(said, Mapping) else {}
