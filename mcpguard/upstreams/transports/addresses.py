"""Which addresses a server's URL may lead to.

Rules kept here:
1. Only public addresses, unless the operator allowed a network. A name is resolved here, every address that it has is
   looked at, and what is dialled is an address that was looked at: a name that says something else a moment later
   (DNS rebinding) changes nothing.
2. Of IPv6 only what the internet uses is public: what lies outside of `2000::/3` belongs to a network of somebody's
   own, or to nobody yet.
3. An IPv4 address in the clothes of IPv6 (mapped, compatible, translated, 6to4, Teredo, NAT64) is judged as what is
   inside.
4. One forbidden address among several is enough to refuse the name: which one is dialled must not be luck.
"""

import socket
from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import anyio

from mcpguard.domain.errors import GuardError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NOT_PUBLIC: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "168.63.129.16/32", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20",
    )
)  # fmt: skip
"""168.63.129.16 is a public address by its number; on machines of one cloud it is the host that they run on."""
_NAT64 = ip_network("64:ff9b::/96")
_INTERNET = (ip_network("2000::/3"), _NAT64)
_INSIDE_AT_THE_END = (ip_network("::/96"), ip_network("::ffff:0:0:0/96"), _NAT64)


class ForbiddenAddress(GuardError):
    """A URL leads to where no server of ours may be. Says where, and what the operator can do."""


def is_public(address: Address) -> bool:
    """Whether it is an address on the internet, and not of this machine, this network or no one."""
    on_the_internet = isinstance(address, IPv4Address) or any(address in network for network in _INTERNET)
    return (
        on_the_internet
        and address.is_global
        and all(
            not any(one.version == network.version and one in network for network in _NOT_PUBLIC)
            for one in (address, *_inside(address))
        )
    )


async def checked(host: str, port: int, allowed: Collection[Network]) -> tuple[Address, ...]:
    """The addresses of `host`, each of which may be dialled. Raises ForbiddenAddress."""
    found = [_address(host)] if _is_address(host) else await _resolved(host, port)
    for address in found:
        if not is_public(address) and not _is_allowed(address, allowed):
            raise ForbiddenAddress(
                f"{host} leads to {address}, which is not a public address; the operator can allow its network"
            )
    return tuple(found)


def _is_allowed(address: Address, allowed: Collection[Network]) -> bool:
    """The operator allows what is really dialled, so of an address inside another both must be allowed."""
    return all(
        any(one.version == network.version and one in network for network in allowed)
        for one in (address, *_inside(address))
    )


def _inside(address: Address) -> Iterator[IPv4Address]:
    if isinstance(address, IPv4Address):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in _INSIDE_AT_THE_END):
        yield IPv4Address(int(address) & 0xFFFF_FFFF)


def _is_address(host: str) -> bool:
    try:
        _address(host)
    except ValueError:
        return False
    return True


def _address(host: str) -> Address:
    address = ip_address(host.removeprefix("[").removesuffix("]"))
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        raise ForbiddenAddress(f"{host} names an interface of this machine")
    return address


async def _resolved(host: str, port: int) -> list[Address]:
    try:
        answers = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ForbiddenAddress(f"{host!a} cannot be resolved: {error}") from error
    found = list(dict.fromkeys(ip_address(str(answer[4][0]).partition("%")[0]) for answer in answers))
    if not found:
        raise ForbiddenAddress(f"{host} has no address")
    return found
