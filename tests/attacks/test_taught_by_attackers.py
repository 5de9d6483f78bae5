"""An agent that was misled, or a server, tries to make its tools be found in place of others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcpguard.domain.callers import Scope
from tests.gate import Gate, gate
from tests.gateway.guard_face import agent, found
from tests.gateway.learning import READS, learned, learning, names, recorded, search, use
from tests.gateway.speaking import OTHER_TOKEN, TOKEN, callers, guarded, played, scope
from tests.simulators.client import RawClient
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
ALL = scope()
WANTED, NOTES = "github:delete_repository", "evil:notes"


def github() -> Script:
    script = Script(tools=[])
    script.tool("delete_repository", "gone", description="Delete a repository.", annotations=READS)
    return script


def evil() -> Script:
    script = Script(tools=[])
    script.tool("notes", "noted", description="Notes on a repository to delete.", annotations=READS)
    return script


@asynccontextmanager
async def two(folder: Path, known: dict[str, Scope], *scripts: Script) -> AsyncIterator[Gate]:
    one, other = scripts or (github(), evil())
    async with (
        played(folder, one, "github") as first,
        played(folder, other, "evil") as second,
        gate(folder, first, second, callers=callers(**known)) as guard,
    ):
        await guard.ready("github", "evil")
        yield guard


async def misled(client: RawClient, times: int) -> None:
    for number in range(times):
        await found(client, f"delete repository {number}x")
        await client.call("call_tool_read", {"name": NOTES, "arguments": {}})


async def test_one_misled_agent_puts_no_tool_before_the_right_one(tmp_path: Path) -> None:
    async with two(tmp_path, {TOKEN: ALL, OTHER_TOKEN: ALL}) as guard, agent(guard, token=TOKEN) as client:
        assert names(guard, "delete repository")[0] == WANTED
        await misled(client, 100)
        await learned(guard, 100)
        assert guard.now.guard.searching.learned_words("evil", "notes").callers == 1
        assert names(guard, "delete repository") == [WANTED, NOTES], "for everybody, the agent itself included"


async def test_who_sees_more_teaches_nothing_to_who_sees_less(tmp_path: Path) -> None:
    narrow = scope("evil")
    async with two(tmp_path, {TOKEN: ALL, OTHER_TOKEN: narrow}) as guard, agent(guard, token=TOKEN) as client:
        for query in ("repository kestrel", "the kestrel repository, delete"):
            await use(client, query, NOTES)
        await learned(guard, 2)
        assert names(guard, "kestrel") == [NOTES]
        assert names(guard, "kestrel", narrow) == []
        assert names(guard, "kestrel", scope("github")) == [], "what is learned shows nobody a hidden tool"


async def test_who_sees_less_teaches_who_sees_more(tmp_path: Path) -> None:
    narrow = scope("evil")
    async with two(tmp_path, {TOKEN: narrow, OTHER_TOKEN: ALL}) as guard, agent(guard, token=TOKEN) as client:
        for query in ("repository kestrel", "the kestrel repository, delete"):
            await use(client, query, NOTES)
        await learned(guard, 2)
        assert names(guard, "kestrel") == names(guard, "kestrel", narrow) == [NOTES]


async def test_what_a_server_says_teaches_nothing(tmp_path: Path) -> None:
    """Its replies, and its errors: only what the agent searched for counts."""
    script = evil()
    script.tool("notes", "kestrel kestrel delete repository", description="Notes on a repository.", annotations=READS)
    async with two(tmp_path, {TOKEN: ALL}, github(), script) as guard, agent(guard, token=TOKEN) as client:
        for query in ("repository osprey", "an osprey repository for birds"):
            await use(client, query, NOTES)
        await learned(guard, 2)
        assert names(guard, "kestrel") == []
        words = [each.word for each in guard.now.guard.searching.learned_words("evil", "notes").words]
        assert "osprey" in words
        assert "kestrel" not in words


@pytest.mark.parametrize("way", ["failed", "denied", "held", "unknown"])
async def test_what_was_not_executed_with_success_teaches_nothing(way: str, tmp_path: Path) -> None:
    script = github()
    if way == "failed":
        script.tool(
            "delete_repository",
            {"content": [{"type": "text", "text": "no"}], "isError": True},
            description="Delete a repository.",
            annotations=READS,
        )
    if way == "denied":
        script.tool("delete_repository", "gone", description="Delete a repository.")
    holds = ["any of github:delete_repository"] if way == "held" else []
    async with (
        guarded(tmp_path, script, "github", holds__calls=holds, holds__wait_seconds=0) as guard,
        agent(guard) as client,
    ):
        assert WANTED in await search(client, "delete repository kestrel")
        name = "github:nothing" if way == "unknown" else WANTED
        await client.call("call_tool_read", {"name": name, "arguments": {}})
        assert len(script.called("tools/call")) == (way == "failed")
        assert (recorded(guard), len(learning(guard).uses), learning(guard).waiting) == ([], 0, 0)


async def test_a_removed_server_is_forgotten_at_once(tmp_path: Path) -> None:
    async with two(tmp_path, {TOKEN: ALL}) as guard, agent(guard, token=TOKEN) as client:
        for query in ("repository kestrel", "the kestrel repository, delete"):
            await use(client, query, NOTES)
        await learned(guard, 2)
        await guard.declare()
        assert names(guard, "kestrel") == []
