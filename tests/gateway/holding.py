"""People who answer held calls, and agents who make them, in tests of what becomes of such a call."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio.lowlevel

from tests.gate import Gate
from tests.patience import PATIENCE
from tests.review import DECISION
from tests.simulators.client import RawClient, Reply
from tests.simulators.script import Script
from tests.simulators.words import Json

HELD: Mapping[str, Any] = {"holds__calls": ["any of web:echo"]}
LIFE, ALLOWED, WAIT = 300, 600, 25


class Making:
    """A call in a task of its own, that can be given up."""

    def __init__(self, client: RawClient, arguments: Json | None = None, name: str = "web::echo", **meta: Any) -> None:  # noqa: ANN401 - JSON
        self.given_up = anyio.CancelScope()
        self.reply: Reply | None = None
        self._client = client
        self._params: Json = {"name": name, "arguments": {"text": "hello"} if arguments is None else arguments}
        self._params |= {"_meta": meta} if meta else {}

    async def __call__(self) -> None:
        with self.given_up:
            self.reply = await self._client.request("tools/call", self._params, id_="mine")

    async def done(self) -> Reply:
        await until(lambda: self.reply is not None)
        assert self.reply is not None
        return self.reply


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await anyio.lowlevel.checkpoint()


async def held(guard: Gate, count: int = 1) -> Json:
    """The newest of so many calls that wait for a person; the record says so."""
    await until(lambda: guard.now.guard.held.waiting == count)
    await guard.now.store.writer.submit(lambda _: None)
    return [call for call in await guard.now.guard.held.every() if call["state"] == "waiting"][-1]


async def allowed(guard: Gate, ticket: str | None = None) -> str:
    """A person allows it, or the one that waits."""
    ticket = ticket or (await held(guard))["id"]
    return str((await guard.now.guard.held.allow(ticket, DECISION))["id"])


async def denied(guard: Gate, ticket: str | None = None) -> str:
    ticket = ticket or (await held(guard))["id"]
    return str((await guard.now.guard.held.deny(ticket, DECISION))["id"])


async def told_to_come_back(guard: Gate, call: Callable[[], Awaitable[Reply]]) -> Json:
    """What a client is told whose call nobody answers while it waits."""
    replies: list[Reply] = []

    async def make() -> None:
        replies.append(await call())

    before = guard.now.guard.held.waiting
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(make)
        await until(lambda: guard.now.guard.held.waiting > before or bool(replies))
        await guard.now.store.writer.submit(lambda _: None)
        await guard.clock.advance(WAIT)
    return refusal(replies[0])


def refusal(reply: Reply) -> Json:
    assert reply.result["isError"] is True
    said: Json = reply.result["_meta"]["mcpguard/refusal"]
    assert said["executed"] == "no"
    return said


def calls(script: Script) -> int:
    """How many calls of tools the server has seen."""
    return sum(message.get("method") == "tools/call" for message in script.calls)


def moves(guard: Gate) -> list[tuple[str, str, str]]:
    """What happened to held calls, in order: what, from where, to where."""
    said = [record for record in guard.said() if record["kind"] in ("decided", "moved") and "ticket" in record]
    return [(record.get("answer") or record["move"], record["before"], record["after"]) for record in said]
