"""A tool that can only be called as a task: said so at the review, and refused by name without being sent."""

from pathlib import Path

import pytest

from mcpguard.cli.servers.approval_plan import plan
from mcpguard.cli.servers.server_tables import TASKS, capability_row
from tests.gateway.speaking import HOWS, guarded, refused_once, speaking
from tests.simulators.script import Script
from tests.web.pages.reading import somebody, text

pytestmark = pytest.mark.anyio


def script(support: str = "required") -> Script:
    offered = Script()
    offered.tool("grind", {"content": []}, execution={"taskSupport": support}, annotations={"readOnlyHint": True})
    return offered


@pytest.mark.parametrize("how", HOWS)
async def test_a_call_of_it_is_refused_by_name_and_nothing_is_sent(how: str, tmp_path: Path) -> None:
    offered = script()
    async with guarded(tmp_path, offered) as guard, speaking(guard, how) as client:
        with refused_once(guard, "capability:tasks", offered) as entry:
            said = (await client.call("web::grind", {})).result["structuredContent"]
        assert said["message"] == "This tool can only be called as a task, which mcpguard does not support."
        assert (said["status"], said["executed"]) == ("refused", "no")
        assert entry["verdict"] == "deny"


async def test_it_is_told_where_tools_are_described_and_where_they_are_looked_for(tmp_path: Path) -> None:
    async with guarded(tmp_path, script()) as guard:
        client = guard.client("/mcp")
        (described,) = (await client.call("describe_tool", {"names": ["web:grind"]})).result["structuredContent"][
            "tools"
        ]
        assert (described["answer"], described["reason"]) == ("blocked", "capability:tasks")


@pytest.mark.parametrize("support", ["optional", "forbidden", 1])
async def test_what_can_be_called_without_a_task_is_called(support: str, tmp_path: Path) -> None:
    offered = script(support)
    async with guarded(tmp_path, offered) as guard:
        client = await guard.legacy()
        assert (await client.call("web::grind", {})).result["content"] == []
        assert len(offered.called("tools/call", "grind")) == 1


async def test_whoever_reviews_it_is_told(tmp_path: Path) -> None:
    async with guarded(tmp_path, script()) as guard:
        server = await guard.now.guard.queries.server("web")
        needing = {each["name"]: each["needs_tasks"] for each in server["capabilities"] if each["kind"] == "tool"}
        assert [name for name, needs in needing.items() if needs] == ["grind"]
        (row,) = (capability_row(each) for each in server["capabilities"] if each["needs_tasks"])
        assert row[1].endswith(TASKS)
        assert [row[0] for row in plan(server, None, ()).rows() if row[1].endswith(TASKS)] == ["tool:grind"]
        looks = await somebody(guard)
        for path in ("/servers/web", "/servers/web/capability?kind=tool&name=grind"):
            page = text((await guard.http.get(guard.where.url + path, headers=looks)).text).lower()
            assert "needs tasks" in page, path
            assert "not supported by the guard: all calls are denied" in page
