"""A server of the soak, in a process of its own.

python -m tests.soak.server stdio NAME ERA
python -m tests.soak.server http NAME ERA PORT      ends when its standard input does
"""

import sys
from functools import partial
from typing import Any

import anyio
from anyio import to_thread

from tests.simulators.asked import Asked
from tests.simulators.built_in import elicitation, schema
from tests.simulators.faces import serving
from tests.simulators.over_http import HttpFace
from tests.simulators.script import Script
from tests.simulators.standalone import play
from tests.simulators.words import Json, text
from tests.soak.words import PROMPT, SOMETIMES, TEMPLATE, UNSEEN, mark, much, note

READS: Json = {"annotations": {"readOnlyHint": True}}


def _token(asked: Asked) -> str:
    token: str = asked.arguments["token"]
    return token


class Answers:
    """What a server of this name answers."""

    def __init__(self, name: str, script: Script) -> None:
        self._name = name
        self._script = script

    def say(self, asked: Asked) -> Json:
        return text(mark(self._name, "say", _token(asked)))

    async def work(self, asked: Asked) -> Json:
        await anyio.sleep(asked.arguments["seconds"])  # this is the work
        return text(mark(self._name, "work", _token(asked)))

    async def tell(self, asked: Asked) -> Json:
        said, steps = mark(self._name, "tell", _token(asked)), asked.arguments["steps"]
        for step in range(1, steps + 1):
            await asked.progress(step, steps, said)
            await asked.log("warning", {"mark": said, "step": step})
            await anyio.sleep(0.005)  # so that others come in between
        return text(said)

    async def ask(self, asked: Asked) -> Json:
        """Ask the client for the token, and say whose the answer is."""
        question = elicitation(mark(self._name, "ask", _token(asked)), "token", token={"type": "string"})
        heard = (await asked.need({"token": question}, "asked"))["token"]
        return text(mark(self._name, "ask", heard["content"]["token"]))

    async def touch(self, asked: Asked) -> Json:
        """Say that the token's note is another now."""
        await self._script.updated(note(_token(asked)))
        return text(mark(self._name, "touch", _token(asked)))

    def much(self, asked: Asked) -> Json:
        return text(much(self._name, _token(asked)))

    def fail(self, asked: Asked) -> Json:
        return {**text(mark(self._name, "fail", _token(asked))), "isError": True}

    async def never(self, asked: Asked) -> Json:
        await anyio.sleep_forever()
        return text(mark(self._name, "never", _token(asked)))

    async def turn(self, asked: Asked) -> Json:
        """Offer a tool that nobody has approved in the place of one that was, or that one again."""
        offered = {each["name"] for each in self._script.tools}
        coming, going = (UNSEEN, SOMETIMES) if SOMETIMES in offered else (SOMETIMES, UNSEEN)
        self._script.tools[:] = [each for each in self._script.tools if each["name"] != going]
        self._script.tool(coming, "here")
        await self._script.changed_list("tools")
        return text(mark(self._name, "turn", _token(asked)))

    def read(self, asked: Asked) -> Json:
        return {"contents": [{"uri": asked.name, "text": mark(self._name, "read", asked.variables["token"])}]}

    def greet(self, asked: Asked) -> Json:
        said = {"type": "text", "text": mark(self._name, PROMPT, _token(asked))}
        return {"messages": [{"role": "user", "content": said}]}

    def complete(self, asked: Asked) -> Json:
        return {"completion": {"values": [mark(self._name, "complete", asked.params["argument"]["value"])]}}


def scripted(name: str, *eras: str) -> Script:
    """The server of this name."""
    script = Script(*eras, tools=[])
    answers = Answers(name, script)
    takes = schema("token", token={"type": "string"})
    for tool, more in (
        (answers.say, READS),
        (answers.work, {}),
        (answers.tell, READS),
        (answers.much, READS),
        (answers.fail, {}),
        (answers.never, READS),
        (answers.turn, {}),
        (answers.ask, {}),
        (answers.touch, READS),
    ):
        script.tool(tool.__name__, tool, inputSchema=takes, **more)
    script.tool(SOMETIMES, "here")
    script.resources = []
    script.templates = [{"uriTemplate": TEMPLATE, "name": "note", "mimeType": "text/plain"}]
    script.prompts = [{"name": PROMPT, "arguments": [{"name": "token", "required": True}]}]
    said: dict[str, Any] = {
        f"resources/read {TEMPLATE}": answers.read,
        f"prompts/get {PROMPT}": answers.greet,
        "completion/complete": answers.complete,
    }
    script.answers |= said
    return script


async def _serve(script: Script, port: int) -> None:
    async with serving(HttpFace(script), port):
        await to_thread.run_sync(sys.stdin.read)


def main() -> None:
    over, name, era, *port = sys.argv[1:]
    script = scripted(name, era)
    if over == "stdio":
        play(script)
    else:
        anyio.run(partial(_serve, script, int(port[0])))


if __name__ == "__main__":
    main()
