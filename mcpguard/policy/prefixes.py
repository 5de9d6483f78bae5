"""URI prefixes: for servers with a resource for each file, whose resources nobody could approve one by one.

Rules kept here:
1. A prefix ends where a part of a path ends: `file:///data` covers `file:///data/a`, and not `file:///database`.
2. It has a scheme and says more than that, so that nobody approves everything by approving one prefix.
3. A URI that a server might read differently than we do lies under no prefix. What follows a prefix is no place of its
   own: not absolute, no home directory and no drive.
"""

import re
from collections.abc import Iterable
from typing import Final

from mcpguard.codec.uris import is_below, is_harmless, is_relative
from mcpguard.domain.decisions import Undecidable

MOST: Final = 50
_FORM: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://)?/?[^/].*")


def under(prefixes: Iterable[str], uri: str) -> bool:
    """Whether a reviewer has approved a prefix that covers this URI."""
    return any(is_below(uri, each) and is_relative(uri[len(each.removesuffix("/")) + 1 :]) for each in prefixes) and (
        is_harmless(uri)
    )


def checked(prefixes: Iterable[str]) -> tuple[str, ...]:
    """The prefixes that a reviewer gave, each once. Raises Undecidable for what could cover more than they meant."""
    given = tuple(dict.fromkeys(prefixes))
    for prefix in given:
        if not (_FORM.fullmatch(prefix) and is_harmless(prefix)):
            raise Undecidable(
                "a URI prefix has a scheme and a part of a path, without . and .., empty parts and encoded separators, "
                "such as file:///data/reports"
            )
    if len(given) > MOST:
        raise Undecidable(f"{len(given)} URI prefixes are given; {MOST} are the most")
    return given
