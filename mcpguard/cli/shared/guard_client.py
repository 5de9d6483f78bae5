"""The client with which commands query the running guard over the operator's socket.

Rules kept here:
1. Any failure is printed on standard error, in sentences, and ends the command with exit code 1.
2. A change that was not answered in time may have been made: the command says so, and does not retry.
3. A user at a terminal sees what the command waits for if that takes longer than a moment.
"""

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NoReturn
from urllib.parse import urlencode

import typer

from mcpguard.cli.shared.data_folder import data_directory
from mcpguard.cli.shared.progress import show_waiting
from mcpguard.relay.place import operator_socket
from mcpguard.text.visible import visible

TIMEOUT: Final = 5.0
DECIDING: Final = 30.0
"""Seconds: a decision waits until it is recorded."""
API: Final = "/api/v1"
SERVERS: Final = f"{API}/servers"
CALLERS: Final = f"{API}/callers"
USERS: Final = f"{API}/users"
_LISTS: Final = {CALLERS: "caller", USERS: "user", f"{API}/setup-link": "user", f"{API}/operators": "operator"} | {
    f"{API}/records": "audit",
    f"{API}/calls": "audit",
}
"""Which command shows whether a change was made; for all other paths it is `server`."""
USUAL: Final = "waiting for the guard"
MOST: Final = 1000
"""Entries of a list that are asked for at once."""
PROBLEM: Final = "urn:mcpguard:"
_REFUSED: Final = 400


class GuardProblem(Exception):
    """The guard refuses what it was asked. `sentences` are the guard's own; they may repeat what servers say. `kind` is
    the word of the problem's type."""

    def __init__(self, status: int, sentences: tuple[str, ...], kind: str = "") -> None:
        super().__init__(*sentences)
        self.status = status
        self.sentences = sentences
        self.kind = kind


class GuardAbsent(GuardProblem):
    """No guard listens at the socket."""


def server_path(server: str, /, *further: str, **query: str) -> str:
    """The path of a server, or of what is below it. `server` must have the form of a server's name."""
    return "/".join((SERVERS, server, *further)) + (f"?{urlencode(query)}" if query else "")


class GuardClient:
    """Asks the guard that runs in a data directory."""

    def __init__(self, data_dir: Path) -> None:
        self._path = operator_socket(data_dir)

    @classmethod
    def from_options(cls, config: Path | None, data_dir: Path | None) -> "GuardClient":
        """The client for the data directory that these options name."""
        return cls(data_directory(config, data_dir))

    def is_running(self) -> bool:
        """Tell whether somebody listens at the socket. Yes also where that cannot be told."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as there:
                there.settimeout(TIMEOUT)
                there.connect(str(self._path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True
        return True

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON of our own
        """What the guard has at this path. Ends the command where it does not answer."""
        return self.send("GET", path, timeout=TIMEOUT)

    def get_all(self, path: str, key: str) -> Any:  # noqa: ANN401 - JSON of our own
        """A list that comes in pages, as one answer: every page has its part under `key`."""
        whole = more = self.get(f"{path}?limit={MOST}")
        while (cursor := more["next"]) is not None:
            more = self.get(f"{path}?{urlencode({'limit': MOST, 'cursor': cursor})}")
            whole[key] += more[key]
        return whole

    def get_or_none(self, path: str) -> Any:  # noqa: ANN401 - JSON of our own
        """What the guard has at this path; None where it does not answer, or refuses."""
        try:
            status, answer = _exchanged(_Connection(self._path, TIMEOUT), "GET", path, None)
            return json.loads(answer) if status < _REFUSED else None
        except (OSError, http.client.HTTPException, ValueError):
            return None

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        timeout: float = DECIDING,
        doing: Callable[[], str] = lambda: USUAL,
    ) -> Any:  # noqa: ANN401 - JSON of our own
        """Make a request. Whatever goes wrong is printed and ends the command. `doing` says what is being done."""
        try:
            return self.request(method, path, body, timeout, doing)
        except GuardProblem as problem:
            print_problem(problem)
            raise typer.Exit(1) from None

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        timeout: float = DECIDING,
        doing: Callable[[], str] = lambda: USUAL,
    ) -> Any:  # noqa: ANN401 - JSON of our own
        """Make a request, for commands that know what to do about a refusal. Raises GuardProblem or GuardAbsent."""
        try:
            with show_waiting(doing):
                status, answer = _exchanged(_Connection(self._path, timeout), method, path, body)
            if status < _REFUSED:
                return json.loads(answer) if answer else None
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            _end(f"the guard at {self._path} refuses to talk to this process; its log says why")
        except TimeoutError:
            # Nothing is tried again: a change may have been made, and made twice it would be two.
            late = f"the guard at {self._path} has not answered in {timeout:g} s"
            look = next((_LISTS[each] for each in _LISTS if path.startswith(each)), "server")
            _end(late if method == "GET" else f"{late}; check whether it was done: mcpguard {look} list")
        except (OSError, http.client.HTTPException, ValueError) as error:
            sentence = f"no guard answers at {self._path}: {str(error) or type(error).__name__}"
            if isinstance(error, FileNotFoundError | ConnectionRefusedError):
                raise GuardAbsent(0, (sentence,)) from None
            _end(sentence)
        said = _parsed(answer)
        raise GuardProblem(status, tuple(_sentences(status, said)), _kind(said))


def print_problem(problem: GuardProblem) -> None:
    """Print the sentences of a problem on standard error."""
    first, *more = problem.sentences
    typer.echo(f"mcpguard: {visible(first)}", err=True)
    for sentence in more:
        typer.echo(f"  {visible(sentence)}", err=True)


class _Connection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("operator", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _exchanged(connection: _Connection, method: str, what: str, body: object) -> tuple[int, bytes]:
    try:
        if body is None:
            connection.request(method, what)
        else:
            connection.request(method, what, json.dumps(body).encode(), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _parsed(answer: bytes) -> object:
    try:
        return json.loads(answer)
    except ValueError:
        return None


def _kind(said: object) -> str:
    """The word of a problem's type; empty where the answer is no problem of the guard's."""
    match said:
        case {"type": str(kind)} if kind.startswith(PROBLEM):
            return kind.removeprefix(PROBLEM)
        case _:
            return ""


def _sentences(status: int, said: object) -> Iterator[str]:
    """The sentences of an answer that refuses, whatever form it has."""
    match said:
        case {"title": str(title), "moved": [*each]} | {"title": str(title), "problems": [*each]}:
            yield title
            yield from map(str, each)
        case {"detail": str(detail)}:
            yield detail
        case _:
            yield f"the guard failed to do this ({status}); its log says why"


def _end(sentence: str) -> NoReturn:
    typer.echo(f"mcpguard: {visible(sentence)}", err=True)
    raise typer.Exit(1)
