"""Resource URIs of several servers behind one endpoint: each carries its server and the server's own URI.

    proxy://resource/<base64url of {"server": …, "uri": …}>

Rules kept here:
1. A token can be read without any list: nothing has to be remembered for it.
2. It is a name and not a right. Anyone can make one, so whoever reads it judges the pair inside as if it had been said
   in clear.
3. What is not exactly of this form is refused, not repaired.
"""

import base64
import binascii
import re
import unicodedata
from urllib.parse import unquote

import orjson

from mcpguard.codec.names import is_server_name
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.errors import InvalidName

PREFIX = "proxy://resource/"
LONGEST = 16_384
LONGEST_URI = 8192
"""In a request: what is longer, or grows longer on the direct face, could not be asked for."""
_HIDDEN = re.compile(r"[\x00-\x20\x7f\\]|%(?:2f|5c|00)|%25", re.IGNORECASE)
_BETWEEN = re.compile(r"[/:;?&=#,]")
_CONTROL = {"Cc", "Zl", "Zp"}


def wrapped(server: str, uri: str) -> str:
    """The URI under which agents see a server's resource."""
    token = base64.urlsafe_b64encode(orjson.dumps({"server": server, "uri": uri}))
    return PREFIX + token.rstrip(b"=").decode()


def unwrapped(uri: str) -> tuple[str, str]:
    """The server, and its own URI, that a wrapped one names."""
    if not uri.startswith(PREFIX) or len(uri) > LONGEST:
        raise InvalidName("this is not a resource of this endpoint; use the URIs that resources/list gives")
    token = uri.removeprefix(PREFIX).rstrip("=")
    try:
        said = parse(base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True), max_bytes=LONGEST)
    except (StrictError, binascii.Error, ValueError):
        raise InvalidName("the URI of the resource cannot be read") from None
    match said:
        case {"server": str(server), "uri": str(inner), **rest} if not rest and is_server_name(server) and inner:
            return server, inner
        case _:
            raise InvalidName("the URI of the resource does not name a server and a resource")


def is_below(uri: str, whole: str) -> bool:
    """Whether this is a part of another resource, as far as their URIs say so."""
    return len(uri) > len(whole) and uri.startswith(whole.removesuffix("/") + "/")


def is_harmless(uri: str) -> bool:
    """Whether a server cannot read it differently than we do.

    It does not climb, hides no separator in an encoding, is text when it is decoded, and holds no control character.
    """
    if len(uri) > LONGEST_URI or _HIDDEN.search(uri):
        return False
    try:
        said = unquote(uri, errors="strict")
    except UnicodeDecodeError:
        return False
    return ".." not in _BETWEEN.split(said) and not any(unicodedata.category(each) in _CONTROL for each in said)
