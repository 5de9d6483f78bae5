"""An agent that talks to a real relay on its standard streams."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from mcpguard.codec.framing import Decoder, Framing, encode
from tests.gateway.played_guard import LIMIT
from tests.patience import PATIENCE
from tests.process import MCPGUARD, ROOT, environment


class Agent:
    """Speaks in one framing and understands no other."""

    def __init__(self, relay: subprocess.Popen[bytes], framing: Framing) -> None:
        self.relay = relay
        self.framing = framing
        assert relay.stdin is not None
        assert relay.stdout is not None
        self.input, self.output = relay.stdin.fileno(), relay.stdout.fileno()
        decoder = Decoder(LIMIT, framing)
        self._messages = (message for data in iter(self._read, b"") for message in decoder.feed(data))

    def say(self, *messages: bytes) -> None:
        self.say_raw(b"".join(encode(message, self.framing) for message in messages))

    def say_raw(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self.input, rest) :]

    def say_meanwhile(self, messages: Iterable[bytes]) -> threading.Thread:
        """Say all that without waiting for it to be taken."""
        speaker = threading.Thread(target=self.say, args=tuple(messages))
        speaker.start()
        return speaker

    def heard(self) -> bytes:
        """The next message, empty at the end."""
        return next(self._messages, b"")

    def close(self) -> None:
        assert self.relay.stdin is not None
        self.relay.stdin.close()

    def ended(self) -> tuple[int, str]:
        """The relay's exit code and what it said to people. Nothing was left unread by then."""
        assert self.relay.stderr is not None
        code = self.relay.wait(PATIENCE)
        assert self.heard() == b""
        return code, self.relay.stderr.read().decode()

    def _read(self) -> bytes:
        return os.read(self.output, 65_536)


@contextmanager
def relaying(
    data_dir: Path,
    *arguments: str,
    framing: Framing = Framing.LINES,
    environ: Mapping[str, str] | None = None,
    command: Sequence[str] = (*MCPGUARD, "stdio", "--data-dir"),
    cwd: Path = ROOT,
) -> Iterator[Agent]:
    """`mcpguard stdio`, just started. However the block ends, so does the process."""
    with subprocess.Popen(
        [*command, str(data_dir), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=cwd,
        env=environment(environ or {}),
    ) as relay:
        try:
            yield Agent(relay, framing)
        finally:
            relay.kill()


def request(number: int | str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


def result(number: int | str, **members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": members}).encode()


def python(module: str) -> tuple[str, ...]:
    """A program of the tests as a command."""
    return (sys.executable, "-m", module)
