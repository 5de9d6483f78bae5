"""Carries messages between the agent's streams and the guard's socket, both ways at once.

Rules kept here:
1. Each direction is a thread that reads on only when what it has read was taken. A slow reader slows the other side
   down; nothing piles up here but one message each way.
2. Only whole messages are written to the agent, in the framing that the agent uses.
3. If the guard goes away, every request of the agent that has no answer gets an error instead.
4. When the agent has sent its last message, the guard is told so, and its answers within `DRAIN_SECONDS` are passed on.
"""

import os
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple

from mcpguard.codec.framing import Decoder, Framing, FramingError, encode
from mcpguard.relay.pending import PendingRequests

LIMIT: Final = 16 * 1024 * 1024
"""Longest message in bytes, either way."""

CHUNK: Final = 65_536
DRAIN_SECONDS: Final = 5.0
STDIN, STDOUT = 0, 1


class Ending(NamedTuple):
    """How one direction ended: the exit code, what to report, and whether the other direction may go on for a
    little.
    """

    code: int
    why: str | None = None
    drains: bool = False


AGENT_CLOSED: Final = Ending(0, drains=True)
AGENT_GONE: Final = Ending(0)
GUARD_GONE: Final = Ending(1, "the guard has exited")
GUARD_DEAF: Final = Ending(1)
BROKEN: Final = Ending(1, "the relay has failed")


class _AgentGone(Exception):
    """The agent does not read any more."""


def messages(read: Callable[[], bytes], decoder: Decoder) -> Iterator[bytes]:
    """Yield every message until the end. Raises FramingError."""
    while data := read():
        yield from decoder.feed(data)


def from_guard(guard: socket.socket) -> Iterator[bytes]:
    """Yield every message of the guard until it ends, in whatever way. Raises FramingError."""

    def read() -> bytes:
        try:
            return guard.recv(CHUNK)
        except ConnectionError:
            return b""

    return messages(read, Decoder(LIMIT, Framing.LINES))


class Traffic:
    """One agent's conversation with the guard."""

    def __init__(self, guard: socket.socket, answers: Iterator[bytes]) -> None:
        self._guard = guard
        self._answers = answers
        self._decoder = Decoder(LIMIT)
        self._pending = PendingRequests()
        self._agent_closed = False
        self._endings: SimpleQueue[Ending] = SimpleQueue()

    def run(self, tell: Callable[[str], None]) -> int:
        """Run until one side has ended. Report why, if that is worth telling, and return the exit code."""
        for way in (self._upwards, self._downwards):
            threading.Thread(target=way, daemon=True).start()
        ending = self._endings.get()
        if ending is GUARD_DEAF:
            ending = self._endings.get()  # of the other way, which passes on what the guard has said before
        if ending.why is not None:
            tell(ending.why)
        if ending.drains:
            with suppress(Empty):
                self._endings.get(timeout=DRAIN_SECONDS)
        return ending.code

    def _upwards(self) -> None:
        ending = BROKEN
        try:
            ending = self._to_guard()
        finally:
            self._agent_closed = ending.drains
            self._endings.put(ending)  # before the guard hears of it and ends too
            with suppress(OSError):
                self._guard.shutdown(socket.SHUT_WR if ending.drains else socket.SHUT_RDWR)

    def _to_guard(self) -> Ending:
        try:
            for message in messages(_from_agent, self._decoder):
                self._pending.note_request(message)
                self._guard.sendall(encode(_on_one_line(message), Framing.LINES))
        except FramingError as error:
            return Ending(2, f"the agent sent an invalid message: {error}", drains=True)
        except OSError:
            return GUARD_DEAF
        return AGENT_CLOSED

    def _downwards(self) -> None:
        ending = BROKEN
        try:
            ending = self._to_agent()
        finally:
            self._endings.put(ending)

    def _to_agent(self) -> Ending:
        ending = GUARD_GONE
        try:
            try:
                for message in self._answers:
                    self._pending.note_answer(message)
                    self._say(message)
            except FramingError as error:
                ending = Ending(1, f"the guard sent an invalid message: {error}")
            if not self._agent_closed:
                for refusal in self._pending.refusals("the guard has exited"):
                    self._say(refusal)
        except _AgentGone:
            return AGENT_GONE
        return ending

    def _say(self, message: bytes) -> None:
        _to_stdout(encode(message, self._decoder.framing or Framing.LINES))


def _on_one_line(message: bytes) -> bytes:
    """Remove line breaks and tabs between the parts of a message; JSON cannot have them elsewhere."""
    return message.replace(b"\n", b"\t")


def _from_agent() -> bytes:
    while True:
        try:
            return os.read(STDIN, CHUNK)
        except BlockingIOError:  # somebody who shares our streams has made them so
            select.select([STDIN], [], [])
        except OSError:  # a terminal that is gone
            return b""


def _to_stdout(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(STDOUT, rest) :]
        except BlockingIOError:
            select.select([], [STDOUT], [])
        except OSError as error:
            raise _AgentGone from error
