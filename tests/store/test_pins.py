"""What is known of capabilities comes back from both databases as it was put there."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.store.rows import pins, versions
from tests.tiers import examples

A, B = (Fingerprint(f"v1:{letter * 64}") for letter in "ab")
PRINTS = st.none() | st.sampled_from([A, B])
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
PINS = st.builds(
    Pin,
    id=st.just("one"),
    upstream=st.just("up"),
    kind=st.sampled_from(CapabilityKind),
    name=TEXT,
    listed=PRINTS,
    standing=st.sampled_from(CapabilityStanding),
    present=st.booleans(),
    approved=PRINTS,
    effect=st.none() | st.sampled_from(Effect),
    returned=st.booleans(),
    rejected=PRINTS,
    generation=st.integers(0, 2**53),
    findings_read=st.frozensets(st.sampled_from(["hidden.tags", "secrecy.order"])),
    approved_since=st.integers(0, 2**53),
)
PIN = Pin("one", "up", CapabilityKind.TOOL, "tool", A)


@given(PINS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50), deadline=None)
def test_a_pin_comes_back_as_it_was(connection: Connection, pin: Pin) -> None:
    pins.put(connection, [pin])
    assert pins.pins_of(connection, "up") == [pin], "in the place of the one before"


def test_pins_are_given_by_upstream_in_order(connection: Connection) -> None:
    prompt = replace(PIN, id="two", kind=CapabilityKind.PROMPT)
    first, other = replace(PIN, id="three", name="a"), replace(PIN, id="four", upstream="other")
    pins.put(connection, [PIN, prompt, first, other])
    pins.put(connection, [])
    assert pins.pins_of(connection, "up") == [prompt, first, PIN]
    assert pins.pins_of(connection, "other") == [other]
    assert pins.pins_of(connection, "nobody") == []


def test_one_name_is_one_capability(connection: Connection) -> None:
    pins.put(connection, [PIN])
    with pytest.raises(IntegrityError):
        pins.put(connection, [replace(PIN, id="another")])


def test_a_definition_is_kept_once_and_says_when_it_was_seen(connection: Connection) -> None:
    for at, fingerprint, definition in ((1, A, b"a"), (2, B, b"b"), (5, A, b"never looked at again")):
        versions.put_seen(connection, "one", fingerprint, definition, at)
    assert versions.versions_of(connection, "one") == [versions.Version(A, b"a", 1, 5), versions.Version(B, b"b", 2, 2)]
    assert versions.definition(connection, "one", B) == b"b"
    assert versions.definition(connection, "two", B) is None
    assert versions.versions_of(connection, "two") == []
