"""Splits untrusted text into words, and finds words of mcpguard's own lists among them.

Rules kept here:
1. Time is linear in the text, which is cut first. No patterns are used.
2. Letters are compared without marks, case and invisible characters, so that none of these disguises a word.
3. Results are entries of the lists, never the text.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mcpguard.domain.capabilities import Effect
from mcpguard.policy import verbs

_USUAL: Final = 64
"""Characters of a usual name, which is often split again."""


@dataclass(frozen=True, slots=True)
class EffectWord:
    """A word of our lists, and the effect that it suggests."""

    effect: Effect
    word: str
    noun: bool = False


def strip_marks(text: str) -> str:
    """Return the text without marks and invisible characters, with its case."""
    decomposed = unicodedata.normalize("NFKD", text)
    if decomposed.isascii():
        return decomposed
    return "".join(char for char in decomposed if unicodedata.category(char) not in {"Mn", "Cf", "Me"})


def plain_text(text: str) -> str:
    """Return the text without marks, invisible characters and case."""
    return strip_marks(text).casefold()


def words(text: str) -> list[str]:
    """Return the runs of letters and digits of a plain text, in order."""
    return "".join(char if char.isalnum() else " " for char in text).split()


def parts(name: str) -> list[str]:
    """Return the words of a name: getUser, get_user, GET-USER2 and HTTPServer each have two or three."""
    return _parts(name, acronyms=True)


def capital_parts(name: str) -> list[str]:
    """Return the words of a name in which a run of capitals is one word: KILLuser."""
    return _parts(name, acronyms=False)


def _parts(name: str, *, acronyms: bool) -> list[str]:
    return (_usual_split if len(name) <= _USUAL else _split)(name, acronyms=acronyms).split()


@lru_cache(maxsize=8192)
def _usual_split(name: str, *, acronyms: bool) -> str:
    return _split(name, acronyms=acronyms)


def _split(name: str, *, acronyms: bool) -> str:
    """Return a name with blanks between its words."""
    chars: list[str] = []
    text = strip_marks(name)
    for at, char in enumerate(text):
        before = text[at - 1] if at else ""
        after = text[at + 1 : at + 2]
        rising = char.isupper() and (not before.isupper() or (acronyms and after.islower()))
        falling = not acronyms and char.islower() and before.isupper() and text[at - 2 : at - 1].isupper()
        if rising or falling or (char.isdigit() is not before.isdigit()):
            chars.append(" ")
        chars.append(char if char.isalnum() else " ")
    return "".join(chars).casefold()


def _listed(text: str) -> frozenset[str]:
    return frozenset(map(plain_text, text.split()))


def _forms(word: str) -> Iterator[str]:
    yield word
    if word.isascii():
        yield word + "s"
        yield word + "es"
        if word.endswith("y"):
            yield word[:-1] + "ies"


def _told() -> dict[str, EffectWord]:
    nouns = _listed(verbs.NOUNS)
    found: dict[str, EffectWord] = {}
    for effect, text in _LISTS:
        for word in text.split():
            for form in _forms(plain_text(word)):
                found.setdefault(form, EffectWord(effect, word, plain_text(word) in nouns))
    return found


_LISTS: Final = (
    (Effect.DESTRUCTIVE, verbs.DESTRUCTIVE),
    (Effect.WRITE, verbs.WRITE),
    (Effect.READ, verbs.READ),
)
EFFECT_WORDS: Final = _told()
"""Effect words by their plain form."""
SIGNS: Final = tuple(
    (plain_text(sign), EffectWord(effect, sign))
    for effect, text in (
        (Effect.DESTRUCTIVE, verbs.DESTRUCTIVE_SIGNS),
        (Effect.WRITE, verbs.WRITE_SIGNS),
        (Effect.READ, verbs.READ_SIGNS),
    )
    for sign in text.split()
)
PHRASES: Final = tuple((plain_text(phrase), phrase) for phrase in verbs.PHRASES)
COMPOUNDS: Final = frozenset(tuple(pair.split("_")) for pair in verbs.COMPOUNDS.split())
FILLERS: Final = _listed(verbs.FILLERS)
JOINTS: Final = _listed(verbs.JOINTS)
RUNNERS: Final = _listed(verbs.RUNNERS)
RUN: Final = _listed(verbs.RUN)
CODE_PARAMETERS: Final = _listed(verbs.CODE_PARAMETERS)
PLACE_PARAMETERS: Final = _listed(verbs.PLACE_PARAMETERS)
CONTENT_PARAMETERS: Final = _listed(verbs.CONTENT_PARAMETERS)
FORCE_PARAMETERS: Final = _listed(verbs.FORCE_PARAMETERS)
CHOICE_PARAMETERS: Final = _listed(verbs.CHOICE_PARAMETERS)
IN_TEXT: Final = {form: EffectWord(Effect.READ, word) for word in verbs.READ_IN_TEXT.split() for form in _forms(word)}
_THINGS: Final = _listed(verbs.THINGS)
_LONGEST: Final = max(map(len, EFFECT_WORDS))


def find_effect_word(word: str) -> EffectWord | None:
    """Return the effect word for a plain word, also if it is joined with a thing: `dropdatabase`."""
    if found := EFFECT_WORDS.get(word):
        return found
    ends = range(2, min(len(word), _LONGEST + 1))
    return next(
        (EFFECT_WORDS[word[:end]] for end in ends if word[:end] in EFFECT_WORDS and word[end:] in _THINGS), None
    )


def find_destructive_stem(word: str) -> str | None:
    """Return the destructive verb whose stem is inside the word."""
    return next((verb for inside, verb in verbs.STEMS.items() if inside in word), None)


def find_sign(text: str) -> EffectWord | None:
    """Return the effect word of the most destructive Chinese or Japanese sign in a plain text."""
    return None if text.isascii() else next((found for inside, found in SIGNS if inside in text), None)


def find_phrase(text: str) -> str | None:
    """Return the first phrase of our list in a plain text."""
    return next((phrase for inside, phrase in PHRASES if inside in text), None)
