"""A script on a stream of messages in either framing: what a process does with it, wherever the script is."""

import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Self

from anyio.abc import TaskGroup

from mcpguard.codec.framing import Decoder, Framing, FramingError, encode
from tests.simulators.script import Script
from tests.simulators.streams import dumped
from tests.simulators.words import INVALID_REQUEST, PARSE_ERROR, HangUp, Json, RpcError, Said, Torn, failure

LIMIT = 64 * 1024 * 1024


class Spoken:
    """One client's stream. `write` sends bytes, `cut` ends the stream."""

    def __init__(
        self,
        script: Script,
        tasks: TaskGroup,
        write: Callable[[bytes], Awaitable[None]],
        cut: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._script = script
        self._tasks = tasks
        self._write = write
        self._cut = cut
        self._decoder = Decoder(LIMIT)
        self._joined = script.joined(self.say)

    @property
    def framing(self) -> Framing:
        """The client's choice; before it has said anything, lines."""
        return self._decoder.framing or Framing.LINES

    def __enter__(self) -> Self:
        self._party = self._joined.__enter__()
        return self

    def __exit__(self, *given: object) -> None:
        self._joined.__exit__(None, None, None)

    def feed(self, data: bytes) -> None:
        """Take what the client has sent, and begin to answer it."""
        try:
            for message in self._decoder.feed(data):
                self._take(message)
        except FramingError:
            self._tasks.start_soon(self._cut, name="end of what cannot be understood")

    def _take(self, data: bytes) -> None:
        try:
            said = json.loads(data)
        except (ValueError, RecursionError):
            said = failure(None, RpcError(PARSE_ERROR, "Parse error"))
            self._tasks.start_soon(self.say, said, name="refusal")
            return
        if isinstance(said, dict):
            self._tasks.start_soon(self._answer, said, name="message from standard input")
        else:
            self._tasks.start_soon(
                self.say, failure(None, RpcError(INVALID_REQUEST, "not one message")), name="refusal"
            )

    async def say(self, said: Said) -> None:
        match said:
            case HangUp():
                return
            case Torn(begin):
                await self._write(begin)
                await self._cut()
            case bytes():
                await self._write(said + b"\n" if self.framing is Framing.LINES else encode(said, self.framing))
            case _:
                await self._write(encode(dumped(said), self.framing))

    async def _answer(self, message: Json) -> None:
        reply = await self._script.answer(message, self.say, self._party)
        if reply is not None:
            await self.say(reply)
