"""`/api/v1/search/learned`: what earlier searches have taught of a tool; it is forgotten by whoever may decide."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.people import Role
from tests.gate import Gate
from tests.gateway.guard_face import agent
from tests.gateway.learning import names, office, recorded, taught
from tests.gateway.speaking import guarded
from tests.web.rest import API, program

pytestmark = pytest.mark.anyio
AT = f"{API}/search/learned"
BILLS = "office:list_bills"


@asynccontextmanager
async def knowing(folder: Path) -> AsyncIterator[Gate]:
    """A guard that has learned that "kestrel" leads to bills."""
    async with guarded(folder, office(), "office") as guard, agent(guard) as client:
        await taught(guard, client)
        yield guard


async def learned(guard: Gate, by: dict[str, str], name: str = "list_bills") -> tuple[int, Any]:
    shown = await guard.http.get(guard.where.url + AT, params={"server": "office", "name": name}, headers=by)
    return shown.status_code, shown.json()


async def forget(guard: Gate, by: dict[str, str], which: str = "forget", **body: str) -> int:
    return (await guard.http.post(f"{guard.where.url}{AT}/{which}", json=body, headers=by)).status_code


async def test_each_word_says_how_many_taught_it(tmp_path: Path) -> None:
    async with knowing(tmp_path) as guard:
        by = await program(guard, Role.AUDITOR)
        status, shown = await learned(guard, by)
        words = [{"word": "customers", "callers": 1}, {"word": "kestrel", "callers": 1}]
        assert (status, sorted(shown.pop("words"), key=lambda each: str(each["word"]))) == (200, words)
        assert shown == {"server": "office", "name": "list_bills", "enabled": True, "callers": 1}
        _, other = await learned(guard, by, "list_orders")
        assert (other["words"], other["callers"]) == ([], 0)


@pytest.mark.parametrize(("which", "body"), [("forget", {"name": BILLS}), ("forget-all", {})])
async def test_what_is_forgotten_counts_no_more(which: str, body: dict[str, str], tmp_path: Path) -> None:
    async with knowing(tmp_path) as guard:
        by = await program(guard, Role.APPROVER)
        assert names(guard, "kestrel") == [BILLS]
        assert await forget(guard, by, which, why="a test taught it", **body) == 204
        assert (await learned(guard, by))[1]["words"] == []
        assert names(guard, "kestrel") == []
        (record,) = recorded(guard, "search_forgotten")
        assert (record["why"], record.get("server")) == ("a test taught it", "office" if body else None)


@pytest.mark.parametrize(
    ("role", "body", "status"),
    [
        (Role.AUDITOR, {"name": BILLS, "why": "to see"}, 403),
        (Role.APPROVER, {"name": BILLS}, 422),
        (Role.APPROVER, {"name": BILLS, "why": " "}, 422),
        (Role.APPROVER, {"name": "office", "why": "one"}, 422),
    ],
)
async def test_without_the_right_a_reason_or_a_tool_nothing_is_forgotten(
    role: Role, body: dict[str, str], status: int, tmp_path: Path
) -> None:
    async with knowing(tmp_path) as guard:
        by = await program(guard, role)
        assert await forget(guard, by, **body) == status
        assert names(guard, "kestrel") == [BILLS], "and nothing happened"
        assert recorded(guard, "search_forgotten") == []


async def test_whoever_may_not_read_the_log_sees_no_words(tmp_path: Path) -> None:
    async with knowing(tmp_path) as guard:
        status, problem = await learned(guard, await program(guard, Role.VIEWER))
        assert status == 403
        assert "kestrel" not in str(problem)
