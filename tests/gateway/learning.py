"""Agents that search and then call, and what the guard learns from that."""

from typing import Any

from anyio import fail_after
from anyio.lowlevel import checkpoint

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.guard.search.search_learning import SearchLearning
from mcpguard.guard.search.tool_search import SearchScope
from tests.gate import Gate
from tests.gateway.guard_face import answer, found
from tests.patience import PATIENCE
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json

READS = {"readOnlyHint": True}
EVERYTHING = Scope(("*",), ("*",), frozenset(Effect))
SAID = ("kestrel figures", "what kestrel said of osprey")
"""Two searches with a name that only people know; "customers" brings the tool into their answers."""


def office() -> Script:
    """A server whose texts do not say what its users say."""
    script = Script(tools=[])
    script.tool("list_bills", "none", description="Bills that customers have to settle.", annotations=READS)
    script.tool("list_orders", "none", description="Orders that customers have placed.", annotations=READS)
    script.tool("write_note", "noted", description="Keep a note about customers.", annotations=READS)
    return script


def learning(guard: Gate) -> SearchLearning:
    return guard.now.guard.learning


async def search(client: RawClient, query: str) -> list[str]:
    return [each["name"] for each in (await found(client, f"customers {query}"))["tools"]]


async def use(client: RawClient, query: str, tool: str = "office:list_bills", **more: Any) -> Json:  # noqa: ANN401 - JSON
    """Search, and call a tool that was shown."""
    assert tool in await search(client, query)
    result: Json = (await client.call("call_tool_read", {"name": tool, "arguments": {}, **more})).result
    return result


async def taught(guard: Gate, client: RawClient, tool: str = "office:list_bills") -> None:
    """Use both searches, and wait until that is learned."""
    before = len(learning(guard).uses)
    for query in SAID:
        await use(client, query, tool)
    await learned(guard, before + len(SAID))


async def learned(guard: Gate, count: int) -> None:
    """Wait until so many uses are known."""
    with fail_after(PATIENCE):
        while len(learning(guard).uses) != count:
            await checkpoint()


def recorded(guard: Gate, kind: str = "search_used") -> list[Json]:
    return [record for record in guard.said() if record["kind"] == kind]


def names(guard: Gate, query: str, scope: Scope = EVERYTHING) -> list[str]:
    """What somebody with this scope finds."""
    hits, _ = guard.now.guard.searching.search(query, 15, SearchScope(scope, frozenset(Effect)))
    return [f"{hit.pinned.capability.server}:{hit.pinned.capability.name}" for hit in hits]


async def asked(client: RawClient, query: str) -> list[str]:
    """What a search of a client finds, if it finds anything."""
    return [each["name"] for each in (await answer(client, "retrieve_tools", query=query))["tools"]]


async def indexed(guard: Gate, query: str, tool: str) -> None:
    """Wait until the index has followed, and a tool is found."""
    with fail_after(PATIENCE):
        while tool not in names(guard, query):
            await checkpoint()


async def remembered(guard: Gate, uses: int) -> None:
    """Wait until a guard that was started again finds its tools, and knows so many uses."""
    await learned(guard, uses)
    with fail_after(PATIENCE):
        while not names(guard, "customers"):
            await checkpoint()
