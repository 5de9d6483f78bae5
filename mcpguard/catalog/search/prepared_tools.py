"""Prepares a server's tools for the index: all slow work that does not depend on the index.

Rules kept here:
1. Preparing is a pure function of one server and its tools, so that any thread may do it, and its result never changes.
2. The weight of a word in a tool depends on that tool alone, because field lengths are compared with constants. With
   averages over all tools, one server could lower the weights of others, and every change would change everything.
3. A tool has at most `MOST_TERMS` terms. A server has at most `MOST_FORMS` forms, or `FORMS_OF_A_TOOL` per tool where
   that is more. Those with the greatest weight come first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

from mcpguard.catalog.search.fields import Field, texts
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.stopwords import STOP
from mcpguard.catalog.search.translations import english_in
from mcpguard.catalog.search.words import words
from mcpguard.codec.messages import dumps

MOST_TERMS: Final = 256
MOST_FORMS: Final = 400
FORMS_OF_A_TOOL: Final = 30
K1: Final = 2.0
B: Final = 0.75
LONG: Final = 2.5
"""A field so many times as long as usual is a list of words, each of which counts less and less."""
LOUD: Final = 50.0
"""Words of the weighty fields of a tool, by their weights, beyond which every word counts less and less."""
_LOUDNESS: Final = 3
_WEIGHTY: Final = 1.0
_PLACES: Final = 4
_SHORTEST_PLURAL: Final = 5
_SHARED: Final[dict[float, float]] = {}
"""Equal weights are one object: there are millions of them and few different ones."""


@dataclass(frozen=True, slots=True)
class Document:
    """A tool as the index sees it: how much each of its terms counts, from 0 to K1 + 1; and the bytes of its definition
    as JSON. `since`: when it was first approved.
    """

    server: str
    name: str
    weights: Mapping[str, float]
    size: int
    since: int = 0

    @property
    def key(self) -> str:
        return f"{self.server}:{self.name}"


@dataclass(frozen=True, slots=True)
class PreparedServer:
    """A server's tools, each name once, and their words as they were written."""

    server: str
    documents: Mapping[str, Document]
    forms: frozenset[str]


def prepare_server(
    server: str, tools: Iterable[Mapping[str, Any]], since: Mapping[str, int] = MappingProxyType({})
) -> PreparedServer:
    """Return the tools of a server that have a name, ready for the index; of two with one name, the last.

    `since`: when each was first approved.
    """
    documents: dict[str, Document] = {}
    forms: dict[Field, dict[str, None]] = {}
    for tool in tools:
        name = tool.get("name")
        if isinstance(name, str) and name:
            documents[name] = Document(server, name, _weights(server, tool, forms), _size(tool), since.get(name, 0))
    ordered = [form for field in sorted(forms, key=lambda field: -field.weight) for form in forms[field]]
    most = max(MOST_FORMS, FORMS_OF_A_TOOL * len(documents))
    return PreparedServer(server, documents, frozenset(islice(dict.fromkeys(ordered), most)))


def _weights(server: str, tool: Mapping[str, Any], forms: dict[Field, dict[str, None]]) -> dict[str, float]:
    fields: list[tuple[Field, list[str], float]] = []
    for field, text in texts(server, tool):
        field_words = _own_words(field, text)
        length = len(field_words) * max(1.0, len(text) / field.longest)
        field_words += english_in(text[: field.longest])
        forms.setdefault(field, {}).update(dict.fromkeys(form for word in field_words for form in _forms(word)))
        fields.append((field, field_words, length))
    loudness = sum(field.loudness(length) for field, _, length in fields if field.weight > _WEIGHTY)
    frequencies: dict[str, float] = {}
    for field, field_words, length in fields:
        part = field.weight / _norm(max(length, field.fewest) / field.usual) / max(1.0, loudness / LOUD) ** _LOUDNESS
        for term, times in Counter(map(stem, field_words)).items():
            if term in frequencies or len(frequencies) < MOST_TERMS:
                frequencies[term] = frequencies.get(term, 0.0) + part * times
    return {term: weight for term, often in frequencies.items() if (weight := _saturated(often))}


def counted_words(field: Field, text: str) -> list[str]:
    """Return the words that count of a text, with the English ones for those in scripts without blanks."""
    return _own_words(field, text) + english_in(text[: field.longest])


def _own_words(field: Field, text: str) -> list[str]:
    everything = words(text[: field.longest])
    return [word for word in everything if word not in STOP] or everything


def _size(tool: Mapping[str, Any]) -> int:
    """Return the bytes of a definition; 0 for one that nobody can be shown."""
    try:
        return len(dumps(tool))
    except (ValueError, RecursionError):
        return 0


def with_field(weight: float, field: Field, share: float, length: int) -> float:
    """Return the weight of a term that one more field of a tool has: with this share, among so many words."""
    part = field.weight * share / _norm(max(length, field.fewest) / field.usual)
    return weight if weight >= K1 + 1 else _saturated(weight * K1 / (K1 + 1 - weight) + part)


def _forms(word: str) -> Iterator[str]:
    """Yield a word as it is written, and its singular."""
    yield word
    if len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss"):
        yield word[:-1]


def _norm(length: float) -> float:
    """Return what the words of a field are divided by that is so many times as long as usual."""
    return (1 - B + B * length) * max(1.0, length / LONG)


def _saturated(frequency: float) -> float:
    weight = round(frequency * (K1 + 1) / (frequency + K1), _PLACES)
    return _SHARED.setdefault(weight, weight)
