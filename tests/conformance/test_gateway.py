"""The public suite through the guard: its server scenarios at the transparent face, its client scenarios behind it.

What a server asks of the client is refused until the guard can carry it both ways; the scenarios that wait for that are
named, and one that passes although it is named is a mistake here.
"""

import sys
from pathlib import Path

import pytest

from mcpguard.domain.launches import Declared, StdioLaunch
from tests.conformance.fixture import face
from tests.conformance.runner import REQUIREMENTS, required, run_clients, run_suite
from tests.gate import gate, remote
from tests.simulators.over_http import serving_http

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
GUARDED = [sys.executable, str(Path(__file__).parent / "guarded_client.py")]
STDIO = Declared(
    "fixture", "fixture", StdioLaunch(sys.executable, ("-m", "tests.conformance.fixture"), folder=str(ROOT))
)

ASKS_THE_CLIENT = {
    "2025-11-25": {
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        "tools-call-elicitation",
        "tools-call-sampling",
    },
    "2026-07-28": {
        "input-required-result-basic-elicitation",
        "input-required-result-basic-list-roots",
        "input-required-result-basic-sampling",
        "input-required-result-capability-check",
        "input-required-result-multi-round",
        "input-required-result-multiple-input-requests",
        "input-required-result-non-tool-request",
        "input-required-result-request-state",
        "input-required-result-result-type",
        "input-required-result-tampered-state",
        "server-stateless",
    },
}
"""Server scenarios that wait for reverse requests."""

CLIENTS = {
    "2025-11-25": {"initialize", "sse-retry", "tools_call"},
    "2026-07-28": {
        "http-custom-headers",
        "http-invalid-tool-headers",
        "http-standard-headers",
        "json-schema-ref-no-deref",
        "request-metadata",
        "tools_call",
    },
}
"""Client scenarios that apply."""

NOT_OURS = {"elicitation-sep1034-client-defaults", "sep-2322-client-request-state"}
"""Client scenarios in which the client is asked for something, which is refused."""


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("revision", REQUIREMENTS)
async def test_a_server_behind_the_guard(revision: str, transport: str, tmp_path: Path) -> None:
    async with serving_http(face()) as url:
        server = remote("fixture", url) if transport == "http" else STDIO
        async with gate(tmp_path, server) as guard:
            await guard.ready("fixture")
            outcome = await run_suite(guard.where.url + "/mcp/only/fixture", revision, _made(tmp_path / "suite"))
    failed = {scenario.name for scenario in outcome.required if not scenario.passed}
    assert failed == ASKS_THE_CLIENT[revision], outcome


@pytest.mark.parametrize("revision", REQUIREMENTS)
async def test_the_guard_as_a_client(revision: str, tmp_path: Path) -> None:
    outcome = await run_clients(GUARDED, revision, tmp_path, sorted(CLIENTS[revision]))
    assert not outcome.failing, outcome
    assert {scenario.name for scenario in outcome.required} == CLIENTS[revision]


@pytest.mark.parametrize("revision", REQUIREMENTS)
def test_every_client_scenario_is_spoken_for(revision: str) -> None:
    """Authorization (`auth/…`) is not there yet: credentials are configured headers."""
    rest = {*required(revision, "client")} - CLIENTS[revision] - NOT_OURS
    assert all(name.startswith("auth/") for name in rest)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
