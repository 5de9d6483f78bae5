"""An operator's token that got into wrong hands lets nothing more happen than before, whatever its role."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcpguard.domain.people import Role
from tests.web.rest import API, Json, program, seen
from tests.web.reviewing import WHY, add, problem, said
from tests.world import World, world

pytestmark = pytest.mark.anyio
SEEN: Json = {"launch": f"v1:{0:064}", "observed": None, "capabilities": {}}
EVE = {"name": "eve", "role": "viewer", "password": "seven brown horses"}


@pytest.fixture
async def guard(tmp_path: Path) -> AsyncIterator[World]:
    """As it is by default."""
    async with world(tmp_path, authority__tokens="tighten") as guard:
        yield guard


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/servers/notes/approve", {"why": WHY, "seen": SEEN}),
        ("/servers/notes/inspect", {"consent": True}),
        ("/servers/notes/permit", {"why": WHY, "kinds": ["roots"]}),
        ("/servers/notes/screen", {"why": WHY, "mode": "off"}),
        ("/users", EVE),
        ("/operators", {"name": "another", "role": "viewer"}),
        ("/setup-link", {}),
    ],
)
async def test_no_token_lets_more_happen(guard: World, path: str, body: Json) -> None:
    await add(guard)
    by = await program(guard, Role.ADMIN)
    if path.startswith("/servers"):
        by = await seen(guard, "/servers/notes", by)
    before = guard.said()
    refused = problem(await guard.network.post(API + path, json=body, headers=by), 403)
    assert refused["detail"].startswith("authority.tokens is `tighten`: only a user")
    assert guard.said() == before, "and nothing happened"


async def test_a_token_shuts_out_what_it_could_not_let_in(guard: World) -> None:
    await add(guard)
    by = await program(guard, Role.APPROVER)
    path = f"{API}/servers/notes"
    by = await seen(guard, "/servers/notes", by)
    assert not said(await guard.network.post(f"{path}/disable", json={"why": WHY}, headers=by))["enabled"]
    by = await seen(guard, "/servers/notes", by)
    problem(await guard.network.post(f"{path}/enable", json={"why": WHY}, headers=by), 403)
    assert not said(await guard.network.get(path, headers=by))["enabled"], "and nothing happened"
