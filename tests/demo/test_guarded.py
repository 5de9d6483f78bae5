"""Both servers behind a guard, as whoever tries it first sees them."""

from pathlib import Path

import pytest

from mcpguard.demo.notes import AT_FIRST, PROMPT, RESOURCES, TEMPLATE, TOOLS
from mcpguard.demo.poison import POISONED, WEATHER, WEATHER_CHANGED
from mcpguard.demo.weather import CALLS, SAID
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from tests.demo.starting import by_guard
from tests.gate import gate
from tests.gateway.speaking import HOWS, speaking
from tests.simulators.client import RawClient
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
eras = pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
CHANGED = "notifications/tools/list_changed"


async def listed(client: RawClient) -> list[Json]:
    tools: list[Json] = (await client.request("tools/list")).result["tools"]
    return tools


async def described(client: RawClient) -> dict[str, str]:
    return {tool["name"]: tool["description"] for tool in await listed(client)}


@eras
@pytest.mark.parametrize("how", HOWS)
async def test_the_honest_one_is_used_as_if_there_were_no_guard(era: Era, how: str, tmp_path: Path) -> None:
    async with gate(tmp_path, by_guard("notes", "honest", era)) as guard:
        await guard.ready("notes")
        async with speaking(guard, how, only="notes") as client:
            assert await listed(client) == [*TOOLS]
            told = (await client.call("read_note", {"name": "garden"})).result
            assert told["structuredContent"] == {"name": "garden", "text": AT_FIRST["garden"]}
            assert (await client.call("delete_note", {"name": "garden"})).result["structuredContent"]["left"] == 2
            assert (await client.call("read_note", {"name": "garden"})).result["isError"]
            assert (await client.request("prompts/list")).result["prompts"] == [PROMPT]
            said = await client.request("prompts/get", {"name": PROMPT["name"], "arguments": {"name": "ideas"}})
            assert AT_FIRST["ideas"] in said.result["messages"][0]["content"]["text"]
            assert (await client.request("resources/list")).result["resources"] == [*RESOURCES]
            assert (await client.request("resources/templates/list")).result["resourceTemplates"] == [TEMPLATE]
            (content,) = (await client.request("resources/read", {"uri": "note://ideas"})).result["contents"]
            assert content["text"] == AT_FIRST["ideas"]
        entries = guard.entries()
        assert [entry["effect"] for entry in entries[:3]] == ["read", "destructive", "read"], "as annotated"
        assert {entry["outcome"] for entry in entries} == {"answered", "failed"}


@eras
async def test_the_poisoned_one_comes_as_it_is_and_what_it_changes_is_withheld(era: Era, tmp_path: Path) -> None:
    async with gate(tmp_path, by_guard("weather", "poisoned", era)) as guard:
        await guard.ready("weather")
        async with speaking(guard, "stream legacy", only="weather") as client:
            assert await listed(client) == [WEATHER, *POISONED], "hidden characters and all"
            for _ in range(CALLS):
                told = (await client.call("weather", {"city": "x"})).result
                assert told["structuredContent"] == {"said": SAID}
            while await listed(client) != [*POISONED]:
                await guard.clock.advance(1)
            while not client.heard:
                await client.request("ping")
            assert [each["method"] for each in client.heard] == [CHANGED]

            refused = (await client.call("weather", {"city": "x"})).result
            assert refused["_meta"]["mcpguard/refusal"]["reason"] == Reason.CAPABILITY_CHANGED
            await guard.review("weather", until=lambda: True)
            assert await listed(client) == [WEATHER_CHANGED, *POISONED], "a person may want even this"
            assert (await client.call("weather", {"city": "x"})).result["structuredContent"] == {"said": SAID}
        ends = [(entry["outcome"], entry.get("reason")) for entry in guard.entries()]
        assert ends == [*[("answered", None)] * CALLS, ("refused", "capability:changed"), ("answered", None)]


async def test_both_are_there_at_once_and_one_that_is_another_than_it_was_inspected_is_withheld(tmp_path: Path) -> None:
    weather = by_guard("weather", "poisoned", MCPGUARD_DEMO_CHANGED="1")  # which is not given during an inspection
    async with (
        gate(tmp_path, by_guard("notes", "honest"), weather) as guard,
        speaking(guard, "http modern") as client,
    ):
        found = await described(client)
        await guard.review("weather", until=lambda: True)
        reviewed = await described(client)
    expected = {f"notes::{tool['name']}": tool["description"] for tool in TOOLS}
    expected |= {f"weather::{tool['name']}": tool["description"] for tool in POISONED}
    assert found == expected
    assert reviewed == expected | {"weather::weather": WEATHER_CHANGED["description"]}
