"""Reads what a new definition says that the approved one did not say, sentence by sentence.

Rules kept here:
1. A sentence that the approved definition has anywhere is not new, so moving text adds nothing. A name of a member that
   it has anywhere is not new either. A sentence in which anything was changed is new as a whole.
2. What is new is read within the limits of a whole definition (`texts`), so text that stays as it was takes no room
   from it. What exceeds them is `DefinitionTexts.cut`.
3. Of the approved definition a bounded number of characters is known; what is beyond counts as new.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from mcpguard.domain.findings import Evidence
from mcpguard.inspection.reading.tokens import words
from mcpguard.inspection.texts.texts import DefinitionTexts, TextReader, TextRole, own_words, strings

MOST_KNOWN: Final = 500_000
"""Characters of the approved definition that are compared with."""
_MOST_WORDS: Final = 60_000
"""Characters of it of which the words are compared."""
_SENTENCE: Final = re.compile(r"(?:[^.!?;\n]|[.!?;](?!\s))++(?:[.!?;]|\n|\Z)|[.!?;\n]")


@dataclass(frozen=True)
class ApprovedText:
    """What the approved definition says: its sentences, the names of its members, and all of its text."""

    sentences: frozenset[str]
    names: frozenset[str]
    said: tuple[str, ...] = field(repr=False)

    @cached_property
    def word_line(self) -> str:
        """The words of the text, folded, with a blank before and after each."""
        left, line = _MOST_WORDS, [" "]
        for text in self.said:
            if left <= 0:
                break
            line += (f"{word} " for word in words(text[:left]))
            line.append("| ")
            left -= len(text)
        return "".join(line)

    def has_words(self, text: str) -> bool:
        """Tell whether the text stood there word by word."""
        asked = words(text)
        return bool(asked) and f" {' '.join(asked)} " in self.word_line


def read_approved(definition: Mapping[str, object]) -> ApprovedText:
    """Return what the approved definition says."""
    sentences: set[str] = set()
    names: set[str] = set()
    said: list[str] = []
    left = MOST_KNOWN
    for _, whole, role in strings(definition):
        text = whole[:left] if whole is not None else ""
        if not text:
            continue
        left -= len(text)
        said.append(text)
        if role is TextRole.KEY:
            names.add(text)
        else:
            sentences.update(each.strip() for _, each in _sentences(text))
    return ApprovedText(frozenset(sentences), frozenset(names), tuple(said))


def read_new_texts(definition: Mapping[str, object], approved: ApprovedText) -> DefinitionTexts:
    """Return the texts of the definition that are new, each run of new sentences as one text."""
    reader = TextReader(own=own_words(definition.get("name")))
    for path, text, role in strings(definition):
        if text is None:
            # The last one says that there are too many values: only then it has no path.
            reader.cut = reader.cut or Evidence(path, 0, 0)
        elif role is TextRole.KEY:
            if text not in approved.names:
                reader.read(path, text, role)
        else:
            for start, end in _new_runs(text, approved.sentences):
                reader.read(path, text[start:end], role, start)
        if reader.full:
            break
    return DefinitionTexts(definition, reader.texts, reader.cut)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    return ((match.start(), match[0]) for match in _SENTENCE.finditer(text))


def _new_runs(text: str, known: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where sentences stand that are not known; neighbours are one run."""
    begun: int | None = None
    end = 0
    for start, sentence in _sentences(text):
        if not sentence.strip():
            continue
        if sentence.strip() in known:
            if begun is not None:
                yield begun, end
            begun = None
        else:
            begun, end = start if begun is None else begun, start + len(sentence)
    if begun is not None:
        yield begun, end
