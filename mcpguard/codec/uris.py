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
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Beside format characters, what some file systems and some servers pass over."""
_AS_READ = str.maketrans("\u2215\u2044\u29f8\u2216\u29f5\u29f9\u00a5\u20a9\u3002", "///" + "\\" * 5 + ".")
"""What becomes a separator or a dot where text is turned into a smaller character set."""
_ITS_OWN = re.compile(r"(?:^|[/:;?&=#,])(?:/|\s*~|\s*[A-Za-z][:|]|\s*\$(?:\{|[A-Z_]{2}))")


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

    It does not climb, has no empty part before its last one, hides no separator in an encoding or in another
    character, is text when it is decoded, and holds no control character.
    """
    if len(uri) > LONGEST_URI or _HIDDEN.search(uri):
        return False
    said = _as_read(uri)
    if said is None or any("".join(part.split()) in (".", "..") for part in _BETWEEN.split(said)):
        return False
    _, _, place = said.partition(":")
    return "//" not in place.removeprefix("//")


def is_relative(part: str) -> bool:
    """Whether a server cannot read this part of a harmless URI as a place of its own.

    It does not begin with a separator, a home directory, a drive or a variable of the environment, and nothing in it
    does.
    """
    said = _as_read(part)
    return said is not None and not _ITS_OWN.search(said)


def users_in(host: str) -> int:
    """How often a server may take what comes before, in the host of a harmless URI, for a user and no host."""
    return (_as_read(host) or "").count("@")


def _as_read(said: str) -> str | None:
    """As a server may read it that decodes, that normalises and that drops what cannot be seen.

    None where it could read a separator there that we do not see, and where it is no text.
    """
    if said.isascii() and "%" not in said:
        return said
    try:
        said = unquote(said, errors="strict")
    except UnicodeDecodeError:
        return None
    read = said if said.isascii() else _seen(unicodedata.normalize("NFKC", _seen(said))).translate(_AS_READ)
    hidden = "%" in read or "\\" in read or read.count("/") > said.count("/")
    return None if hidden or any(unicodedata.category(each) in _CONTROL for each in read) else read


def _seen(said: str) -> str:
    return "".join(each for each in _UNSEEN.sub("", said) if unicodedata.category(each) != "Cf")
