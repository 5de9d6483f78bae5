"""Removing from the log over the API: who may, what is refused, and what an answer says."""

from typing import Any

import httpx2
import pytest

from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.people import Role
from mcpguard.ledger.checkpoints import CheckpointCause
from tests.web.conforming import conforms
from tests.web.rest import API, browser, program
from tests.web.reviewing import problem
from tests.world import World

pytestmark = pytest.mark.anyio
PRUNE = f"{API}/records/prune"
ALL: dict[str, Any] = {"why": "a year is over", "keep": 0}


async def lived(guard: World) -> str:
    """A few calls with bodies below a checkpoint; the first of them."""
    openings = [guard.opening(arguments=KeptBody(b"{}")) for _ in range(4)]
    for opening in openings:
        await guard.call(opening, Outcome.answer(KeptBody(b"a")))
    await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
    return openings[0].entry


async def send(guard: World, path: str, by: dict[str, str], **body: Any) -> httpx2.Response:  # noqa: ANN401 - JSON
    answer = await guard.network.post(API + path, json=body, headers=by)
    conforms(answer)
    return answer


def left(guard: World) -> list[tuple[str, int]]:
    return [(record["kind"], record["seq"]) for record in guard.said()]


async def test_a_program_of_an_admin_prunes_and_the_record_names_it(guard: World) -> None:
    call = await lived(guard)
    by = await program(guard)
    redacted = (await send(guard, f"/calls/{call}/redact", by, why="an address")).json()
    assert (redacted["calls"], len(redacted["bodies"]), len(redacted["records"])) == ([call], 2, 2)
    dry = (await send(guard, "/records/prune", by, **ALL, dry=True)).json()
    pruned = (await send(guard, "/records/prune", by, **ALL)).json()
    assert (dry["last"], dry["records"], pruned["last"]) == (pruned["last"], [], pruned["last"])
    (token,) = guard.now.guard.people.tokens()
    said = [record for record in guard.said() if record["kind"] == "pruned"]
    assert [record["seq"] for record in said] == [*redacted["records"], *pruned["records"]]
    assert {(record["by"], record["via"]) for record in said} == {(f"token:{token.id} (ci)", "api")}
    assert [record["words"] for record in said] == ["an address", "an address", "a year is over"]


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
async def test_nobody_but_an_admin_may(guard: World, role: Role) -> None:
    call = await lived(guard)
    by = await program(guard, role)
    before = left(guard)
    for path, body in (
        ("/records/prune", ALL),
        ("/records/prune", ALL | {"dry": True}),
        (f"/calls/{call}/redact", {"why": "x"}),
        ("/records/3/redact", {"why": "x"}),
    ):
        problem(await send(guard, path, by, **body), 403)
    assert left(guard) == before, "and nothing happened"


async def test_who_signed_in_too_long_ago_gives_the_password_again(guard: World) -> None:
    call = await lived(guard)
    by = await browser(guard)
    await guard.clock.advance(901)
    before = left(guard)
    for path, body in (("/records/prune", ALL), (f"/calls/{call}/redact", {"why": "x"})):
        told = problem(await send(guard, path, by, **body), 403)
        assert told["type"] == "urn:mcpguard:password-needed"
    assert left(guard) == before, "and nothing happened"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/records/prune", {"why": "x"}, 422),
        ("/records/prune", {"why": "x", "keep": 1, "before": "1d"}, 422),
        ("/records/prune", {"why": "x", "before": "soon"}, 400),
        ("/records/prune", {"why": "x", "keep": -1}, 422),
        ("/records/prune", {"why": "x", "keep": 10**15}, 422),
        ("/records/prune", {"keep": 1}, 422),
        ("/records/prune", {"why": "x", "keep": 1, "bodies": "yes"}, 422),
        ("/records/999999/redact", {"why": "x"}, 404),
        ("/records/1/redact", {"why": "x"}, 422),
        ("/calls/nobody/redact", {"why": "x"}, 404),
    ],
)
async def test_what_cannot_be_done_is_refused(guard: World, path: str, body: dict[str, Any], status: int) -> None:
    await lived(guard)
    by = await program(guard)
    before = left(guard)
    problem(await send(guard, path, by, **body), status)
    assert left(guard) == before, "and nothing happened"
