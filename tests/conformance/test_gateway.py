"""The public suite through the guard: its server scenarios at the transparent face, its client scenarios behind it."""

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from mcpguard.domain.asks import AskKind
from mcpguard.domain.servers.launches import DeclaredServer, Profile, StdioLaunch
from tests.clock import FakeClock
from tests.conformance.fixture import face
from tests.conformance.runner import REQUIREMENTS, Outcome, required, run_clients, run_suite
from tests.conformance.sdk_served import COMMAND, serving_sdk
from tests.gate import gate, remote
from tests.process import ROOT
from tests.simulators.over_http import serving_http

pytestmark = pytest.mark.anyio

GUARDED = [sys.executable, str(Path(__file__).parent / "guarded_client.py")]

COUNTS = {"2025-11-25": 30, "2026-07-28": 37}
"""Server scenarios that are required."""

CLIENTS = {
    "2025-11-25": {"elicitation-sep1034-client-defaults", "initialize", "sse-retry", "tools_call"},
    "2026-07-28": {
        "http-custom-headers",
        "http-invalid-tool-headers",
        "http-standard-headers",
        "json-schema-ref-no-deref",
        "request-metadata",
        "sep-2322-client-request-state",
        "tools_call",
    },
}
"""Client scenarios that apply."""


class Alone(NamedTuple):
    """What the suite says of a server without a guard, in one revision."""

    revision: str
    outcome: Outcome


@asynccontextmanager
async def going(clock: FakeClock) -> AsyncIterator[None]:
    """Let the guard's clock go, twice as fast as the machine's.

    The suite has the server say that its lists have changed, and waits 1.5 seconds by the machine's clock for the
    guard to say so too. The guard reads the lists again a second later by its own: at the machine's speed, half a
    second would be left for that, which a busy machine does not always have.
    """

    async def go() -> None:
        then = time.monotonic()
        while True:
            await anyio.sleep(0.05)  # a moment, which is what passes
            now = time.monotonic()
            clock.tick(2 * (now - then))
            then = now

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(go)
        yield
        tasks.cancel_scope.cancel()


@pytest.fixture(scope="module", params=REQUIREMENTS)
def alone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """What the suite says of the server made with the SDK when no guard is in front of it."""

    async def look(folder: Path) -> Outcome:
        async with serving_sdk() as url:
            return await run_suite(url, request.param, folder)

    return Alone(request.param, anyio.run(look, tmp_path_factory.mktemp("alone")))


def test_a_server_of_the_sdk_has_what_the_suite_asks_for(alone: Alone) -> None:
    """So that what fails behind the guard is the guard's doing."""
    must_have_passed(alone.outcome, alone.revision)


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_a_server_of_the_sdk_behind_the_guard(alone: Alone, transport: str, tmp_path: Path) -> None:
    if transport == "http":
        async with serving_sdk() as url:
            outcome = await guarded(remote("fixture", url), alone.revision, tmp_path)
    else:
        outcome = await guarded(started(*COMMAND), alone.revision, tmp_path)
    must_have_passed(outcome, alone.revision)
    assert not outcome.warned_beyond(alone.outcome), str(outcome)


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("revision", REQUIREMENTS)
async def test_a_server_behind_the_guard(revision: str, transport: str, tmp_path: Path) -> None:
    """By itself this one has no warnings."""
    if transport == "http":
        async with serving_http(face()) as url:
            outcome = await guarded(remote("fixture", url), revision, tmp_path)
    else:
        outcome = await guarded(started(sys.executable, "-m", "tests.conformance.fixture"), revision, tmp_path)
    must_have_passed(outcome, revision)
    assert not outcome.warnings, str(outcome)


@pytest.mark.parametrize("revision", REQUIREMENTS)
async def test_the_guard_as_a_client(revision: str, tmp_path: Path) -> None:
    outcome = await run_clients(GUARDED, revision, tmp_path, sorted(CLIENTS[revision]))
    assert not outcome.failing, str(outcome)
    assert not outcome.warnings, str(outcome)
    assert outcome.code == 0, str(outcome)
    assert {scenario.name for scenario in outcome.required} == CLIENTS[revision]


@pytest.mark.parametrize("revision", REQUIREMENTS)
def test_every_client_scenario_is_spoken_for(revision: str) -> None:
    """Authorization (`auth/…`) is not there yet: credentials are configured headers."""
    rest = {*required(revision, "client")} - CLIENTS[revision]
    assert all(name.startswith("auth/") for name in rest)


async def guarded(server: DeclaredServer, revision: str, folder: Path) -> Outcome:
    """What the suite says of the server behind a guard at its defaults."""
    results = folder / "suite"
    results.mkdir()
    async with gate(folder, server, may_ask={"fixture": AskKind}) as guard, going(guard.clock):
        return await run_suite(guard.where.url + "/mcp/only/fixture", revision, results)


def started(command: str, *arguments: str) -> DeclaredServer:
    """A server that is a process, unconfined."""
    launch = StdioLaunch(command, arguments, folder=str(ROOT), profile=Profile.NONE)
    return DeclaredServer("fixture", "fixture", launch)


def must_have_passed(outcome: Outcome, revision: str) -> None:
    """Every required scenario was run and passed, and the suite agrees."""
    assert not outcome.failing, str(outcome)
    assert len(outcome.required) == COUNTS[revision]
    assert outcome.code == 0, str(outcome)
