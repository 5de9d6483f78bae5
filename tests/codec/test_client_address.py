"""Which client a request comes from, as named proxies tell, whatever the client itself has said before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.headers.client_address import Proxies

PROXY, INNER, CLIENT = "10.0.0.5", "10.0.7.1", "203.0.113.9"
PROXIES = Proxies(["10.0.0.0/16", "fd00::/8"])
ADDRESSES = st.ip_addresses().map(str).filter(lambda each: each not in PROXIES and "::ffff:" not in each)
JUNK = st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=40)


def headers(*pairs: tuple[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in pairs]


@pytest.mark.parametrize(
    ("told", "client"),
    [
        ([("x-forwarded-for", CLIENT)], CLIENT),
        ([("x-forwarded-for", f"{CLIENT}:4711")], CLIENT),
        ([("x-forwarded-for", f"192.0.2.1, {CLIENT}, {INNER}")], CLIENT),
        ([("x-forwarded-for", "192.0.2.1"), ("x-forwarded-for", CLIENT)], CLIENT),
        ([("x-forwarded-for", f"{INNER}, {INNER}")], INNER),
        ([("x-forwarded-for", "2001:db8::1")], "2001:db8::1"),
        ([("x-forwarded-for", "[2001:DB8::1]:443")], "2001:db8::1"),
        ([("x-forwarded-for", "::ffff:203.0.113.9")], CLIENT),
        ([("x-forwarded-for", f"{CLIENT}, fd00::1")], CLIENT),
        ([("forwarded", f"for={CLIENT};proto=https;by={INNER}")], CLIENT),
        ([("forwarded", f'proto=https; FOR="{CLIENT}:80"')], CLIENT),
        ([("forwarded", 'for="[2001:db8::1]:4711"')], "2001:db8::1"),
        ([("forwarded", f'for=192.0.2.1;host="a,b", for={CLIENT}')], CLIENT),
        ([("forwarded", f"for={CLIENT}"), ("x-forwarded-for", CLIENT)], CLIENT),
        ([("forwarded", f"for={CLIENT}"), ("x-forwarded-for", "192.0.2.1")], PROXY),
        ([("forwarded", "for=unknown")], PROXY),
        ([("forwarded", "for=_hidden")], PROXY),
        ([("forwarded", f"by={INNER}")], PROXY),
        ([("forwarded", f"for={CLIENT};for=192.0.2.1")], PROXY),
        ([("forwarded", f'host="{CLIENT}')], PROXY),
        ([("x-forwarded-for", "")], PROXY),
        ([("x-forwarded-for", f"{CLIENT}, unknown")], PROXY),
        ([("x-forwarded-for", f"{CLIENT}, nonsense, {INNER}")], INNER),
        ([("x-forwarded-for", "1" * 5000)], PROXY),
        ([("x-real-ip", CLIENT)], PROXY),
        ([], PROXY),
    ],
)
def test_the_nearest_address_that_is_no_proxy_is_the_client(told: list[tuple[str, str]], client: str) -> None:
    assert PROXIES.client_of(PROXY, headers(*told)) == client


@pytest.mark.parametrize("peer", ["203.0.113.1", "10.1.0.5", "::1", "fe80::1", "", "nobody"])
def test_nobody_else_is_believed(peer: str) -> None:
    assert PROXIES.client_of(peer, headers(("x-forwarded-for", CLIENT), ("forwarded", f"for={CLIENT}"))) == peer
    assert Proxies().client_of(PROXY, headers(("x-forwarded-for", CLIENT))) == PROXY


@given(st.lists(JUNK, max_size=4), ADDRESSES)
def test_what_a_client_claims_changes_nothing(claimed: list[str], client: str) -> None:
    """The proxy appends the address that it saw, to the header or as a further one."""
    appended = ", ".join([*claimed, client])
    assert PROXIES.client_of(PROXY, headers(("x-forwarded-for", appended))) == client
    further = [*(("x-forwarded-for", each) for each in claimed), ("x-forwarded-for", client)]
    assert PROXIES.client_of(PROXY, headers(*further)) == client


@given(st.lists(JUNK, max_size=3), ADDRESSES)
def test_a_header_that_the_proxy_passes_on_leads_nowhere_else(claimed: list[str], client: str) -> None:
    """The proxy writes one of the two headers, and passes on the other as the client sent it."""
    elsewhere = [("forwarded", each) for each in claimed]
    assert PROXIES.client_of(PROXY, headers(*elsewhere, ("x-forwarded-for", client))) in {client, PROXY}
    elsewhere = [("x-forwarded-for", each) for each in claimed]
    assert PROXIES.client_of(PROXY, headers(*elsewhere, ("forwarded", f'for="[{client}]"'))) in {client, PROXY}
