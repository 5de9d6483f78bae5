"""Reads every string of a definition, with its place, once for all detectors.

Rules kept here:
1. Member names are read like values, so that nothing can be hidden in one. The path of a name begins with `key:`.
2. The work is bounded. Only the beginning and the end of a long string are read, and a limited number of characters of
   a definition; `DefinitionTexts.cut` states what was left out. Nothing here recurses, and no part of a definition is
   assumed to have a certain type.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from mcpguard.domain.findings import Evidence
from mcpguard.inspection.reading.patterns import mask
from mcpguard.inspection.reading.tokens import Tokens, tokens, words
from mcpguard.inspection.reading.vocabulary import PhraseHit
from mcpguard.inspection.texts.marks import find_marks
from mcpguard.inspection.vocabulary import ACTS, WORDS
from mcpguard.policy.lexicon import parts

MOST_READ: Final = 24_000
"""Characters that are read of a definition."""
MOST_TEXTS: Final = 600
_MOST_OF_ONE: Final = 12_000
_LONGEST_PATH: Final = 400
_LONGEST_NAME: Final = 100
_LONGEST_CALLED: Final = 6
"""Words of the longest name; what has more is a sentence."""
_MOST_DEPTH: Final = 128
_MOST_VALUES: Final = 20_000
_SCHEMA_WORDS: Final = """
    name title description inputSchema outputSchema annotations type properties required items enum const default
    format examples example additionalProperties anyOf oneOf allOf minimum maximum minLength maxLength minItems maxItems
    $schema $ref $defs definitions readOnlyHint destructiveHint idempotentHint openWorldHint
"""
_KEYWORDS: Final = frozenset(_SCHEMA_WORDS.split())
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
"""Values that every definition is full of, and that mean nothing."""


_PROTOCOLS: Final = frozenset({"http", "https", "ftp", "sftp", "ws", "wss"})


class TextRole(StrEnum):
    """What a string is in a definition."""

    NAME = "name"
    KEY = "key"
    VALUE = "value"


@dataclass(frozen=True)
class Text:
    """A string, or the part of one that is read; `offset` is where it begins in the string at `path`.

    `layer` says how it was decoded, from the part `source` of the string; empty for the string as it is.
    """

    path: str
    raw: str
    role: TextRole = TextRole.VALUE
    offset: int = 0
    layer: str = ""
    source: Evidence | None = None
    own: tuple[str, ...] = ()
    """The words of the tool's own name, if it has several: where a text has them, the tool speaks of itself."""

    def evidence_at(self, start: int, end: int) -> Evidence:
        """Return evidence for a part of the text; for a decoded text, evidence for all that it was decoded from."""
        return self.source or Evidence(self.path, self.offset + start, self.offset + end)

    @cached_property
    def tokens(self) -> Tokens:
        if self.role is TextRole.VALUE or " " in self.raw:
            return tokens(self.raw)
        apart = parts(self.raw[:_LONGEST_NAME])
        size = len(apart)
        return Tokens(apart, [0] * size, [len(self.raw)] * size, list(range(1, size + 1)))

    @cached_property
    def hits(self) -> dict[str, list[PhraseHit]]:
        """Where the text has each meaning, by words or by form."""
        hits = _acting(WORDS.find(self.tokens), find_marks(self.raw, self.tokens))
        if "URL" in hits:
            hits["URL"] = [hit for hit in hits["URL"] if self._is_address(hit)]
        if self.own and (named := self._named()):
            hits["THIS"] = sorted([*hits.get("THIS", ()), *named])
        return hits

    def _is_address(self, hit: PhraseHit) -> bool:
        """Tell whether `https` begins an address, instead of naming a protocol."""
        last = hit.last
        return self.tokens.words[last] not in _PROTOCOLS or self.raw.startswith("://", self.tokens.ends[last])

    def _named(self) -> list[PhraseHit]:
        words, size = self.tokens.words, len(self.own)
        starts = (at for at, word in enumerate(words) if word == self.own[0])
        return [PhraseHit(at, at + size - 1) for at in starts if tuple(words[at : at + size]) == self.own]

    @cached_property
    def meanings(self) -> int:
        """The meanings of the text, as a mask."""
        return mask(self.hits)

    def evidence_of(self, hit: PhraseHit) -> Evidence:
        """Return evidence for the words of a hit."""
        return self.evidence_at(self.tokens.starts[hit.first], self.tokens.ends[hit.last])


