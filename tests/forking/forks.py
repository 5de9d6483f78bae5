"""Processes that were forked to run the program, as `subprocess.Popen` would have them."""

import functools
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.forking.__main__ import LARGEST
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]


class Fork:
    """A process of ours: as much of `Popen` as tests need."""

    def __init__(self, arguments: Sequence[str], environ: Mapping[str, str], cwd: Path, umask: int, stdin: int) -> None:
        self.returncode: int | None = None
        self.pid = 0
        self._ended = threading.Event()
        given = os.open(os.devnull, os.O_RDONLY) if stdin == subprocess.DEVNULL else os.dup(stdin)
        (out, their_out), (err, their_err) = os.pipe(), os.pipe()
        self.stdout, self.stderr = os.fdopen(out, encoding="utf-8"), os.fdopen(err, encoding="utf-8")
        wanted = {"arguments": [*arguments], "environ": dict(environ), "cwd": str(cwd), "umask": umask}
        try:
            _forks().start(wanted, (given, their_out, their_err), self)
        finally:
            for descriptor in (given, their_out, their_err):
                os.close(descriptor)

    def end(self, code: int) -> None:
        """It has ended so."""
        self.returncode = code
        self._ended.set()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout) or self.returncode is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.stderr.close()
        self.wait()


class _Forks:
    """The process that forks, and what it says."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "tests.forking", str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=ROOT, stdin=subprocess.DEVNULL)
        theirs.close()
        self._numbers = itertools.count()
        self._asked: dict[int, tuple[Fork, threading.Event]] = {}
        self._running: dict[int, Fork] = {}
        threading.Thread(target=self._listen, name="forks", daemon=True).start()

    def start(self, wanted: Mapping[str, Any], streams: Sequence[int], fork: Fork) -> None:
        number, started = next(self._numbers), threading.Event()
        self._asked[number] = fork, started
        socket.send_fds(self._ours, [json.dumps({**wanted, "number": number}).encode()], streams)
        assert started.wait(PATIENCE), "the process that forks does not answer"

    def _listen(self) -> None:
        while said := self._ours.recv(LARGEST):
            what = json.loads(said)
            if "started" in what:
                fork, started = self._asked.pop(what["number"])
                fork.pid = what["started"]
                self._running[fork.pid] = fork
                started.set()
            else:
                self._running.pop(what["ended"]).end(what["code"])


@functools.cache
def _forks() -> _Forks:
    return _Forks()
