"""`mcpguard status`: asks the running guard over the operator's socket."""

import http.client
import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from mcpguard.app.places import operator_socket
from mcpguard.cli.common import As, Config, DataDir, Output, loaded, print_json, print_table

TIMEOUT = 5.0


def status(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Say how the running guard is. Exit code 1 when none runs or it cannot take calls."""
    path = operator_socket(loaded(config, data_dir=data_dir).settings.data_dir)
    try:
        answer = _ask(path, "/api/v1/status")
    except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
        typer.echo(f"mcpguard: the guard at {path} does not speak to this process; its log says why", err=True)
        raise typer.Exit(1) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        typer.echo(f"mcpguard: no guard answers at {path}: {str(error) or type(error).__name__}", err=True)
        raise typer.Exit(1) from None
    if output is Output.JSON:
        print_json(answer)
    else:
        print_table(("what", "value"), _rows(answer))
    if not answer["ready"]["ready"]:
        raise typer.Exit(1)


class _Connection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("operator", timeout=TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(str(self._path))


def _ask(path: Path, what: str) -> Any:  # noqa: ANN401 - JSON of our own
    connection = _Connection(path)
    try:
        connection.request("GET", what)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def _rows(answer: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - JSON of our own
    ready, ledger = answer["ready"], answer["ledger"]
    yield "ready", "yes" if ready["ready"] else f"NO: {ready['reason']} since {_time(ready['since'])}: {ready['cause']}"
    yield "version", f"{answer['version']} (process {answer['process']}, since {_time(answer['started_at'])})"
    yield "data directory", answer["data_dir"]
    yield "database", f"{answer['database']} (schema {answer['schema']})"
    yield "settings", answer["settings"]
    yield "audit log", f"{ledger['records']:,} records, signed to {ledger['signed_to']:,}"
    yield "chain", f"{ledger['chain']} ends in {ledger['hash']}"
    yield "signing key", ledger["key"]
    yield "open calls", str(ledger["open_entries"])
    if ledger["refused"]:
        yield "refused", f"{ledger['refused']:,} records could not be taken"


def _time(microseconds: int) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d %H:%M:%S} UTC"
