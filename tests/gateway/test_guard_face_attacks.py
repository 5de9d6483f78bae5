"""What callers try on the guard face to learn what is not theirs, and to make others wait or pay for them."""

from pathlib import Path

import pytest

from mcpguard.gateway.tools.arguments import MOST_NAMES
from mcpguard.guard.traffic.tallies import MOST_OF_ONE
from tests.gateway.guard_face import agent, answer, calls_to, refused
from tests.gateway.speaking import (
    OTHER_TOKEN,
    TOKEN,
    callers,
    flushed,
    guarded,
    nothing_happens,
    refused_once,
    scope,
    turned_away,
)
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
NARROW = callers(**{TOKEN: scope("elsewhere"), OTHER_TOKEN: scope("web", "add")})


@pytest.mark.parametrize("token", [TOKEN, OTHER_TOKEN])
@pytest.mark.parametrize("separator", ["__", "."])
async def test_a_name_of_the_direct_face_tells_nothing_of_what_is_out_of_reach(
    separator: str, token: str, tmp_path: Path
) -> None:
    """It is no name, whether there is such a tool or not."""
    script = Script()
    async with guarded(tmp_path, script, callers=NARROW) as guard, agent(guard, token=token) as client:
        with nothing_happens(guard, script):
            there = await refused(client, "call_tool_write", name=f"web{separator}echo")
            nowhere = await refused(client, "call_tool_write", name=f"web{separator}nothing")
        assert there == nowhere
        assert (await turned_away(guard)).popitem()[1] == 2


async def test_two_colons_tell_nothing_either(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, callers=NARROW) as guard, agent(guard, token=TOKEN) as client:
        said = []
        for name in ("web::echo", "web::nothing", "web:echo"):
            with refused_once(guard, "capability:unknown", script):
                said.append(await refused(client, "call_tool_write", name=name))
            del said[-1]["call_id"]
        assert said[0] == said[1] == said[2]
        assert [each["name"] for each in guard.entries()] == ["echo", "nothing", "echo"]


@pytest.mark.parametrize("name", ["web__add", "web.add", "web::add", "web:add"])
async def test_what_is_within_reach_is_understood_by_each_of_its_names(name: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, callers=NARROW) as guard, agent(guard, token=OTHER_TOKEN) as client:
        given = {"name": name, "arguments": {"a": 1, "b": 2}}
        assert "isError" not in (await client.call("call_tool_destructive", given)).result
        assert calls_to(script) == ["add"]


async def test_whoever_describes_what_is_not_there_crowds_out_nobody(tmp_path: Path) -> None:
    """Each of these is another thing that was shown, by its digest."""
    async with guarded(tmp_path, Script(), callers=NARROW) as guard:
        async with agent(guard, token=TOKEN) as client:
            for number in range(MOST_OF_ONE + 5):
                await answer(client, "describe_tool", names=[f"made:up-{number}"])
        async with agent(guard, token=OTHER_TOKEN) as client:
            await answer(client, "describe_tool", names=["web:add"])
        records = await flushed(guard, "disclosed")
        theirs = [each for each in records if each["caller"] == f"caller-{TOKEN}"]
        assert len(theirs) == MOST_OF_ONE + 1
        (rest,) = [each for each in theirs if each.get("other")]
        assert (rest["count"], rest["method"], "digest" in rest) == (5, "describe_tool", False)
        (other,) = [each for each in records if each["caller"] == f"caller-{OTHER_TOKEN}"]
        assert (other["names"], other["count"]) == (1, 1)


@pytest.mark.parametrize("tool", ["retrieve_tools", "describe_tool", "call_tool", "read_more", "call_tool_read"])
async def test_very_many_unknown_members_are_told_by_one_of_them(tool: str, tmp_path: Path) -> None:
    """Each of them used to be looked at, which took the better part of a second."""
    script = Script()
    given = {f"x\x1b{number}": 0 for number in range(2 * MOST_NAMES)}
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        with nothing_happens(guard, script):
            said = await refused(client, tool, **given)
        assert said["expected"] == "x⟨U+001B⟩0: Extra inputs are not permitted"
