"""The poisoned server by itself: it says bad things and does nothing."""

import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator

import anyio
import pytest
from mcp import Client
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types import ToolListChangedNotification

from mcpguard.demo.poison import INSTRUCTIONS, POISONED, WEATHER, WEATHER_CHANGED
from mcpguard.demo.weather import SAID
from tests.demo.starting import MODES, answered, asked, by_client
from tests.patience import PATIENCE
from tests.process import ROOT, environment
from tests.simulators.words import SUBSCRIPTION_ID, Json

pytestmark = pytest.mark.anyio
TOOLS = [WEATHER, *POISONED]
WATCHED = """
import json, sys
from mcpguard.demo.__main__ import main

events, watching = [], True
sys.addaudithook(lambda event, _: events.append(event) if watching else None)
code = main(["poisoned"], {})
before = len(events)
open("/dev/null").close()
watching = False
print(json.dumps({"code": code, "before": events[:before], "after": events[before:]}), file=sys.stderr)
"""


def arguments(tool: Json) -> Json:
    """What the tool's schema wants."""
    wanted = tool["inputSchema"]["properties"]
    return {name: wanted[name].get("enum", ["x"])[0] for name in tool["inputSchema"].get("required", [])}


def texts(said: object) -> Iterator[str]:
    """Every text in a definition, keys included."""
    if isinstance(said, dict):
        for name, value in said.items():
            yield from (name, *texts(value))
    elif isinstance(said, list | tuple):
        for each in said:
            yield from texts(each)
    elif isinstance(said, str):
        yield said


def every_text() -> list[str]:
    """Everything that the server ever says, with what it says in code."""
    plain = [*texts([TOOLS, WEATHER_CHANGED, INSTRUCTIONS])]
    decoded = [
        base64.b64decode(found).decode() for text in plain for found in re.findall(r"[A-Za-z0-9+/]{40,}=*", text)
    ]
    hidden = ["".join(chr(ord(each) - 0xE0000) for each in text if 0xE0000 < ord(each) < 0xE0080) for text in plain]
    sprinkled = [text.replace("\u200b", "") for text in plain if "\u200b" in text]
    assert (len(decoded), len([*filter(None, hidden)]), len(sprinkled)) == (1, 1, 1)
    return [*plain, *decoded, *hidden, *sprinkled]


def test_no_file_and_no_address_in_it_is_anybodys() -> None:
    said = "\n".join(every_text())
    assert {*re.findall(r"~/(\w+)/", said)} == {"imaginary"}
    assert {*re.findall(r"\w@([\w.]+)", said)} == {"example.com"}
    assert {*re.findall(r"://([\w.]+)", said)} == {"example.com"}


def test_what_is_clean_at_first_has_nothing_hidden() -> None:
    assert all(text.isascii() and text.isprintable() for text in texts(WEATHER))
    assert {key for key in WEATHER if WEATHER[key] != WEATHER_CHANGED[key]} == {"description"}


def test_what_is_said_is_what_was_written() -> None:
    (listed,) = answered(asked(1, "tools/list"), which="poisoned")
    assert listed["result"]["tools"] == TOOLS


@pytest.mark.parametrize("mode", MODES)
async def test_every_tool_says_the_same_and_the_sdk_can_read_it(mode: str) -> None:
    async with Client(by_client("poisoned"), mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool["name"] for tool in TOOLS]
        for tool in TOOLS:
            told = await client.call_tool(tool["name"], arguments(tool))
            assert (told.is_error, told.structured_content) == (False, {"said": SAID})


def test_calling_touches_nothing() -> None:
    """Python tells of everything that its own libraries open, connect to or run; of calls there is nothing to tell."""
    calls = [asked(tool["name"], "tools/call", name=tool["name"], arguments=arguments(tool)) for tool in TOOLS]
    said, watched = watched_while(*calls, asked("last", "tools/list"))
    assert [each["id"] for each in said] == [*[tool["name"] for tool in TOOLS], "last"]
    assert all(each["result"]["structuredContent"] == {"said": SAID} for each in said[:-1])
    assert said[-1]["result"]["tools"][0] == WEATHER_CHANGED
    assert watched["code"] == 0
    assert watched["after"] == ["open"], "and it would have been heard"
    assert watched["before"] == []


def watched_while(*lines: bytes) -> tuple[list[Json], Json]:
    """What the server says to these lines, and what Python told of meanwhile, before and after it ended."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        input=b"\n".join(lines),
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        cwd=ROOT,
        env=environment({}),
    )
    return [json.loads(line) for line in done.stdout.splitlines()], json.loads(done.stderr)


def call(number: int) -> bytes:
    return asked(number, "tools/call", name="weather", arguments={"city": "x"})


def first_tool(said: Json) -> Json:
    found: Json = said["result"]["tools"][0]
    return found


def test_a_call_that_is_refused_does_not_count() -> None:
    nothing, wrong = asked("a", "tools/call", name="x"), asked("b", "tools/call", name="weather")
    said = answered(call(1), nothing, wrong, call(2), wrong, asked("list", "tools/list"), which="poisoned")
    assert first_tool(said[-1]) == WEATHER


def test_whoever_listens_is_told_of_the_change_once_after_the_answer() -> None:
    listen = [asked(id_, "subscriptions/listen", notifications={"toolsListChanged": True}) for id_ in ("one", "two")]
    deaf = asked("deaf", "subscriptions/listen", notifications={"promptsListChanged": True})
    back = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"two"}}'
    *said, listed = answered(*listen, deaf, back, *map(call, range(5)), asked("list", "tools/list"), which="poisoned")
    assert [each["params"]["notifications"] for each in said[:3]] == [{"toolsListChanged": True}] * 2 + [{}]
    assert [each["params"]["_meta"][SUBSCRIPTION_ID] for each in said[:3]] == ["one", "two", "deaf"]
    assert [each.get("id", each.get("method")) for each in said[3:]] == [
        *(0, 1, 2),
        "notifications/tools/list_changed",
        *(3, 4),
    ]
    assert said[6]["params"]["_meta"] == {SUBSCRIPTION_ID: "one"}
    assert first_tool(listed) == WEATHER_CHANGED


def test_it_can_be_the_other_one_from_the_start() -> None:
    for value, expected in (("1", WEATHER_CHANGED), ("0", WEATHER), ("", WEATHER)):
        (listed,) = answered(asked(1, "tools/list"), which="poisoned", MCPGUARD_DEMO_CHANGED=value)
        assert first_tool(listed) == expected


async def test_a_client_of_the_handshake_hears_of_the_change() -> None:
    heard = anyio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            heard.set()

    async with Client(by_client("poisoned"), mode="legacy", message_handler=hear) as client:
        assert (await client.list_tools()).tools[0].description == WEATHER["description"]
        for _ in range(3):
            await client.call_tool("weather", {"city": "x"})
        await heard.wait()
        assert (await client.list_tools()).tools[0].description == WEATHER_CHANGED["description"]


async def test_a_modern_client_hears_of_the_change() -> None:
    async with Client(by_client("poisoned")) as client, client.listen(tools_list_changed=True) as news:
        assert (await client.list_tools()).tools[0].description == WEATHER["description"]
        for _ in range(3):
            await client.call_tool("weather", {"city": "x"})
        assert isinstance(await anext(aiter(news)), ToolsListChanged)
        assert (await client.list_tools()).tools[0].description == WEATHER_CHANGED["description"]
