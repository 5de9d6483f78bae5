"""Finds the names of tools that a query says, as in "use the create_issue tool for this".

Rules kept here:
1. A word is taken for a name only if nobody writes it otherwise: it is in code marks, it has an underscore or a colon,
   it begins as `createIssue` does, it is joined from three parts or more, or from two and stands beside a word such as
   "tool" or "call". Otherwise a tool named `real-time` or `GitHub` would come first wherever somebody says that.
2. It must be the whole name, spelt exactly so.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

MOST_NAMES: Final = 16
"""Words of a query that are looked up as names."""
_WORD: Final = re.compile(r"`[^`\s]{1,200}`|[\w:/.-]{2,200}")
_AFTER_SERVER: Final = ":_./"
_SURE: Final = re.compile(r"_|:|^[a-z]+[0-9]*[A-Z]|(?:(?<=\w)[-/.](?=\w).*|[a-z0-9](?=[A-Z]).*){2}")
_JOINED: Final = re.compile(r"[-/.]|[a-z0-9][A-Z]")
_BESIDE: Final = frozenset({"tool", "tools", "function", "functions", "call", "calling", "invoke"})


def names_in(query: str) -> Iterator[str]:
    """Yield the words of a query that may be names of tools."""
    return islice(_names(_WORD.findall(query)), MOST_NAMES)


def is_name_of(text: str, server: str, name: str) -> bool:
    """Tell whether the text is exactly the name of this tool, with or without that of its server."""
    return text == name or (text.endswith(name) and text.removesuffix(name).rstrip(_AFTER_SERVER) == server)


def _names(found: Sequence[str]) -> Iterator[str]:
    for before, word, after in zip(("", *found), found, (*found[1:], ""), strict=False):
        name = word.strip("`").rstrip(".:")
        beside = before.casefold() in _BESIDE or after.casefold() in _BESIDE
        if name and (word.startswith("`") or _SURE.search(name) or (beside and _JOINED.search(name))):
            yield name
