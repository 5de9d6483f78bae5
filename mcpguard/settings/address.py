"""Addresses as an operator writes them: what may be listened on, and which Host headers are accepted.

Listening is refused everywhere but on loopback, because tokens would go over the network in clear. Nothing is resolved:
a name that the resolver would have to look up could mean another address tomorrow. `localhost` is the exception.
"""

import ipaddress
import re
from typing import Final

_ADDRESS: Final = re.compile(r"(?:\[(?P<six>[^\[\]]*)\]|(?P<four>[^:\[\]]*)):(?P<port>[0-9]{1,5})")
_HOST: Final = re.compile(
    r"(?P<host>\[[0-9a-f:.]+\]|(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)(?::(?P<port>[0-9]{1,5}))?"
)
TLS: Final = "https://"
"""Before a host at which a proxy in front of us speaks TLS."""
_LOOPBACK: Final = ipaddress.ip_network("127.0.0.0/8")
_LOOPBACK_SIX: Final = ipaddress.IPv6Address("::1")
_LARGEST_PORT: Final = 65535


def split(address: str) -> tuple[str, int]:
    """Split `host:port`; the host comes without brackets."""
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found["port"]) > _LARGEST_PORT:
        raise ValueError("must be host:port, such as 127.0.0.1:8080 or [::1]:8080")
    return (found["four"] if found["six"] is None else found["six"]).lower(), int(found["port"])


def loopback(address: str) -> str:
    """Accept an address to listen on."""
    host, _port = split(address)
    if not _is_loopback(host, bracketed=address.startswith("[")):
        raise ValueError(
            "must be on loopback (127.0.0.0/8, [::1] or localhost): tokens would go over the network in clear,"
            " so this version listens on loopback only"
        )
    return address


def host_header(value: str) -> str:
    """Accept an exact Host header value, in the form that it is compared in; `https://` before it stays there."""
    found = _HOST.fullmatch(value.lower().removeprefix(TLS))
    if found is None or int(found["port"] or 0) > _LARGEST_PORT:
        raise ValueError("must be a host or host:port, with https:// before it or nothing")
    return value.lower()


def network(value: str) -> str:
    """Accept a network in CIDR form, or one address."""
    try:
        return str(ipaddress.ip_network(value))
    except ValueError:
        raise ValueError("must be a network such as 127.0.0.0/8 or fd00::/8, with no host bits set") from None


def _is_loopback(host: str, *, bracketed: bool) -> bool:
    if host == "localhost":
        return not bracketed
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        return ip == _LOOPBACK_SIX  # one with a scope is another address
    return not bracketed and ip in _LOOPBACK
