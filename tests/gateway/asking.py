"""Servers that ask the client whose call they work on, and clients that answer."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from mcpguard.domain.asks import AskKind
from tests.gate import Gate, gate
from tests.gateway.speaking import played
from tests.simulators.asked import Asked
from tests.simulators.built_in import elicitation
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json, text

UPSTREAMS = {
    "hm": ("http", "modern"),
    "hl": ("http", "legacy"),
    "sm": ("stdio", "modern"),
    "sl": ("stdio", "legacy"),
    "el": ("sse", "legacy"),
}
"""A server for each era and transport."""
FORM = elicitation("Your name?", "name", name={"type": "string"})
SAMPLE: Json = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Why?"}}],
        "maxTokens": 10,
        "includeContext": "allServers",
        "odd": [None],
    },
}
ROOTS: Json = {"method": "roots/list", "params": {}}
QUESTIONS: dict[str, Json] = {"elicitation": FORM, "sampling": SAMPLE, "roots": ROOTS}
ANSWERS: dict[str, Json] = {
    "elicitation": {"action": "accept", "content": {"name": "Ada"}, "_meta": {"odd": None}},
    "sampling": {
        "role": "assistant",
        "content": {"type": "text", "text": "Because."},
        "model": "m",
        "stopReason": "endTurn",
    },
    "roots": {"roots": [{"uri": "file:///home", "name": "home", "odd": {"a": 1.5}}]},
}


def permitted(*servers: str) -> dict[str, list[AskKind]]:
    """What a person permits who lets these ask for everything."""
    return {server: [*AskKind] for server in servers}


async def inquire(asked: Asked) -> Json:
    """Ask for what the arguments name, all at once, and say what was heard."""
    wanted = asked.arguments.get("kinds", list(QUESTIONS))
    heard = await asked.need({kind: QUESTIONS[kind] for kind in wanted}, "asked once")
    return text(json.dumps(heard, sort_keys=True))


def nosy(*eras: str) -> Script:
    """A server whose tool asks."""
    script = Script(*eras)
    script.tool("inquire", inquire)
    return script


def answering(client: RawClient, answers: Mapping[str, Json] = ANSWERS) -> list[Json]:
    """Let the client answer. What it is asked is collected in what is returned."""
    asked: list[Json] = []
    for kind, answer in answers.items():

        def answered(params: Json, method: str = QUESTIONS[kind]["method"], answer: Json = answer) -> Json:
            asked.append({"method": method, "params": params})
            return answer

        client.on[QUESTIONS[kind]["method"]] = answered
    return asked


@asynccontextmanager
async def behind(folder: Path, scripts: Mapping[str, Script], **settings: Any) -> AsyncIterator[Gate]:  # noqa: ANN401
    """A guard in front of these of UPSTREAMS; they may ask for everything, unless `may_ask` says otherwise."""
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(played(folder, script, name, over=UPSTREAMS[name][0]))
            for name, script in scripts.items()
        ]
        given = {"may_ask": permitted(*scripts)} | settings
        yield await stack.enter_async_context(gate(folder, *servers, **given))


def rounds(guard: Gate) -> list[Json]:
    """What was asked and heard, in order, as it is recorded."""
    return [record for record in guard.said() if record["kind"] in ("asked", "heard")]
