"""Finds meanings that are recognised by their form: paths of secret files, addresses, names that look like a tool's."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final

from mcpguard.inspection.reading.tokens import Tokens
from mcpguard.inspection.reading.vocabulary import PhraseHit
from mcpguard.inspection.vocabulary import PATHS_ALONE, PATHS_ANYWHERE
from mcpguard.text.linear import AnyOf, compile_pattern, literal

MARKS: Final = frozenset({"SECRET_FILE", "EMAIL", "NAMED", "QUOTED", "NUMBER", "OWN_TOOLS"})
"""The meanings that are known by their form."""
_MOST: Final = 40
"""How many marks of each kind are found in a text."""
_NAME: Final = re.compile(
    r"(?<![A-Za-z])(?:[A-Za-z][A-Za-z0-9]*+(?:_[A-Za-z0-9]++)++|(?<=[`'\"])[a-z]++(?:[A-Z][a-z0-9]++)++"
    r"|(?<=[`'\"])[A-Za-z]\w{0,40}+(?:-\w{1,40}+)++(?=[`'\"]))"
)
_QUOTED: Final = re.compile(r"(?<=`)[A-Za-z_]\w{0,40}+(?=`)|(?<=[\s(]['\"])[A-Za-z_]\w{0,40}+(?=['\"])")
_OWN_TOOLS: Final = re.compile(r"\bother (?:[A-Z]\w{1,30}+ ){1,3}(?:tool|function|operation|command)s?\b")
"""Other tools of a named maker, who is the one that speaks."""
_NUMBER: Final = re.compile(r"\+\d[\d -]{6,18}+|\b[A-Z]{2}\d{2}[ ]?\d{4}|\b0x[0-9a-fA-F]{40}\b")
"""Where data or money can be sent to: a telephone number, an account, a wallet."""
_EXAMPLE: Final = re.compile(r"(?i)\b(?:such as|e\.g\.|for example|for instance|example:)[ :]{0,2}[^\s@]*+\Z")
"""What stands directly before an address that only shows what one looks like."""
_RESERVED: Final = re.compile(r"(?i)@(?:[\w-]+\.)*(?:example\.(?:com|net|org)|example|test|invalid)\b")
"""Domains that are reserved for examples, so that nothing can be sent there."""
_NEAR: Final = 60
_ANY_PATH: Final = AnyOf((*PATHS_ANYWHERE, *PATHS_ALONE))
_ANY_FORM: Final = compile_pattern(
    "|".join(map(literal, (*PATHS_ANYWHERE, *PATHS_ALONE))) + r"|@|\+[0-9]|[a-z]{2}[0-9]{2} ?[0-9]{4}|0x[0-9a-f]{40}"
)
"""What is in every text of ASCII, in lower case, that names a file of secrets, an address or a number."""
_QUOTES: Final = frozenset("`'\"")


def find_marks(text: str, tokens: Tokens) -> dict[str, list[PhraseHit]]:
    """Return the words that each mark covers, by its meaning."""
    if not tokens.words or tokens.ends[0] - tokens.starts[0] == len(text) != len(tokens.words[0]):
        return {}  # a name that was taken apart
    hits_by_meaning: dict[str, list[PhraseHit]] = {}
    plain = text.lower()
    if not text.isascii() or _ANY_FORM.search(plain.encode()):
        hits_by_meaning["SECRET_FILE"] = _hits(_paths(plain), tokens)
        hits_by_meaning["EMAIL"] = _hits(_addresses(text), tokens)
        hits_by_meaning["NUMBER"] = _hits((match.span() for match in _NUMBER.finditer(text)), tokens)
    quoted = not _QUOTES.isdisjoint(text)
    if quoted:
        hits_by_meaning["QUOTED"] = _hits((match.span() for match in _QUOTED.finditer(text)), tokens)
    if quoted or "_" in text:
        hits_by_meaning["NAMED"] = _hits((match.span() for match in _NAME.finditer(text)), tokens)
    if "other " in text:
        hits_by_meaning["OWN_TOOLS"] = _hits((match.span() for match in _OWN_TOOLS.finditer(text)), tokens)
    return {meaning: hits for meaning, hits in hits_by_meaning.items() if hits}


def _hits(spans: Iterator[tuple[int, int]], tokens: Tokens) -> list[PhraseHit]:
    """Return the words that the spans cover or touch, in order."""
    hits = set()
    for start, end in spans:
        first = bisect_right(tokens.ends, start)
        last = bisect_left(tokens.starts, end) - 1
        if first <= last:
            hits.add(PhraseHit(first, last))
        if len(hits) >= _MOST:
            break
    return sorted(hits)


def _paths(text: str) -> Iterator[tuple[int, int]]:
    if not _ANY_PATH.occur_in(text):
        return
    for path in PATHS_ANYWHERE:
        at = text.find(path)
        if at >= 0:
            yield at, at + len(path)
    for path in PATHS_ALONE:
        at = text.find(path)
        while at >= 0:
            end = at + len(path)
            before, after = text[at - 1] if at else " ", text[end : end + 1]
            if not before.isalnum() and before not in "_)]" and not after.isalnum() and after != "_":
                yield at, end
                break
            at = text.find(path, end)


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    at = text.find("@")
    while at >= 0:
        is_address = text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum() and "." in text[at : at + 60]
        is_shown = _RESERVED.match(text, at) and _EXAMPLE.search(text, max(0, at - _NEAR), at)
        if is_address and not is_shown:
            yield at - 1, at + 2
        at = text.find("@", at + 1)
