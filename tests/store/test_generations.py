"""A verdict counts only if the store has the generations that it rests on."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Connection

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.grants import Grant
from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.upstreams import Transport, Upstream
from mcpguard.store.engine.backend import Backend
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.schema import upgrade
from mcpguard.store.files.seals import Seal
from mcpguard.store.rows import callers, generations, pins, upstreams

UPSTREAM = Upstream("up", "web", Transport.HTTP, generation=3, prefixes=("file:///data", "note://ä"))
PIN = Pin("one", "up", CapabilityKind.TOOL, "tool", Fingerprint("v1:" + "a" * 64), generation=7)
GRANT = Grant(Caller("agent", "agent", Scope(("*",), ("*",), frozenset(Effect))), 1, "somebody")
DECLARED = DeclaredServer("web", "web", RemoteLaunch(Transport.HTTP, "https://example.com/mcp"))


@pytest.fixture
def connection(backend: Backend) -> Iterator[Connection]:
    upgrade(backend)
    with backend.connect() as connection:
        backend.begin(connection, Durability.COMMITTED)
        upstreams.put(connection, UPSTREAM, DECLARED, Seal(b"k" * 32))
        pins.put(connection, [PIN, replace(PIN, id="foreign", upstream="other")])
        yield connection


@pytest.mark.parametrize(
    ("upstream", "pin", "same"),
    [
        (("up", 3), ("one", 7), True),
        (("up", 3), None, True),
        (("up", 4), None, False),
        (("up", 4), ("one", 7), False),
        (("up", 3), ("one", 8), False),
        (("up", 3), ("none", 7), False),
        (("up", 3), ("foreign", 7), False),
        (("none", 3), ("one", 7), False),
        (("none", 3), None, False),
        (None, None, True),
    ],
)
def test_both_have_to_be_what_they_were(
    connection: Connection, upstream: tuple[str, int] | None, pin: tuple[str, int] | None, same: bool
) -> None:
    assert generations.are_current(connection, upstream, pin) is same


def test_the_caller_is_one_still(connection: Connection) -> None:
    assert not generations.are_current(connection, ("up", 3), ("one", 7), "agent")
    callers.put(connection, GRANT, b"digest")
    assert generations.are_current(connection, ("up", 3), ("one", 7), "agent")
    assert generations.are_current(connection, None, None, "agent")
    assert not generations.are_current(connection, ("up", 4), ("one", 7), "agent")
    callers.revoke(connection, "agent", 2, "somebody")
    assert not generations.are_current(connection, ("up", 3), ("one", 7), "agent")


def test_an_upstream_is_found_by_its_id_with_everything_of_it(connection: Connection) -> None:
    assert upstreams.find(connection, "up") == UPSTREAM
    assert upstreams.find(connection, "web") is None
