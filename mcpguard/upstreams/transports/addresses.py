"""Decides which IP addresses a server's URL may resolve to (protection against SSRF).

Rules kept here:
1. Only public addresses are allowed, unless the operator allowed a network. A name is resolved here, each of its
   addresses is checked, and only a checked address is dialled, so that a name that resolves differently a moment later
   (DNS rebinding) has no effect.
2. Of IPv6 only the range used by the internet is public: addresses outside of `2000::/3` belong to private networks or
   are unassigned.
3. An IPv4 address embedded in an IPv6 address (mapped, compatible, translated, 6to4, Teredo, NAT64) is checked itself.
4. A name is refused if any of its addresses is forbidden: which one is dialled must not depend on chance.
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
"""168.63.129.16 is a public address by its number; in one cloud it reaches the host that a virtual machine runs on."""
_NAT64 = ip_network("64:ff9b::/96")
_INTERNET = (ip_network("2000::/3"), _NAT64)
_INSIDE_AT_THE_END = (ip_network("::/96"), ip_network("::ffff:0:0:0/96"), _NAT64)


class ForbiddenAddress(GuardError):
    """A URL leads to a forbidden address. The message names it, and says what the operator can do."""


def is_public(address: Address) -> bool:
    """Tell whether it is an address on the internet: not of this host, not of a private network, and not unassigned."""
    on_the_internet = isinstance(address, IPv4Address) or any(address in network for network in _INTERNET)
    return (
        on_the_internet
        and address.is_global
        and all(
            not any(one.version == network.version and one in network for network in _NOT_PUBLIC)
            for one in (address, *_inside(address))
        )
    )


async def allowed_addresses(host: str, port: int, allowed: Collection[Network]) -> tuple[Address, ...]:
    """Return the addresses of `host`, all of which may be dialled. Raises ForbiddenAddress."""
    # All addresses are checked before one is dialled: otherwise a name with a public and a private address would lead
    # inside whenever the public one does not answer.
    found = [_address(host)] if _is_address(host) else await _resolved(host, port)
    for address in found:
        if not is_public(address) and not _is_allowed(address, allowed):
            raise ForbiddenAddress(
                f"{host} resolves to {address}, which is not a public address; the operator can allow its network"
            )
    return tuple(found)


def _is_allowed(address: Address, allowed: Collection[Network]) -> bool:
    """Tell whether the operator allowed the address and, if another is inside it, that too: either may be really
    reached.
    """
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
    # Written as IPv6, 169.254.169.254 or 127.0.0.1 would pass a check that looks at the outer address only.
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
        raise ForbiddenAddress(f"{host} names a network interface of this host; use an address without a zone")
    return address


async def _resolved(host: str, port: int) -> list[Address]:
    try:
        answers = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ForbiddenAddress(f"cannot resolve {host!a}: {error}") from error
    found = list(dict.fromkeys(ip_address(str(answer[4][0]).partition("%")[0]) for answer in answers))
    if not found:
        raise ForbiddenAddress(f"{host} has no address")
    return found
