"""Makes sure that an address admits the guard and nothing else where programs read it as a pattern.

Rules kept here:
1. Programs treat `*` as a wildcard, replace `${NAME}`, and let an address without a path stand for every path. An
   address with any of these is refused, so that what is deployed matches by equality only.
2. The host is in lower case, and the usual port is left out, because programs compare after doing the same.
3. No message repeats the address: it may hold a secret.
"""

import ipaddress
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from mcpguard.policy.secrets.launches import secret_in_url

_PLAIN: Final = re.compile(r"[A-Za-z0-9._~:/\[\]?=&-]+")
"""Matches what no program reads as anything but itself."""
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\]")
_USUAL: Final = {"http": 80, "https": 443}


class NotExact(ValueError):
    """An address or command would match more than the guard. The message says why, and repeats nothing of it."""


def exact_address(url: str) -> str:
    """Return the address of the guard in the form that is compared. Raises NotExact."""
    if not _PLAIN.fullmatch(url) or "[" in url.partition("://")[2].partition("/")[2]:
        raise NotExact("has a character that programs could read as a pattern; take letters, digits and . _ ~ : / -")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise NotExact("is no URL") from None
    host = f"[{host}]" if ":" in host else host
    if parts.scheme not in _USUAL or not _HOST.fullmatch(host) or ".." in host:
        raise NotExact("must begin with https:// or http:// and a host, such as https://guard.example/mcp")
    if parts.scheme == "http" and not is_on_this_host(url):
        raise NotExact("must begin with https:// beyond this host: tokens would cross the network unencrypted")
    if len(parts.path) < 2 or "//" in parts.path or {".", ".."} & {*parts.path.split("/")}:
        raise NotExact("needs its path, such as /mcp: without one, programs admit every path of the host")
    if secret_in_url(url):
        raise NotExact("has an apparent secret, which everybody on the machine could read")
    where = host if port in (None, _USUAL[parts.scheme]) else f"{host}:{port}"
    return f"{parts.scheme}://{where}{parts.path}" + (f"?{parts.query}" if parts.query else "")


def exact_command(words: Sequence[str]) -> tuple[str, ...]:
    """Return the command that starts the way to the guard. Raises NotExact."""
    if any("$" in word or "*" in word or not word.isprintable() for word in words):
        raise NotExact("has a $, a * or a control character in its command, which programs could read as a pattern")
    return tuple(words)


def is_on_this_host(url: str) -> bool:
    """Tell whether the address is on loopback."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
