"""Held calls in the API: each with what helps to answer it, and answered for a usual reason."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pytest

from mcpguard.domain.people import Role
from tests import people
from tests.gate import Gate
from tests.gateway.holding import HELD, Making, calls, held, moves
from tests.gateway.speaking import guarded
from tests.simulators.script import Script
from tests.web.conforming import conforms
from tests.web.rest import API

pytestmark = pytest.mark.anyio


@dataclass
class Program:
    """A program with an approver's token, and a call that waits."""

    guard: Gate
    script: Script
    making: Making
    url: str
    headers: dict[str, str]

    async def get(self) -> httpx2.Response:
        answer = await self.guard.http.get(self.url, headers=self.headers)
        conforms(answer)
        return answer

    async def post(self, answer: str, body: object) -> httpx2.Response:
        seen = {"if-match": (await self.get()).headers["etag"]}
        told = await self.guard.http.post(f"{self.url}/{answer}", json=body, headers=self.headers | seen)
        conforms(told)
        return told


@asynccontextmanager
async def program(folder: Path) -> AsyncIterator[Program]:
    script = Script()
    async with guarded(folder, script, **HELD) as guard, anyio.create_task_group() as tasks:
        making = Making(guard.client())
        tasks.start_soon(making)
        token = (await guard.now.guard.operators.add("ci", Role.APPROVER, None, people.BY))[1]
        url = f"{guard.where.url}{API}/held/{(await held(guard))['id']}"
        yield Program(guard, script, making, url, people.bears(token))
        tasks.cancel_scope.cancel()


async def test_one_call_has_its_context_and_all_that_is_sent(tmp_path: Path) -> None:
    async with program(tmp_path) as at:
        said = (await at.get()).json()
        assert said["sent"]["arguments"] == said["arguments"] == {"text": "hello"}
        context = said["context"]
        assert context["risk"]["level"] == "low"
        assert (context["recent"]["calls"], context["precedents"]["answers"], context["compared"]) == ([], [], None)


@pytest.mark.parametrize(
    ("answer", "body", "written"),
    [
        ("allow", {"reason": "expected"}, "Expected"),
        ("allow", {"reason": "ticket", "why": "OPS-2291"}, "Ticket: OPS-2291"),
        ("deny", {"reason": "too_broad", "why": "only one row"}, "Too broad: only one row"),
        ("deny", {"why": "no"}, "no"),
    ],
)
async def test_a_usual_reason_is_recorded_before_the_text(
    answer: str, body: object, written: str, tmp_path: Path
) -> None:
    async with program(tmp_path) as at:
        assert (await at.post(answer, body)).status_code == 200
        await at.making.done()
        (record,) = [each for each in at.guard.said() if each.get("answer") == answer and "ticket" in each]
        assert record["why"] == written


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        ("allow", {"reason": "injected"}),
        ("deny", {"reason": "expected", "why": "x"}),
        ("allow", {"reason": "other"}),
        ("allow", {"reason": "whatever"}),
        ("allow", {"why": " "}),
        ("allow", {}),
    ],
)
async def test_a_reason_that_says_nothing_or_the_opposite_is_refused(answer: str, body: object, tmp_path: Path) -> None:
    async with program(tmp_path) as at:
        assert (await at.post(answer, body)).status_code == 422
        assert (moves(at.guard), calls(at.script), at.guard.now.guard.held.waiting) == ([], 0, 1), "nothing happened"
