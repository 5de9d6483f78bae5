"""Patterns that match untrusted text in linear time: a typed wrapper of the parts of RE2 used here."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol, cast

import re2  # type: ignore[import-untyped]


class Match(Protocol):
    """One place where a pattern matched."""

    def __getitem__(self, group: int) -> bytes: ...

    def groups(self) -> tuple[bytes | None, ...]: ...

    def span(self, group: int = 0) -> tuple[int, int]: ...


class Pattern(Protocol):
    """A pattern that is ready for use."""

    def search(self, text: bytes) -> Match | None: ...

    def finditer(self, text: bytes) -> Iterator[Match]: ...


def _quiet() -> object:
    options = re2.Options()
    options.log_errors = False
    return options


_QUIET: Final = _quiet()


def compile_pattern(pattern: str) -> Pattern:
    """Return a pattern that matches bytes in linear time."""
    return cast("Pattern", re2.compile(pattern, _QUIET))


def literal(text: str) -> str:
    """Return a pattern that matches this text."""
    return cast("str", re2.escape(text))


def any_word(words: Iterable[str]) -> str:
    """Return a pattern that finds any of these words, whatever their case."""
    return f"(?i:{'|'.join(map(literal, words))})"


class AnyOf:
    """Words of which it is known quickly whether a text, in lower case as they are, has any."""

    def __init__(self, words: Iterable[str]) -> None:
        self._any = compile_pattern("|".join(map(literal, words)))

    def occur_in(self, text: str) -> bool:
        """Tell whether any of the words is in the text."""
        return self._any.search(text.encode(errors="replace")) is not None


class WordSet:
    """Words that are searched for all at once, whatever their case."""

    def __init__(self, words: Sequence[str]) -> None:
        options = re2.Options()
        options.case_sensitive, options.literal, options.log_errors = False, True, False
        self._set = re2.Set.SearchSet(options)
        for word in words:
            self._set.Add(word)
        self._set.Compile()
        self._any = compile_pattern(any_word(words))
        self._every = range(len(words))

    def matches_in(self, text: bytes) -> Sequence[int]:
        """Return the numbers of the words that are in the text; of all words if matching ran out of memory."""
        matched: Sequence[int] | None = self._set.Match(text)
        if matched is not None:
            return matched
        return self._every if self._any.search(text) else ()  # no match and no memory look the same
