"""Starts a guard where none runs: `mcpguard serve`, detached, which exits when nobody has needed it for a while.

Rules kept here:
1. The relay is never the guard. What it starts has a session of its own, nothing of the agent's streams, and no token.
2. The guard's own lock decides which process is the guard. If ours was kept out by another, that one is waited for; if
   that one exits without having listened (it may have been about to leave), ours is started again, ever more rarely.
3. A failed start is reported with its last lines of output.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from mcpguard.relay.credential import TOKEN, TOKEN_FILE
from mcpguard.relay.problem import CannotRelay
from mcpguard.relay.trust import connect_to_own_socket, make_private
from mcpguard.text.visible import visible

IDLE_EXIT: Final = 300
"""Seconds after which a guard that a relay has started leaves when no agent is connected."""

PATIENCE: Final = 30.0
LOG: Final = "serve.log"
SHOWN_LINES: Final = 5
SHOWN_BYTES: Final = 4096
FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.25
FIRST_RETRY: Final = 1.0


def serve_command(config: Path | None, data_dir: Path) -> list[str]:
    """Return the command that starts a guard. `-P` keeps Python from importing from the current folder, perhaps an
    agent's project.
    """
    named = [] if config is None else ["--config", str(config)]
    kept = ["--data-dir", str(data_dir), "--idle-exit", str(IDLE_EXIT)]
    return [sys.executable, "-P", "-m", "mcpguard", "serve", *named, *kept]


def connect(
    path: Path, data_dir: Path, command: Sequence[str], environ: Mapping[str, str], patience: float = PATIENCE
) -> socket.socket:
    """Return a connection to the running guard, or to one that is started now."""
    if guard := connect_to_own_socket(path):
        return guard
    make_private(data_dir)
    ends = time.monotonic() + patience
    pause, retry = FIRST_PAUSE, FIRST_RETRY
    start = _Start(data_dir, command, environ)
    while time.monotonic() < ends:
        if guard := connect_to_own_socket(path):
            return guard
        if start.ended_for(retry):
            start, retry = _Start(data_dir, command, environ), retry * 2
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)
    raise CannotRelay(f"no guard is listening at {path} in {patience:g} seconds{start.last_words()}")


class _Start:
    """One attempt to start a guard."""

    def __init__(self, data_dir: Path, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._log = data_dir / LOG
        self._ended_at: float | None = None
        with os.fdopen(self._opened(), "ab") as log:
            self._begin = os.fstat(log.fileno()).st_size
            try:
                self._process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={name: text for name, text in environ.items() if name not in (TOKEN, TOKEN_FILE)},
                    start_new_session=True,
                )
            except OSError as error:
                raise CannotRelay(f"no guard is running, and none can be started: {error}") from None

    def ended_for(self, seconds: float) -> bool:
        """Tell whether it exited at least so long ago, kept out by another guard. Raises CannotRelay if it exited
        otherwise.
        """
        if self._process.poll() is None:
            return False
        now = time.monotonic()
        if self._ended_at is None:
            self._ended_at = now
            if not self._kept_out():
                raise CannotRelay(f"no guard is running, and the one that was started has exited{self.last_words()}")
        return now - self._ended_at >= seconds

    def last_words(self) -> str:
        """Return the last lines of its log, for the end of a sentence."""
        lines = [visible(line) for line in self._said().splitlines() if line.strip()][-SHOWN_LINES:]
        return "".join(["; its log, ", str(self._log), ", says:", *(f"\n  {line}" for line in lines)]) if lines else ""

    def _kept_out(self) -> bool:
        """Recognise the words of `mcpguard.store.files.datadir`, as a test makes sure."""
        return any("the data directory " in line and " is in use by " in line for line in self._said().splitlines())

    def _said(self) -> str:
        try:
            with self._log.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._begin, size - SHOWN_BYTES))
                return log.read(SHOWN_BYTES).decode(errors="replace")
        except OSError:
            return ""  # somebody has cleared it away

    def _opened(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(self._log, flags, 0o600)
            os.fchmod(handle, 0o600)
        except OSError as error:
            raise CannotRelay(f"{self._log} cannot be written: {error.strerror}") from None
        return handle
