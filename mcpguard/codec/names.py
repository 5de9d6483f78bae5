"""Names as agents see them: which server, and which of its capabilities.

Rules kept here:
1. A name is put together here and never taken apart by guessing: a server's tool may itself contain a separator, so the
   direct face looks incoming names up among those it gave out. Only `server:tool` can be split, because no server name
   contains a colon.
2. A label that somebody else chose becomes a server name by folding, or is refused; two labels may fold alike, and
   whoever admits them has to refuse both.
"""

import re
from typing import Final, Literal

from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.upstreams import NAME

Separator = Literal["::", "__", "."]
SEPARATORS: Final[tuple[Separator, ...]] = ("::", "__", ".")
"""What may stand between server and name. Some models take no colons, and some no dots."""
REFERENCE: Final = ":"
"""What stands there in what the guard's own tools answer. No server's name has one, so it is understood everywhere."""
LONGEST_QUALIFIED = 128
_OTHER = re.compile(r"[^a-z0-9_-]+")
_UNDERSCORES = re.compile(r"__+")


def qualified(server: str, name: str, separator: Separator) -> str:
    """The name on the direct face. May be longer than `LONGEST_QUALIFIED`, which admission refuses."""
    return f"{server}{separator}{name}"


def reference(text: str) -> tuple[str, str]:
    """The server and the name in `server:name`."""
    server, colon, name = text.partition(":")
    if not colon or not name or not is_server_name(server):
        raise InvalidName("a tool is named server:tool, as retrieve_tools gives it")
    return server, name


def is_server_name(text: str) -> bool:
    return NAME.fullmatch(text) is not None and "__" not in text


def is_meant(label: str) -> bool:
    """Whether somebody who says this for a name gets what they said: capitals are the same as small letters."""
    return label.isascii() and is_server_name(label.lower())


def folded(label: str) -> str:
    """A server name for a label: lower case, and every run of other characters becomes a hyphen."""
    name = _UNDERSCORES.sub("_", _OTHER.sub("-", label.lower())).strip("-_")[:63].rstrip("-_")
    if not is_server_name(name):
        raise InvalidName(f"{label!r} has no letter or digit that a server name could be made of")
    return name
