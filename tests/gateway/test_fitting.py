"""What the guard face shows has a bound, and whatever does not fit is said to be missing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.catalog.shelf import CatalogEntry
from mcpguard.codec.messages import dumps
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.guard.search.answer_size import BEYOND, MOST_BYTES, TOO_LARGE, fit_descriptions, fit_hits
from mcpguard.guard.search.tool_search import ToolHit
from tests.gateway.guard_face import agent, answer, found
from tests.gateway.speaking import guarded
from tests.simulators.script import Script
from tests.simulators.words import Json

KIB = 1024


def tool(number: int, size: int, says: str = "Counts all the words.") -> Json:
    schema = {"type": "object", "properties": {"text": {"type": "string", "description": "x" * size}}}
    return {"name": f"count_{number:03}", "description": says, "inputSchema": schema}


def pinned(number: int, size: int, says: str = "") -> CatalogEntry:
    definition = tool(number, size, says)
    return CatalogEntry(Capability("web", CapabilityKind.TOOL, definition["name"]), definition, Effect.READ)


SIZES = st.lists(st.sampled_from([0, 10, 5_000, 40_000, MOST_BYTES - 400, MOST_BYTES + 1]), max_size=100)
WORDS = st.sampled_from(["Counts.", "\U0010ffff" * 200, "㐀" * 300])


@given(SIZES, WORDS, st.booleans())
def test_hits_have_a_bound_and_are_counted(sizes: list[int], says: str, full: bool) -> None:
    hits = [ToolHit(pinned(number, size, says), 1.0) for number, size in enumerate(sizes)]
    tools, notices = fit_hits(hits, full=full)
    assert sum(len(dumps(each)) for each in tools) <= MOST_BYTES
    assert [each["name"] for each in tools] == [f"web:count_{number:03}" for number in range(len(tools))]
    without = [each for each in tools if "inputSchema" not in each]
    assert all("signature" in each for each in without)
    told = [int(sentence.split()[0]) for sentence in notices]
    missing = [len(hits) - len(tools), len(without) if full else 0]
    assert told == [count for count in missing if count]


@given(SIZES.map(lambda sizes: sizes[:20]), WORDS)
def test_every_name_is_answered_and_what_is_short_says_so(sizes: list[int], says: str) -> None:
    said: Json = {"name": "x", "answer": "ready"}
    tools = fit_descriptions([(said, pinned(number, size, says)) for number, size in enumerate(sizes)], {})["tools"]
    assert [each["name"] for each in tools] == [f"web:count_{number:03}" for number in range(len(sizes))]
    assert sum(len(dumps(each)) for each in tools) <= MOST_BYTES
    for each, size in zip(tools, sizes, strict=True):
        assert ("inputSchema" in each) is ("note" not in each)
        (alone,) = fit_descriptions([(said, pinned(0, size, says))], {})["tools"]
        assert alone.get("note") in (None, TOO_LARGE)
        assert each.get("note") in ((TOO_LARGE,) if "note" in alone else (None, BEYOND))


@pytest.mark.anyio
async def test_an_agent_is_told_what_is_missing(tmp_path: Path) -> None:
    script = Script(tools=[*(tool(number, 60 * KIB) for number in range(5)), tool(5, 300 * KIB)])
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        said = await found(client, "count words")
        assert (len(said["tools"]), "notice" in said) == (6, False)
        said = await answer(client, "retrieve_tools", query="count words", detail="full")
        assert len([each for each in said["tools"] if "inputSchema" in each]) == 4
        assert said["notice"] == "2 without schemas, as they do not fit into one answer; describe_tool shows them."
        names = [f"web:count_{number:03}" for number in range(6)]
        tools = (await answer(client, "describe_tool", names=names))["tools"]
        assert [each.get("note") for each in tools] == [None, None, None, None, BEYOND, TOO_LARGE]
        assert tools[4]["signature"] == "count_004(text?: string)"
        (alone,) = (await answer(client, "describe_tool", names=names[4:5]))["tools"]
        assert ("note" in alone, "inputSchema" in alone) == (False, True)