def _acting(hits: dict[str, list[PhraseHit]], marked: dict[str, list[PhraseHit]]) -> dict[str, list[PhraseHit]]:
    """Return all hits, without verbs in the name of something, which tell nobody to do anything."""
    names = (hit for hit in marked.get("NAMED", ()) if hit.last - hit.first < _LONGEST_CALLED)
    named = {at for hit in names for at in range(hit.first, hit.last + 1)}
    for verb in ACTS if named else ():
        if verb in hits:
            hits[verb] = [hit for hit in hits[verb] if hit.first not in named]
    return hits | marked


@dataclass(frozen=True)
class DefinitionTexts:
    """A definition as detectors read it."""

    definition: Mapping[str, object]
    texts: Sequence[Text]
    cut: Evidence | None = None
    """The first string that was not read whole, if any."""

    @cached_property
    def meanings(self) -> int:
        """The meanings of all texts together, as a mask: what these cannot break, none of them can."""
        meanings = 0
        for text in self.texts:
            meanings |= text.meanings
        return meanings

    @cached_property
    def purpose(self) -> frozenset[str]:
        """The words of the tool's name, which say what it is about."""
        name = self.definition.get("name")
        return frozenset(parts(name[:_LONGEST_NAME])) if isinstance(name, str) else frozenset()


@dataclass(slots=True)
class TextReader:
    """Takes the texts of a definition one by one, until the limits are reached; `own` are the words of its name."""

    left: int = MOST_READ
    cut: Evidence | None = None
    texts: list[Text] = field(default_factory=list)
    own: tuple[str, ...] = ()
    full: bool = False

    def read(self, path: str, text: str | None, role: TextRole, offset: int = 0) -> None:
        """Take a text, or the part of one from `offset` on. None stands for what cannot be read."""
        most = min(_MOST_OF_ONE, self.left)
        if text is None or (text and (len(self.texts) >= MOST_TEXTS or most <= 0)):
            self.cut = self.cut or Evidence(path, offset, offset + len(text or ""))
            self.full = text is not None
            return
        if not text:
            return
        if len(text) <= most:
            self.left -= len(text)
            self.texts.append(Text(path, text, role, offset, own=self.own))
            return
        # The end too: padding would move an order beyond the part that is read.
        head, tail = most * 2 // 3, most // 3
        self.left -= most
        self.cut = self.cut or Evidence(path, offset + head, offset + len(text) - tail)
        self.texts.append(Text(path, text[:head], role, offset, own=self.own))
        self.texts.append(Text(path, text[len(text) - tail :], role, offset + len(text) - tail, own=self.own))


def read_texts(definition: Mapping[str, object]) -> DefinitionTexts:
    """Return the texts of a definition, as many as the limits allow."""
    reader = TextReader(own=own_words(definition.get("name")))
    for path, text, role in strings(definition):
        reader.read(path, text, role)
        if reader.full:
            break
    return DefinitionTexts(definition, reader.texts, reader.cut)


def own_words(name: object) -> tuple[str, ...]:
    """Return the words of a tool's name; none for a name of one word, which may be any word of a text."""
    own = words(name[:_LONGEST_NAME].replace("_", " ")) if isinstance(name, str) else ()
    return own if len(own) > 1 or any(char.isdigit() for char in "".join(own)) else ()


def strings(definition: Mapping[str, object]) -> Iterator[tuple[str, str | None, TextRole]]:
    """Yield every string with its path, in order, and the name of a member before the member.

    None stands for what is too deep, and at the end for what is too much.
    """
    open_: list[Iterator[tuple[str, str | None, object]]] = [_members("", definition)]
    for _ in range(_MOST_VALUES):
        if not open_:
            return
        path, key, value = next(open_[-1], (None, None, None))
        if path is None:
            open_.pop()
            continue
        if key is not None and key not in _KEYWORDS:
            yield f"key:{path}", key, TextRole.KEY
        if isinstance(value, str):
            if value not in _TYPES:
                yield path, value, TextRole.NAME if path == "/name" else TextRole.VALUE
        elif isinstance(value, Mapping | list | tuple) and value:
            if len(open_) < _MOST_DEPTH:
                open_.append(_members(path, value))
            else:
                yield path, None, TextRole.VALUE
    yield "", None, TextRole.VALUE


def _members(path: str, value: Mapping[Any, object] | Sequence[object]) -> Iterator[tuple[str, str | None, object]]:
    if isinstance(value, Mapping):
        return ((_below(path, str(key)), str(key), member) for key, member in value.items())
    return ((_below(path, str(at)), None, member) for at, member in enumerate(value))


def _below(path: str, key: str) -> str:
    """Return a JSON pointer (RFC 6901). A very long one is cut, and ends with an ellipsis."""
    if path.endswith("…"):
        return path
    whole = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
    return whole if len(whole) <= _LONGEST_PATH else f"{whole[:_LONGEST_PATH]}…"
