"""`mcpguard stdio` from beginning to end: find the guard, introduce the agent, carry messages.

Rules kept here:
1. Nothing but the guard's messages goes to standard output. Messages for people go to standard error.
2. The token is sent to our own guard (`trust`) and nowhere else.
3. Exit codes: 0 when the agent has ended the conversation, or for a signal; 1 when the guard is missing, refuses or has
   exited; 2 when the agent's messages are not MCP.
"""

import json
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from mcpguard.codec.framing import FramingError
from mcpguard.relay.credential import token
from mcpguard.relay.place import agents_socket, data_directory
from mcpguard.relay.problem import CannotRelay
from mcpguard.relay.starting import connect, serve_command
from mcpguard.relay.traffic import Traffic, from_guard
from mcpguard.text.visible import visible

PROTOCOL: Final = 1
GREETING_SECONDS: Final = 30.0
LONGEST_REFUSAL: Final = 1000
PAUSES: Final = (0.1, 0.2, 0.4, 0.8, 0.0)
"""Seconds after each attempt that a guard ended without a word: it may be about to leave."""


class RelayFace(StrEnum):
    """Which face of the guard the agent sees."""

    GUARD = "guard"
    DIRECT = "direct"
    PROXY = "proxy"
    TRANSPARENT = "transparent"


USUAL = RelayFace.GUARD
"""What is shown if nothing else is asked for."""


class RelayCommand(NamedTuple):
    """The options of the command line."""

    config: Path | None = None
    data_dir: Path | None = None
    face: RelayFace = RelayFace.GUARD
    only: str | None = None
    separator: str | None = None


Serve = Callable[[Path | None, Path], Sequence[str]]


def relay(asked: RelayCommand, environ: Mapping[str, str], serve: Serve = serve_command) -> int:
    """Relay until either side ends, and return the exit code. `serve` makes the command that starts a guard."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    try:
        _refuse_closed_streams()
        guard, answers = _introduced(asked, environ, serve)
    except CannotRelay as error:
        _tell(str(error))
        return 1
    return Traffic(guard, answers).run(_tell)  # the socket stays open to the end of the process: threads use it


def _refuse_closed_streams() -> None:
    """Refuse to start with closed streams: the next file that is opened would take the agent's place."""
    if sys.stdin is None or sys.stdout is None:
        raise CannotRelay("standard input and output must be open: the agent uses them")


def _greeting(asked: RelayCommand, token: str | None) -> bytes:
    said = {"mcpguard": PROTOCOL, "face": asked.face.value, "only": asked.only, "token": token}
    if asked.separator is not None:
        said["separator"] = asked.separator
    return json.dumps(said).encode() + b"\n"


def _introduced(asked: RelayCommand, environ: Mapping[str, str], serve: Serve) -> tuple[socket.socket, Iterator[bytes]]:
    """Return a connection to a guard that accepts the agent, and its messages. A guard that is just leaving is
    followed by the next.
    """
    data_dir = data_directory(asked.data_dir, asked.config, environ)
    path, greeting = agents_socket(data_dir), _greeting(asked, token(environ))
    for pause in PAUSES:
        guard = connect(path, data_dir, serve(asked.config, data_dir), environ)
        answers = from_guard(guard)
        if _accepted(guard, greeting, answers):
            return guard, answers
        guard.close()
        time.sleep(pause)
    raise CannotRelay("the guard closed the connection without an answer; see its log")


def _accepted(guard: socket.socket, greeting: bytes, answers: Iterator[bytes]) -> bool:
    """Return False if the guard left before it answered. Any other answer than yes raises CannotRelay."""
    guard.settimeout(GREETING_SECONDS)
    try:
        guard.sendall(greeting)
        said = next(answers, None)
    except FramingError:
        said = b""
    except ConnectionError:
        said = None
    except OSError as error:
        raise CannotRelay(f"the guard does not answer: {error.strerror or error}") from None
    guard.settimeout(None)
    answer = {} if said is None else _object(said)
    if isinstance(refusal := answer.get("error"), str):
        raise CannotRelay(f"the guard refuses: {refusal[:LONGEST_REFUSAL]}")
    if said is not None and answer.get("mcpguard") != PROTOCOL:
        raise CannotRelay("the guard runs another version of mcpguard; restart it")
    return said is not None


def _object(message: bytes) -> dict[str, Any]:
    try:
        said = json.loads(message)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _tell(sentence: str) -> None:
    if sys.stderr is not None:
        try:
            sys.stderr.write("\n".join(visible(line) for line in f"mcpguard: {sentence}".split("\n")) + "\n")
            sys.stderr.flush()
        except OSError:
            return  # nobody listens


def _leave(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)
