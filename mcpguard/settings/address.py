"""Addresses in settings: where mcpguard may listen, and which Host headers it accepts.

Without TLS it listens on loopback only, because tokens would cross the network unencrypted. No name is resolved,
because it could lead to another address later; `localhost` is the only name accepted for listening.
"""

import ipaddress
import re
from collections.abc import Iterable
from typing import Final

_ADDRESS: Final = re.compile(r"(?:\[(?P<six>[^\[\]]*)\]|(?P<four>[^:\[\]]*)):(?P<port>[0-9]{1,5})")
_HOST: Final = re.compile(
    r"(?P<host>\[[0-9a-f:.]+\]|(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)(?::(?P<port>[0-9]{1,5}))?"
)
TLS: Final = "https://"
"""The prefix of a host that is reached over TLS, of the guard itself or of a proxy in front of it."""
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
"""How a Host header names this machine."""
_LOOPBACK: Final = ipaddress.ip_network("127.0.0.0/8")
_LOOPBACK_SIX: Final = ipaddress.IPv6Address("::1")
_LARGEST_PORT: Final = 65535
UNKNOWN_HOST: Final = "This guard does not serve this host name. Add it to the setting `hosts` if it should."


class OwnHosts:
    """The Host headers that the guard is reached by. Settings, not request headers, say which of them are reached over
    TLS. `tls`: the guard speaks it itself, and so at all of them.
    """

    def __init__(self, address: tuple[str, int], more: Iterable[str], *, tls: bool = False) -> None:
        host, port = address
        names = (*LOOPBACK, f"[{host}]" if ":" in host else host)
        given = [each.lower() for each in more]
        every = [*(f"{name}:{port}" for name in names), *given]
        every = [f"{TLS}{each.removeprefix(TLS)}" for each in every] if tls else every
        is_anywhere = host != "localhost" and ipaddress.ip_address(host).is_unspecified
        known_as = given[0].removeprefix(TLS) if given and is_anywhere else f"{names[-1]}:{port}"
        self.url = f"{TLS if tls else 'http://'}{known_as}"
        """Where the guard is: its own address, or the first of `more` where it listens on all addresses."""
        self._ours = {each.removeprefix(TLS) for each in every}
        self._secure = {each.removeprefix(TLS) for each in every if each.startswith(TLS)}

    def scheme(self, host: str) -> str | None:
        """Return the scheme by which a host, in lower case, is reached; None if it is not ours."""
        if host not in self._ours:
            return None
        return "https" if host in self._secure else "http"


def split(address: str) -> tuple[str, int]:
    """Split `host:port`; the host is returned without brackets. Raises ValueError."""
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found["port"]) > _LARGEST_PORT:
        raise ValueError("must be host:port, such as 127.0.0.1:8080 or [::1]:8080")
    return (found["four"] if found["six"] is None else found["six"]).lower(), int(found["port"])


def listen_address(address: str) -> str:
    """Return the address if it is one to listen on. Raises ValueError."""
    host, _port = split(address)
    is_bracketed = address.startswith("[")
    if host != "localhost" or is_bracketed:
        try:
            is_six = ipaddress.ip_address(host).version == 6
        except ValueError:
            raise ValueError("must name an IP address or localhost, such as 127.0.0.1:8080 or [::1]:8080") from None
        if is_six is not is_bracketed:
            raise ValueError("must be host:port, such as 127.0.0.1:8080 or [::1]:8080")
    return address


def is_on_loopback(address: str) -> bool:
    """Tell whether only this host reaches an address to listen on."""
    host, _port = split(address)
    return _is_loopback(host, bracketed=address.startswith("["))


def host_header(value: str) -> str:
    """Return the value of a Host header in lower case, as it is compared. Raises ValueError."""
    found = _HOST.fullmatch(value.lower().removeprefix(TLS))
    if found is None or int(found["port"] or 0) > _LARGEST_PORT:
        raise ValueError("must be host or host:port, optionally with https:// before it")
    return value.lower()


def network(value: str) -> str:
    """Return a network in CIDR form, or one address. Raises ValueError."""
    try:
        return str(ipaddress.ip_network(value))
    except ValueError:
        raise ValueError("must be a network such as 127.0.0.0/8 or fd00::/8, with no host bits set") from None


def proxy_network(value: str) -> str:
    """Return a network of proxies in CIDR form. Raises ValueError, also for one that everybody is in."""
    found = network(value)
    if ipaddress.ip_network(found).prefixlen == 0:
        raise ValueError("must name the proxies themselves, such as 10.0.0.5/32: anybody could say who they are")
    return found


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
