"""The public suite through the guard: its server scenarios at the transparent face, its client scenarios behind it."""

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.asks import AskKind
from mcpguard.domain.launches import Declared, Profile, StdioLaunch
from tests.clock import FakeClock
from tests.conformance.fixture import face
from tests.conformance.runner import REQUIREMENTS, required, run_clients, run_suite
from tests.gate import gate, remote
from tests.simulators.over_http import serving_http

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
GUARDED = [sys.executable, str(Path(__file__).parent / "guarded_client.py")]
STDIO = Declared(
    "fixture",
    "fixture",
    StdioLaunch(sys.executable, ("-m", "tests.conformance.fixture"), folder=str(ROOT), profile=Profile.NONE),
)

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


@asynccontextmanager
async def going(clock: FakeClock) -> AsyncIterator[None]:
    """The suite goes by the machine's time, and has the server say that its lists are others. So the guard's goes too,
    or no list would be read again, and no call go out.
    """

    async def go() -> None:
        then = time.monotonic()
        while True:
            await anyio.sleep(0.05)  # a moment, which is what passes
            now = time.monotonic()
            clock.tick(now - then)
            then = now

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(go)
        yield
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("revision", REQUIREMENTS)
async def test_a_server_behind_the_guard(revision: str, transport: str, tmp_path: Path) -> None:
    async with serving_http(face()) as url:
        server = remote("fixture", url) if transport == "http" else STDIO
        async with gate(tmp_path, server, may_ask={"fixture": AskKind}) as guard:
            await guard.ready("fixture")
            async with going(guard.clock):
                outcome = await run_suite(guard.where.url + "/mcp/only/fixture", revision, _made(tmp_path / "suite"))
    assert not outcome.failing, outcome
    assert len(outcome.required) == COUNTS[revision]
    assert all(scenario.passed for scenario in outcome.required)


@pytest.mark.parametrize("revision", REQUIREMENTS)
async def test_the_guard_as_a_client(revision: str, tmp_path: Path) -> None:
    outcome = await run_clients(GUARDED, revision, tmp_path, sorted(CLIENTS[revision]))
    assert not outcome.failing, outcome
    assert {scenario.name for scenario in outcome.required} == CLIENTS[revision]


@pytest.mark.parametrize("revision", REQUIREMENTS)
def test_every_client_scenario_is_spoken_for(revision: str) -> None:
    """Authorization (`auth/…`) is not there yet: credentials are configured headers."""
    rest = {*required(revision, "client")} - CLIENTS[revision]
    assert all(name.startswith("auth/") for name in rest)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
