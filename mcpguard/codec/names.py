"""Names as agents see them: a server, and one of its capabilities.

Rules kept here:
1. A name is assembled here and never split by guessing: a tool's name may contain a separator, so the direct face looks
   up incoming names among those it issued. Only `server:tool` can be split, because no server name contains a colon.
2. An external label is turned into a server name, or refused. Two labels may become the same name; admission has to
   refuse both.
"""

import re
from typing import Final, Literal

from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.upstreams import NAME

Separator = Literal["::", "__", "."]
SEPARATORS: Final[tuple[Separator, ...]] = ("::", "__", ".")
"""Separators between server and name. Some models accept no colons, and some no dots."""
REFERENCE: Final = ":"
"""The separator in answers of the guard's own tools. No server name contains it, so that it is never ambiguous."""
LONGEST_QUALIFIED = 128
_OTHER = re.compile(r"[^a-z0-9_-]+")
_UNDERSCORES = re.compile(r"__+")


def qualified_name(server: str, name: str, separator: Separator) -> str:
    """Return the name on the direct face. It may be longer than `LONGEST_QUALIFIED`, which admission refuses."""
    return f"{server}{separator}{name}"


def parse_reference(text: str) -> tuple[str, str]:
    """Return the server and the name in `server:name`. Raises InvalidName."""
    server, colon, name = text.partition(":")
    if not colon or not name or not is_server_name(server):
        raise InvalidName("a tool is named server:tool, as retrieve_tools gives it")
    return server, name


def is_server_name(text: str) -> bool:
    """Tell whether a text can be the name of a server."""
    return NAME.fullmatch(text) is not None and "__" not in text


def is_unambiguous_name(label: str) -> bool:
    """Tell whether a label becomes a server name unchanged, except for upper case."""
    return label.isascii() and is_server_name(label.lower())


def server_name_for(label: str) -> str:
    """Return a server name for a label: in lower case, with a hyphen for every run of other characters."""
    name = _UNDERSCORES.sub("_", _OTHER.sub("-", label.lower())).strip("-_")[:63].rstrip("-_")
    if not is_server_name(name):
        raise InvalidName(f"{label!r} has no letter or digit that a server name could be made of")
    return name
