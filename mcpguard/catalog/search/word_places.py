"""Finds where a tool says a term, and in which forms.

The index does not keep that: the definition is read again, in any thread, and only where somebody asks.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.catalog.search.fields import ToolPart, texts
from mcpguard.catalog.search.prepared_tools import counted_words
from mcpguard.catalog.search.stems import stem


@dataclass(frozen=True, slots=True)
class WordPlaces:
    """The forms in which a tool says a term, and the parts that have it, the weightiest first."""

    forms: tuple[str, ...]
    parts: tuple[ToolPart, ...]


def find_places(server: str, tool: Mapping[str, Any], terms: Collection[str]) -> dict[str, WordPlaces]:
    """Return where a tool says these terms; without those that it does not say."""
    forms: dict[str, dict[str, None]] = {}
    parts: dict[str, dict[ToolPart, None]] = {}
    for field, text in texts(server, tool):
        for word in counted_words(field, text):
            term = stem(word)
            if term in terms:
                forms.setdefault(term, {})[word] = None
                parts.setdefault(term, {})[field.part] = None
    return {term: WordPlaces(tuple(forms[term]), tuple(parts[term])) for term in forms}
