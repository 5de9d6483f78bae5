"""Where a server's URL may lead: the internet, and nowhere on this machine or its network, however it is written."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.upstreams.transports.addresses import ForbiddenAddress, allowed_addresses, is_public

pytestmark = pytest.mark.anyio

INNER = [
    ip_network(text)
    for text in ("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
                 "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4")
]  # fmt: skip
inner = st.sampled_from(INNER).flatmap(lambda network: st.integers(int(network[0]), int(network[-1])).map(IPv4Address))


def clothed(address: IPv4Address) -> list[IPv6Address]:
    """The ways to say an IPv4 address in IPv6."""
    number = int(address)
    return [
        IPv6Address(0xFFFF << 32 | number),  # mapped
        IPv6Address(number),  # compatible
        IPv6Address(0xFFFF << 48 | number),  # translated
        IPv6Address(0x2002 << 112 | number << 80 | 1),  # 6to4
        IPv6Address(0x20010000 << 96 | 0x08080808 << 64 | (number ^ 0xFFFFFFFF)),  # Teredo: the client
        IPv6Address(0x20010000 << 96 | number << 64 | 0),  # Teredo: the server
        IPv6Address(0x0064FF9B << 96 | number),  # NAT64
    ]


@given(inner)
def test_no_address_of_the_inside_is_public_in_any_clothes(address: IPv4Address) -> None:
    assert not is_public(address)
    assert not any(is_public(one) for one in clothed(address))


@given(st.ip_addresses(v=6, network="fc00::/7") | st.ip_addresses(v=6, network="fe80::/9"))
def test_nor_is_one_of_the_inside_of_ipv6(address: IPv6Address) -> None:
    assert not is_public(address)


@given(st.integers(0, 2**125 - 1) | st.integers(2**126, 2**128 - 1))
def test_nor_is_one_that_the_internet_does_not_use(number: int) -> None:
    """Meshes and translators of somebody's own have taken some of them."""
    address = IPv6Address(number)
    assert address in ip_network("64:ff9b::/96") or not is_public(address)


@pytest.mark.parametrize(
    "text",
    ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.0", "11.0.0.1", "2606:4700::1111", "2a00::1"],
)
async def test_an_address_of_the_internet_is_dialled_as_it_stands(text: str) -> None:
    assert is_public(ip_address(text))
    assert await allowed_addresses(text, 443, ()) == (ip_address(text),)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "[::1]", "::1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "017700000001", "0", "0.0.0.0",  # noqa: S104 - to be refused
     "169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "[fd00:ec2::254]", "[200::1]", "[4000::1]",
     "[::ffff:0:127.0.0.1]", "[::ffff:168.63.129.16]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[fe80::1%lo]", "[::]"],
)  # fmt: skip
async def test_nothing_of_this_machine_or_network_is_dialled_however_it_is_written(host: str) -> None:
    with pytest.raises(ForbiddenAddress):
        await allowed_addresses(host, 80, ())


async def test_what_the_operator_allowed_is_dialled_and_nothing_beside_it() -> None:
    allowed = [ip_network("127.0.0.0/8")]
    assert await allowed_addresses("127.0.0.1", 80, allowed) == (IPv4Address("127.0.0.1"),)
    with pytest.raises(ForbiddenAddress):
        await allowed_addresses("10.0.0.1", 80, allowed)
    with pytest.raises(ForbiddenAddress):
        await allowed_addresses("::1", 80, allowed)
    with pytest.raises(ForbiddenAddress):  # the clothes would have to be allowed as well
        await allowed_addresses("::ffff:127.0.0.1", 80, allowed)


@pytest.mark.parametrize("host", ["", "no-such-host.invalid", "a" * 300, "exa mple", "\ud800"])
async def test_a_name_that_leads_nowhere_is_refused_in_a_sentence(host: str) -> None:
    with pytest.raises(ForbiddenAddress):
        await allowed_addresses(host, 80, ())
