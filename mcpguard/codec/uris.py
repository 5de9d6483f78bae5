"""Resource URIs of several servers behind one endpoint: each contains its server and the server's own URI.

    proxy://resource/<base64url of {"server": …, "uri": …}>

Rules kept here:
1. A URI can be decoded without a lookup table: nothing has to be stored for it.
2. It is a name and grants nothing. An attacker can construct one, so its reader judges the pair inside as if it had
   arrived unencoded.
3. Anything not exactly in this form is refused, not repaired.
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
"""Characters of a URI in a request: a longer one, also on the direct face, cannot be requested."""
_HIDDEN = re.compile(r"[\x00-\x20\x7f\\]|%(?:2f|5c|00)|%25", re.IGNORECASE)
_BETWEEN = re.compile(r"[/:;?&=#,]")
_CONTROL = {"Cc", "Zl", "Zp"}
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Characters that some file systems and servers skip, beside format characters."""
_AS_READ = str.maketrans("\u2215\u2044\u29f8\u2216\u29f5\u29f9\u00a5\u20a9\u3002", "///" + "\\" * 5 + ".")
"""Characters that become a separator or a dot in a smaller character set."""
_ITS_OWN = re.compile(r"(?:^|[/:;?&=#,])(?:/|\s*~|\s*[A-Za-z][:|]|\s*\$(?:\{|[A-Z_]{2}))")


def wrap_uri(server: str, uri: str) -> str:
    """Return the URI under which agents see a server's resource."""
    token = base64.urlsafe_b64encode(orjson.dumps({"server": server, "uri": uri}))
    return PREFIX + token.rstrip(b"=").decode()


def unwrap_uri(uri: str) -> tuple[str, str]:
    """Return the server and its own URI from a wrapped URI. Raises InvalidName."""
    if not uri.startswith(PREFIX) or len(uri) > LONGEST:
        raise InvalidName("this is not a resource of this endpoint; use the URIs that resources/list gives")
    token = uri.removeprefix(PREFIX).rstrip("=")
    try:
        value = parse(base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True), max_bytes=LONGEST)
    except (StrictError, binascii.Error, ValueError):
        raise InvalidName("the URI of the resource cannot be read") from None
    match value:
        case {"server": str(server), "uri": str(inner), **rest} if not rest and is_server_name(server) and inner:
            return server, inner
        case _:
            raise InvalidName("the URI of the resource does not name a server and a resource")


def is_below(uri: str, whole: str) -> bool:
    """Tell whether a URI is below another one."""
    return len(uri) > len(whole) and uri.startswith(whole.removesuffix("/") + "/")


def is_harmless(uri: str) -> bool:
    """Tell whether no server can read the URI differently than we do.

    Such a URI does not climb, has no empty part before its last one, hides no separator in an encoding or in another
    character, is text when it is decoded, and has no control character.
    """
    if len(uri) > LONGEST_URI or _HIDDEN.search(uri):
        return False
    read = _as_read(uri)
    if read is None or any("".join(part.split()) in (".", "..") for part in _BETWEEN.split(read)):
        return False
    _, _, place = read.partition(":")
    return "//" not in place.removeprefix("//")


def is_relative(part: str) -> bool:
    """Tell whether no server can read this part of a harmless URI as an absolute place.

    Neither the part nor anything in it begins with a separator, a home directory, a drive or an environment variable.
    """
    read = _as_read(part)
    return read is not None and not _ITS_OWN.search(read)


def users_in(host: str) -> int:
    """Return how often a server may read a user name, ended by `@`, in the host of a harmless URI."""
    return (_as_read(host) or "").count("@")


def _as_read(text: str) -> str | None:
    """Return a URI as a server may read it that decodes, normalises, and drop invisible characters.

    Returns None where the server could read a separator that we do not see, and where the URI is no text.
    """
    if text.isascii() and "%" not in text:
        return text
    try:
        text = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return None
    read = text if text.isascii() else _seen(unicodedata.normalize("NFKC", _seen(text))).translate(_AS_READ)
    hidden = "%" in read or "\\" in read or read.count("/") > text.count("/")
    return None if hidden or any(unicodedata.category(each) in _CONTROL for each in read) else read


def _seen(text: str) -> str:
    return "".join(each for each in _UNSEEN.sub("", text) if unicodedata.category(each) != "Cf")
