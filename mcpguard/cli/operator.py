"""Asking the running guard over the operator's socket."""

import http.client
import json
import socket
from pathlib import Path
from typing import Any

import typer

from mcpguard.app.places import operator_socket

TIMEOUT = 5.0


def asked(data_dir: Path, what: str) -> Any:  # noqa: ANN401 - JSON of our own
    """What the guard answers. Says so and exits with 1 where none does."""
    path = operator_socket(data_dir)
    try:
        return _ask(path, what)
    except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
        typer.echo(f"mcpguard: the guard at {path} does not speak to this process; its log says why", err=True)
        raise typer.Exit(1) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        typer.echo(f"mcpguard: no guard answers at {path}: {str(error) or type(error).__name__}", err=True)
        raise typer.Exit(1) from None


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
