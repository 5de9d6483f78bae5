"""Reads from the headers of named proxies which client a request comes from (`X-Forwarded-For`, RFC 7239).

Rules kept here:
1. Only a named proxy is believed. What it was told itself, by whoever came to it, is not: the list is read from its
   end, and the first address that is no named proxy is the client.
2. Where the two headers say different things, neither is believed: a proxy that writes one passes the other on as its
   client sent it. What cannot be read is not believed either. The address is then the proxy's own.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

_PORT: Final = r"(?::[0-9]{1,5})?"
_HOP: Final = re.compile(rf"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]{_PORT}|(?P<four>[0-9.]+){_PORT}|(?P<bare>[0-9A-Fa-f:.]+))")
_ELEMENT: Final = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*")*')
_FOR: Final = re.compile(r'(?:^|;)[ \t]*for=(?:"(?P<quoted>[^"\\]*)"|(?P<token>[^";,\s]*))[ \t]*(?=;|$)', re.IGNORECASE)
_LONGEST: Final = 4096
Headers = Iterable[tuple[bytes, bytes]]


class Proxies:
    """The proxies that are named: whoever connects from one of these networks."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = [ip_network(each) for each in networks]
        self._is_named = lru_cache(1024)(self._look)

    def __bool__(self) -> bool:
        return bool(self._networks)

    def __contains__(self, host: str) -> bool:
        return bool(self._networks) and self._is_named(host)

    def client_of(self, peer: str, headers: Headers) -> str:
        """Return the address of the client whose request came from this peer, itself if that is no proxy."""
        if peer not in self:
            return peer
        told = tuple(headers)
        given = [self._client(peer, hops) for hops in (_x_forwarded_for(told), _forwarded(told)) if hops]
        return given[0] if len({*given}) == 1 else peer

    def _client(self, peer: str, hops: Sequence[str]) -> str:
        known = peer
        for hop in reversed(hops):
            address = _address(hop)
            if address is None:
                break
            known = str(address)
            if known not in self:
                break
        return known

    def _look(self, host: str) -> bool:
        address = _address(host)
        return address is not None and any(address in network for network in self._networks)


def _x_forwarded_for(headers: Headers) -> list[str]:
    return [hop.strip() for value in _values(headers, b"x-forwarded-for") for hop in value.split(",")]


def _forwarded(headers: Headers) -> list[str]:
    return [_for(element) for value in _values(headers, b"forwarded") for element in _elements(value)]


def _values(headers: Headers, name: bytes) -> Iterator[str]:
    """Yield what a header says, each time it appears. One that is too long says nothing that can be read."""
    for key, value in headers:
        if key == name:
            yield value.decode("latin-1") if len(value) <= _LONGEST else ""


def _elements(value: str) -> Iterator[str]:
    """Split at the commas that stand in no quoted string; what is not quoted to its end cannot be read."""
    at = 0
    while True:
        found = _ELEMENT.match(value, at)
        end = at if found is None else found.end()
        if end < len(value) and value[end] != ",":
            yield ""
            return
        yield value[at:end]
        if end >= len(value):
            return
        at = end + 1


def _for(element: str) -> str:
    """Return what `for=` says in an element; empty if it says nothing, or more than one thing."""
    found = [each["token"] if each["quoted"] is None else each["quoted"] for each in _FOR.finditer(element.strip())]
    return found[0] if len(found) == 1 else ""


def _address(hop: str) -> IPv4Address | IPv6Address | None:
    found = _HOP.fullmatch(hop)
    try:
        address = None if found is None else ip_address(found["six"] or found["four"] or found["bare"])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
