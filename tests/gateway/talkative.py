"""A server that says more than is told at once, and agents that read the rest of it page by page."""

from typing import Any

from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json

LONG = "".join(f"{number:>9}\n" for number in range(1000))
ONCE = 4000
"""Characters of `LONG` that are told at once."""


def talkative(answer: Any = LONG) -> Script:  # noqa: ANN401 - JSON
    script = Script()
    script.tools[:] = [{**each, "annotations": {"readOnlyHint": True}} for each in script.tools]
    script.answers["tools/call echo"] = answer
    return script


async def called(client: RawClient, variant: str = "call_tool_read") -> Json:
    result: Json = (await client.call(variant, {"name": "web:echo", "arguments": {"text": "x"}})).result
    return result


async def more(client: RawClient, **given: Any) -> Json:  # noqa: ANN401 - JSON
    result: Json = (await client.call("read_more", given)).result
    return result


def cut(result: Json) -> Json:
    place: Json = result["_meta"]["mcpguard/cut"]
    return place
