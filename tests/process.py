"""The real program in processes of its own: a guard that serves, and commands that end; and whether a process has."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from tests.forking.forks import Fork
from tests.patience import PATIENCE
from tests.witnesses import watched

ROOT = Path(__file__).parents[1]
MCPGUARD = (sys.executable, "-m", "mcpguard")
NOWHERE = "/nonexistent"
STOPS_WITHIN = 10.0
Result = subprocess.CompletedProcess[str]
T = TypeVar("T")


def until(condition: Callable[[], T | None], what: str) -> T:
    """What `condition` finds, as soon as it finds something. The only place where a test waits by the clock."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"never happened: {what}")
        time.sleep(0.02)
    return found


class Served:
    """A guard in a process of its own, and everything it has said."""

    def __init__(self, process: subprocess.Popen[str] | Fork) -> None:
        self.process = process
        self.lines: list[str] = []
        self._listener = threading.Thread(target=self._listen, name="listener", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def announced(self) -> list[str]:
        """The lines for a person, from "mcpguard … is running" to the last one; none before all are there."""
        ends = [at for at, line in enumerate(self.lines) if line.startswith(("mcpguard ", "Stop it with "))]
        return self.lines[ends[0] : ends[1] + 1] if len(ends) == 2 else []

    @property
    def places(self) -> dict[str, str]:
        """Where everything is, as it was announced."""
        found = (re.fullmatch(r"  (\w+(?: \w+)?) {2,}(\S.*)", line) for line in self.announced)
        return {each[1]: each[2] for each in found if each}

    @property
    def url(self) -> str:
        return self.places["console"].removesuffix("/")

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def operator(self) -> Path:
        return Path(self.places["operator socket"])

    @property
    def data_dir(self) -> Path:
        return Path(self.places["data directory"])

    @property
    def log(self) -> list[dict[str, Any]]:
        """Every other line, each of which must be JSON."""
        announced = self.announced
        return [json.loads(line) for line in tuple(self.lines) if line not in announced]

    def logged(self, event: str, **fields: object) -> list[dict[str, Any]]:
        """The log's lines about `event` that have these fields."""
        wanted = {"event": event, **fields}
        return [line for line in self.log if wanted.items() <= line.items()]

    def until_logged(self, event: str, **fields: object) -> dict[str, Any]:
        return until(lambda: self.logged(event, **fields), f"{event} {fields}")[0]

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return httpx2.get(self.url + path, headers=headers, trust_env=False, timeout=PATIENCE)

    def connect(self) -> socket.socket:
        """A connection to the network listener, to say anything on."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """Its exit code, which must be there within the time that stopping may take."""
        code = self.process.wait(STOPS_WITHIN)
        self._listener.join(PATIENCE)
        return code

    def kill(self) -> None:
        """End it as a power failure would."""
        self.process.kill()
        self.ended()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))


@contextmanager
def serving(
    data_dir: Path,
    *arguments: str,
    listen: str = "127.0.0.1:0",
    environ: Mapping[str, str] | None = None,
    command: Sequence[str] = MCPGUARD,
    cwd: Path = ROOT,
    umask: int = -1,
    stdin: int = subprocess.DEVNULL,
) -> Iterator[Served]:
    """`mcpguard serve`, once it says that it runs. However the block ends, so does the process."""
    words = ["serve", "--listen", listen, "--data-dir", str(data_dir), *arguments]
    with _started(command, words, environ or {}, cwd, umask, stdin) as process:
        served = Served(process)
        try:
            with watched(data_dir / "mcpguard.db", lambda: served.lines):
                until(lambda: served.announced or process.poll() is not None, "it says that it runs")
                assert served.announced, served.lines
                yield served
        finally:
            served.kill()


def _started(
    command: Sequence[str], words: Sequence[str], environ: Mapping[str, str], cwd: Path, umask: int, stdin: int
) -> subprocess.Popen[str] | Fork:
    """A command of ours is forked; any other, and one for which more is set than we read, is started as anything is."""
    whole = environment(environ)
    if command is MCPGUARD and stdin != subprocess.PIPE and all(name.startswith("MCPGUARD_") for name in environ):
        return Fork(words, whole, cwd, umask, stdin)
    return subprocess.Popen(
        [*command, *words],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        umask=umask,
        env=whole,
    )


def run(
    *arguments: str | Path,
    environ: Mapping[str, str] | None = None,
    command: Sequence[str] = MCPGUARD,
    cwd: Path = ROOT,
) -> Result:
    """A command of ours that ends by itself, or a start that is refused."""
    words = [*map(str, arguments)]
    with _started(command, words, environ or {}, cwd, -1, subprocess.DEVNULL) as process, ThreadPoolExecutor(2) as pool:
        assert process.stdout is not None
        assert process.stderr is not None
        said = [pool.submit(stream.read) for stream in (process.stdout, process.stderr)]
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        out, err = (each.result() for each in said)
        return Result([*command, *words], code, out, err)


def approve(data_dir: Path, server: str, *, give: Sequence[str] = (), may_ask: Sequence[str] = ()) -> None:
    """A person inspects a server that waits, and approves all of it, with nothing but the commands."""
    given = [word for name in give for word in ("--give", name)]
    permitted = [word for kind in may_ask for word in ("--may-ask", kind)]
    for words in (
        ("inspect", server, "--consent", *given),
        ("approve", server, "--reason", "looked at it", "--findings-read", "all", *permitted),
    ):
        done = run("server", *words, "--data-dir", data_dir)
        assert done.returncode == 0, done.stderr


def recorded(data_dir: Path) -> list[dict[str, Any]]:
    """The whole ledger, as `mcpguard audit list` prints it."""
    listed = run("audit", "list", "-n", "10000", "-o", "json", "--data-dir", data_dir)
    assert (listed.returncode, listed.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(listed.stdout)
    return found


def whole(data_dir: Path) -> bool:
    """What `mcpguard audit verify` says, by word and by exit code."""
    verified = run("audit", "verify", "--data-dir", data_dir)
    assert verified.stderr == ""
    assert (verified.returncode, verified.stdout.splitlines()[-1]) in {(0, "Integrity: OK"), (1, "Integrity: FAILED")}
    return verified.returncode == 0


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Ours, without the settings and the configuration file of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("MCPGUARD_")}
    return {**kept, "HOME": NOWHERE, "XDG_CONFIG_HOME": NOWHERE, "XDG_DATA_HOME": NOWHERE, **more}


def gone(pid: int) -> bool:
    """A process that has ended, whether or not somebody has taken notice of it."""
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True
