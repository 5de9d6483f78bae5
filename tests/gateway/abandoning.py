"""Requests that clients give up, at a server that does not answer before it is told to, and what becomes of them."""

import anyio

from tests.gate import Gate
from tests.simulators.asked import Asked
from tests.simulators.client import RawClient, Reply
from tests.simulators.script import Script
from tests.simulators.words import Id, Json


def waiting(*eras: str) -> Script:
    """Whatever it is asked, it does not answer before the test says so."""

    async def wait(asked: Asked) -> Json:
        await asked.script.hold()
        return {"content": [], "contents": [], "messages": [], "completion": {"values": []}}

    script = Script(*eras)
    for key in script.answers:
        script.answers[key] = wait
    script.answers["completion/complete"] = wait
    return script


class Asking:
    """A request in a task of its own, that can be given up."""

    def __init__(self, client: RawClient, method: str, params: Json, id_: Id = 1) -> None:
        self.given_up = anyio.CancelScope()
        self.reply: Reply | None = None
        self._asked = client, method, params, id_

    async def __call__(self) -> None:
        client, method, params, id_ = self._asked
        with self.given_up:
            self.reply = await client.request(method, params, id_=id_)


async def begun(script: Script, abandoned: int) -> None:
    """Wait until the server works on one request, and so many before it were taken back."""
    await script.until(lambda: script.held == 1 and len(script.abandoned) == abandoned)


async def abandoned(script: Script, count: int) -> None:
    await script.until(lambda: len(script.abandoned) == count)


async def closed(guard: Gate, count: int) -> Json:
    """The entry of a call, when that many have ended."""
    while len([each for each in guard.entries() if "outcome" in each]) < count:
        await anyio.lowlevel.checkpoint()
    return guard.entries()[count - 1]
