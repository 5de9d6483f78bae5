"""Asking the running guard over the operator's socket.

Rules kept here:
1. Whatever goes wrong is told on standard error, in sentences, and ends the command with 1.
2. A change that was not answered in time may have been made: that is said, and nothing is tried again.
3. A person at a terminal sees what is waited for, when that takes longer than a moment.
"""

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NoReturn
from urllib.parse import urlencode

import typer

from mcpguard.app.places import operator_socket
from mcpguard.cli.shared.common import loaded
from mcpguard.cli.shared.progress import waiting
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
"""Which command shows whether a change was made; for the rest it is `server`."""
USUAL: Final = "waiting for the guard"
MOST: Final = 1000
"""Entries of a list that are asked for at once."""
_REFUSED: Final = 400


class Absent(Exception):
    """Nobody listens there."""


class GuardProblem(Exception):
    """The guard does not do what it was asked. `sentences` are the guard's; they may repeat what servers say."""

    def __init__(self, status: int, sentences: tuple[str, ...]) -> None:
        super().__init__(*sentences)
        self.status = status
        self.sentences = sentences


def asked(data_dir: Path, what: str) -> Any:  # noqa: ANN401 - JSON of our own
    """What the guard answers. Says so and exits with 1 where none does."""
    return Operator(data_dir).get(what)


def server_path(server: str, /, *further: str, **query: str) -> str:
    """The path of a server, whose name has the form of one, or of what is below it."""
    return "/".join((SERVERS, server, *further)) + (f"?{urlencode(query)}" if query else "")


class Operator:
    """The guard that runs in this data directory."""

    def __init__(self, data_dir: Path) -> None:
        self._path = operator_socket(data_dir)

    @classmethod
    def of(cls, config: Path | None, data_dir: Path | None) -> "Operator":
        """The guard of these options."""
        return cls(loaded(config, data_dir=data_dir).settings.data_dir)

    def runs(self) -> bool:
        """Whether somebody listens there. Whatever else goes wrong, somebody may."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as there:
                there.settimeout(TIMEOUT)
                there.connect(str(self._path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True
        return True

    def get(self, what: str) -> Any:  # noqa: ANN401 - JSON of our own
        return self.send("GET", what, timeout=TIMEOUT)

    def every(self, what: str, of: str) -> Any:  # noqa: ANN401 - JSON of our own
        """The same for a list, of which each answer has a part under the name `of`: with all the parts."""
        whole = more = self.get(f"{what}?limit={MOST}")
        while (cursor := more["next"]) is not None:
            more = self.get(f"{what}?{urlencode({'limit': MOST, 'cursor': cursor})}")
            whole[of] += more[of]
        return whole

    def heard(self, what: str) -> Any:  # noqa: ANN401 - JSON of our own
        """The same for whoever can do without: None where no guard answers."""
        try:
            status, answer = _exchanged(_Connection(self._path, TIMEOUT), "GET", what, None)
            return json.loads(answer) if status < _REFUSED else None
        except (OSError, http.client.HTTPException, ValueError):
            return None

    def send(
        self,
        method: str,
        what: str,
        body: object = None,
        timeout: float = DECIDING,
        doing: Callable[[], str] = lambda: USUAL,
    ) -> Any:  # noqa: ANN401 - JSON of our own
        """Ask for something to be done. `doing` says what is being done meanwhile."""
        try:
            return self.tried(method, what, body, timeout, doing)
        except GuardProblem as problem:
            tell(problem)
            raise typer.Exit(1) from None

    def tried(
        self,
        method: str,
        what: str,
        body: object = None,
        timeout: float = DECIDING,
        doing: Callable[[], str] = lambda: USUAL,
    ) -> Any:  # noqa: ANN401 - JSON of our own
        """The same, for whoever knows what to do about a GuardProblem."""
        try:
            return self.sought(method, what, body, timeout, doing)
        except Absent as absent:
            _end(str(absent))

    def sought(
        self,
        method: str,
        what: str,
        body: object = None,
        timeout: float = DECIDING,
        doing: Callable[[], str] = lambda: USUAL,
    ) -> Any:  # noqa: ANN401 - JSON of our own
        """The same, for whoever knows what to do where nobody listens, too."""
        try:
            with waiting(doing):
                status, answer = _exchanged(_Connection(self._path, timeout), method, what, body)
            if status < _REFUSED:
                return json.loads(answer) if answer else None
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            _end(f"the guard at {self._path} does not speak to this process; its log says why")
        except TimeoutError:
            late = f"the guard at {self._path} has not answered in {timeout:g} s"
            look = next((_LISTS[each] for each in _LISTS if what.startswith(each)), "server")
            _end(late if method == "GET" else f"{late}; find out whether it was done: mcpguard {look} list")
        except (OSError, http.client.HTTPException, ValueError) as error:
            sentence = f"no guard answers at {self._path}: {str(error) or type(error).__name__}"
            if isinstance(error, FileNotFoundError | ConnectionRefusedError):
                raise Absent(sentence) from None
            _end(sentence)
        raise GuardProblem(status, tuple(_sentences(status, answer)))


def tell(problem: GuardProblem) -> None:
    """Its sentences, the first of which says whose they are."""
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


def _sentences(status: int, answer: bytes) -> Iterator[str]:
    """What an answer that refuses says; whatever it is."""
    try:
        said = json.loads(answer)
    except ValueError:
        said = None
    match said:
        case {"title": str(title), "moved": [*each]} | {"title": str(title), "problems": [*each]}:
            yield title
            yield from map(str, each)
        case {"detail": str(detail)}:
            yield detail
        case _:
            yield f"the guard failed at this ({status}); its log says why"


def _end(sentence: str) -> NoReturn:
    typer.echo(f"mcpguard: {visible(sentence)}", err=True)
    raise typer.Exit(1)
