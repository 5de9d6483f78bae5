"""Approved URI prefixes, for servers with one resource per file, too many to approve individually.

Rules kept here:
1. A prefix ends at the end of a path segment: `file:///data` covers `file:///data/a`, but not `file:///database`.
2. A prefix has more than a scheme, so that one approval never covers everything.
3. A URI that a server might parse differently from mcpguard is under no prefix. What follows a prefix is a relative
   path: no absolute path, home directory or drive (path traversal).
"""

import re
from collections.abc import Iterable
from typing import Final

from mcpguard.codec.uris import is_below, is_harmless, is_relative
from mcpguard.domain.decisions import Undecidable

MOST: Final = 50
_FORM: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://)?/?[^/].*")


def is_under_prefix(prefixes: Iterable[str], uri: str) -> bool:
    """Tell whether one of the approved prefixes covers this URI."""
    # The rest must be relative: a server may resolve `file:///data//etc/passwd` to an absolute path.
    return any(is_below(uri, each) and is_relative(uri[len(each.removesuffix("/")) + 1 :]) for each in prefixes) and (
        is_harmless(uri)
    )


def check_prefixes(prefixes: Iterable[str]) -> tuple[str, ...]:
    """Return the prefixes without duplicates. Raises Undecidable for one that could cover more than intended."""
    given = tuple(dict.fromkeys(prefixes))
    for prefix in given:
        if not (_FORM.fullmatch(prefix) and is_harmless(prefix)):
            raise Undecidable(
                "a URI prefix needs a scheme and a path without . and .., empty segments and encoded separators, "
                "such as file:///data/reports"
            )
    if len(given) > MOST:
        raise Undecidable(f"too many URI prefixes: {len(given)}; the limit is {MOST}")
    return given
