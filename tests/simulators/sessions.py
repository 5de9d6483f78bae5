"""Legacy clients over HTTP: what a session id stands for."""

from contextlib import ExitStack
from itertools import count

from tests.simulators.script import Script
from tests.simulators.streams import Stream

_numbers = count(1)


class Session:
    """A client from `initialize` until it goes or is forgotten, and everything said to it."""

    def __init__(self, script: Script) -> None:
        self.id = f"session-{next(_numbers)}"
        self.standalone = Stream()
        self.streams = {self.standalone.name: self.standalone}
        self.listening = False
        self.heard = 0  # how much of the standalone stream was delivered
        self._stack = ExitStack()
        self.party = self._stack.enter_context(script.joined(self.standalone.say))

    def stream(self) -> Stream:
        """For one more answer."""
        stream = Stream()
        self.streams[stream.name] = stream
        return stream

    def delivered(self, at: int) -> None:
        self.heard = at + 1

    def close(self) -> None:
        self._stack.close()
        for stream in self.streams.values():
            stream.end()
