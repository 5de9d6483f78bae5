"""The servers behind the guard, all of them processes: what the guard starts itself, and what it reaches over HTTP.

Rules kept here:
1. Every process that the guard starts bears a mark in its environment, so that it is found wherever it has gone.
2. A server over HTTP comes back on the port that it had. The port is held by a socket that is bound and never listens,
   so nobody else can take it meanwhile, and whoever connects while the server is away is refused.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance import tools
from tests.process import ROOT
from tests.soak.measuring import children

PROGRAM = (sys.executable, "-m", "tests.soak.server")
OVER_STDIO = {"swift": "modern", "elder": "legacy"}
OVER_HTTP = {"web": "modern", "elder-web": "legacy"}
EVERYTHING = "everything"
MARK = "SOAK_SERVER"


@dataclass
class Fleet:
    """The servers' names, and how to kill them. `missing` says why the one from npm is not among them."""

    run: str
    missing: str = ""
    _remote: dict[str, "_Remote"] = field(default_factory=dict)

    @property
    def simulated(self) -> tuple[str, ...]:
        return (*OVER_STDIO, *OVER_HTTP)

    @property
    def names(self) -> tuple[str, ...]:
        return self.simulated if self.missing else (*self.simulated, EVERYTHING)

    def entries(self) -> dict[str, Any]:
        """How the configuration file declares them."""
        said = {name: self._started([*PROGRAM, "stdio", name, era], name) for name, era in OVER_STDIO.items()}
        said |= {name: {"type": "http", "url": remote.url} for name, remote in self._remote.items()}
        if not self.missing:
            program = tools.package("server-everything") / "dist" / "index.js"
            said[EVERYTHING] = self._started([str(tools.node()), str(program), "stdio"], EVERYTHING) | {"era": "legacy"}
        return said

    def kill(self, name: str, guard: int) -> bool:
        """With SIGKILL. Whether there was a process to kill; one over HTTP is started again at once."""
        if name in self._remote:
            self._remote[name].restart()
            return True
        for child in children(guard):
            if self._mark(name) in _environ(child):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                    return True
        return False

    def left(self) -> dict[int, str]:
        """Every process on the machine that the guard has started, or that those have, with its command."""
        every = (int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal())
        ours = f"{MARK}={self.run}/".encode()
        return {pid: _command(pid) for pid in every if any(each.startswith(ours) for each in _environ(pid))}

    def _started(self, command: Sequence[str], name: str) -> dict[str, Any]:
        environ = {MARK: f"{self.run}/{name}"}
        return {"command": command[0], "args": list(command[1:]), "cwd": str(ROOT), "env": environ}

    def _mark(self, name: str) -> bytes:
        return f"{MARK}={self.run}/{name}".encode()


class _Remote:
    """A server over HTTP, which is ours to start."""

    def __init__(self, name: str, era: str) -> None:
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind(("127.0.0.1", 0))
        port = self._reserved.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/mcp"
        self._command = [*PROGRAM, "http", name, era, str(port)]
        self._start()

    def restart(self) -> None:
        self._end()
        self._start()

    def close(self) -> None:
        self._end()
        self._reserved.close()

    def _start(self) -> None:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, cwd=ROOT)

    def _end(self) -> None:
        with self._process:
            self._process.kill()


@contextmanager
def fleet() -> Iterator[Fleet]:
    """All servers; those over HTTP are started."""
    made = Fleet(uuid.uuid4().hex)
    try:
        tools.package("server-everything")
    except tools.NotInstalled as error:
        made.missing = str(error)
    try:
        for name, era in OVER_HTTP.items():
            made._remote[name] = _Remote(name, era)
        yield made
    finally:
        for remote in made._remote.values():
            remote.close()


def configured(fleet: Fleet, settings: Mapping[str, Any], folder: Path) -> Path:
    """The configuration file."""
    file = folder / "config.json"
    file.write_text(json.dumps({"mcpServers": fleet.entries(), "mcpguard": settings}))
    return file


def _environ(process: int) -> list[bytes]:
    try:
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or is somebody else's
        return []


def _command(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return "(ended)"
