"""What a server says on the account of one request, or of none, kept until somebody reads it over HTTP."""

import itertools
import json
from collections.abc import AsyncIterator

import anyio
from anyio.lowlevel import checkpoint

from tests.simulators.words import HangUp, Said, Torn

_numbers = itertools.count(1)


class Stream:
    """Messages in order. Everything said is kept, so that a reader that comes back can go on where it was."""

    def __init__(self) -> None:
        self.name = f"stream{next(_numbers)}"
        self.said: list[Said] = []
        self.ended = False
        self.answer: int | None = None  # which of them is the answer
        self._changed = anyio.Event()

    async def say(self, message: Said) -> None:
        self.said.append(message)
        self._wake()
        if len(self.said) % 100 == 0:  # a flood must not keep everybody else waiting
            await checkpoint()

    def end(self, answer: Said | None = None) -> None:
        if answer is not None:
            self.answer = len(self.said)
            self.said.append(answer)
        self.ended = True
        self._wake()

    async def first(self) -> None:
        """Wait until there is something to read, or never will be."""
        while not self.said and not self.ended:
            await self._changed.wait()

    async def finished(self) -> None:
        while not self.ended:
            await self._changed.wait()

    async def follow(self, begin: int = 0) -> AsyncIterator[tuple[int, Said]]:
        """Every message from there on, until the end."""
        for at in itertools.count(begin):
            while at >= len(self.said):
                if self.ended:
                    return
                await self._changed.wait()
            yield at, self.said[at]

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def dumped(said: Said) -> bytes:
    """The bytes of a message."""
    match said:
        case bytes():
            return said
        case Torn(begin):
            return begin
        case HangUp():
            return b""
        case _:
            return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def event(said: Said, id_: str | None = None) -> bytes:
    """A message as a server-sent event. One that is torn is not finished."""
    head = b"" if id_ is None else b"id: " + id_.encode() + b"\n"
    if isinstance(said, HangUp):
        return head + b"retry: %d\ndata:\n\n" % said.retry_ms
    body = b"\n".join(b"data: " + line for line in dumped(said).split(b"\n"))
    return b"event: message\n" + head + body + (b"" if isinstance(said, Torn) else b"\n\n")
