"""The suite against the fixture alone, so that what fails behind the guard is the guard's doing."""

import sys
from pathlib import Path

import pytest

from tests.conformance.fixture import face
from tests.conformance.runner import REQUIREMENTS, run_clients, run_suite
from tests.process import ROOT
from tests.simulators.line_client import speaking_to
from tests.simulators.over_http import serving_http
from tests.simulators.responding import Replies

pytestmark = pytest.mark.anyio
FIXTURE = (sys.executable, "-m", "tests.conformance.fixture")
RAW_CLIENT = (sys.executable, str(Path(__file__).with_name("raw_client.py")))


@pytest.mark.parametrize("replies", [Replies.AUTO, Replies.SSE])
@pytest.mark.parametrize("requirements", REQUIREMENTS)
async def test_it_has_what_the_suite_asks_for(requirements: str, replies: Replies, tmp_path: Path) -> None:
    server = face()
    server.replies = replies
    async with serving_http(server) as url:
        outcome = await run_suite(url, requirements, tmp_path)
    assert not outcome.failing, str(outcome)
    assert not outcome.warnings
    assert outcome.code == 0
    assert len(outcome.required) == {"2025-11-25": 30, "2026-07-28": 37}[requirements]
    assert not [each.name for each in outcome.optional if not each.passed and not each.name.startswith("tasks-")]


async def test_a_server_that_lacks_everything_fails(tmp_path: Path) -> None:
    server = face()
    server.script.eras = frozenset(["modern"])
    async with serving_http(server) as url:
        outcome = await run_suite(url, "2025-11-25", tmp_path)
    assert outcome.code == 1
    assert "ping" in {each.partition(":")[0] for each in outcome.failing}


@pytest.mark.parametrize("modern", [True, False])
async def test_it_speaks_on_its_standard_streams(*, modern: bool) -> None:
    async with speaking_to(FIXTURE, modern=modern, folder=ROOT) as client:
        if not modern:
            await client.initialize()
        client.on["elicitation/create"] = lambda _: {"action": "accept", "content": {"name": "Ada"}}
        reply = await client.fulfil("tools/call", {"name": "test_input_required_result_elicitation"})
        assert reply.text == "Good day, Ada!"


@pytest.mark.parametrize("requirements", REQUIREMENTS)
async def test_the_suite_looks_at_clients_too(requirements: str, tmp_path: Path) -> None:
    outcome = await run_clients(RAW_CLIENT, requirements, tmp_path, only=["tools_call"])
    assert not outcome.failing, str(outcome)
    assert outcome.checks
