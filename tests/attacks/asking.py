"""Servers that ask during a call, and clients that are asked: each in the way of its era."""

import json
from collections.abc import Iterable
from typing import Any

import anyio
import httpx2
from anyio.abc import TaskGroup

from mcpguard.domain.asks import AskKind
from tests.attacks.in_front import until
from tests.gate import Gate
from tests.simulators.asked import Asked
from tests.simulators.client import RawClient, Reply
from tests.simulators.script import Script
from tests.simulators.words import Json, result

TOOL = "web::ask"
PERMITTED = {"web": [AskKind.ELICITATION]}
FORM: Json = {
    "message": "Who are you?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
WHO: Json = {"who": {"method": "elicitation/create", "params": FORM}}
ADA: Json = {"action": "accept", "content": {"name": "Ada"}}
EVE: Json = {"action": "accept", "content": {"name": "Eve"}}
SAMPLE: Json = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 9}
NOBODY: Json = {"roots": {}, "sampling": {}, "elicitation": {"form": {}, "url": {}}}
ASKED_BY = ("http modern", "http legacy", "stdio modern", "stdio legacy")
"""Servers, by how they are reached and what they speak."""


def nosy(*eras: str, state: str | None = "the server's own state", wants: Json | None = None) -> Script:
    """A server with a tool that says what it was answered."""

    async def ask(asked: Asked) -> str:
        answers = await asked.need(WHO if wants is None else wants, state)
        return json.dumps(answers["who"] if wants is None else answers)

    script = Script(*eras)
    script.tool("ask", ask)
    return script


def demanding(said: Json, *eras: str, tool: str = "ask") -> Script:
    """A modern server whose tool answers with this, whatever it is answered."""
    script = Script(*(eras or ("modern",)))
    script.tool(tool, {"resultType": "input_required"} | said)
    return script


class Questioned:
    """One call of a client, in the middle of which it is asked something."""

    def __init__(self, client: RawClient, tasks: TaskGroup, name: str = TOOL, arguments: Json | None = None) -> None:
        self.client = client
        self.params: Json = {"name": name, "arguments": arguments or {}}
        self.questions: dict[str, Json] = {}
        self.state = ""
        self.reply: Reply | None = None
        self.scope = anyio.CancelScope()
        self._tasks = tasks
        client.by_hand = True

    async def begin(self, count: int = 1) -> "Questioned":
        """Call, and wait until that much is asked."""
        before = len(self.client.asked)
        self.go(self.params)
        if self.client.modern:
            await until(lambda: self.reply)
            self._parked()
        else:
            await until(lambda: len(self.client.asked) - before >= count)
            self.questions = {str(each["id"]): each for each in self.client.asked[before:]}
        return self

    async def answer(self, said: Json | None = None) -> Reply:
        """Answer everything that is asked, and hear how the call ends."""
        await self.say(dict.fromkeys(self.questions, ADA if said is None else said))
        return await self.ended()

    async def say(self, answers: Json, **more: Any) -> None:  # noqa: ANN401 - JSON
        """Answer this."""
        if self.client.modern:
            self.go({**self.params, "inputResponses": answers, "requestState": self.state, **more})
        else:
            for id_, each in answers.items():
                await self.client.send(result(id_, each))

    async def ended(self) -> Reply:
        await until(lambda: self.reply)
        assert self.reply is not None
        return self.reply

    def leave(self) -> None:
        """Hang up. Over HTTP that is all that a client can do."""
        self.scope.cancel()

    def _parked(self) -> None:
        assert self.reply is not None
        found = self.reply.result
        assert found["resultType"] == "input_required", found
        self.state, self.questions = found["requestState"], found["inputRequests"]

    def go(self, params: Json | None = None) -> None:
        """Call, and wait for nothing."""
        self.reply = None
        self._tasks.start_soon(self._call, params or self.params, name="a client's call")

    async def _call(self, params: Json) -> None:
        with self.scope:
            try:
                self.reply = await self.client.request("tools/call", params)
            except httpx2.TransportError:  # the guard has stopped
                self.reply = Reply()


def notes(guard: Gate) -> list[tuple[str, str, str]]:
    """What was asked and heard: the kind of record, what a person did, and why not."""
    found = [record for record in guard.said() if record["kind"] in ("asked", "heard")]
    return [(each["kind"], each.get("action", ""), each.get("reason", "")) for each in found]


def refusals(guard: Gate) -> list[tuple[str, str]]:
    """How each call ended, and why."""
    return [(each["outcome"], each.get("reason", "")) for each in guard.entries()]


def answers_to(script: Script) -> list[Json]:
    """What a server was told in answer to its requests."""
    return [message for message in script.calls if "method" not in message]


def responses(script: Script) -> list[Json]:
    """The answers that came with calls, in the way of the modern era."""
    return [
        call["params"]["inputResponses"] for call in script.called("tools/call") if "inputResponses" in call["params"]
    ]


async def all_closed(guard: Gate, count: int = 1) -> None:
    await until(lambda: len(_closed(guard.said())) >= count)


def once_each(records: Iterable[Json]) -> bool:
    """Whether every entry that was opened was closed, once."""
    opened = [record["entry"] for record in records if record["kind"] == "opened"]
    return sorted(opened) == sorted(_closed(records)) and len({*opened}) == len(opened)


def _closed(records: Iterable[Json]) -> list[str]:
    return [record["entry"] for record in records if record["kind"] == "closed"]


async def taken_back(call: Questioned) -> None:
    """A client that can be told is told of each of its questions that nobody waits for it."""
    wanted = {*call.questions} if not call.client.modern else set()
    await until(lambda: {each["params"]["requestId"] for each in cancellations(call)} == wanted)


def cancellations(call: Questioned) -> list[dict[str, dict[str, str]]]:
    return [each for each in call.client.heard if each["method"] == "notifications/cancelled"]
