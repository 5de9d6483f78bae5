"""The processes of a contender: started, looked at, and ended, whatever they leave behind."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # no stubs are among the dependencies

from tests.benchmarks.gateway.contender import FAST, Launch, Program, Way, is_upstream
from tests.process import ROOT, environment

STOPS_WITHIN = 15.0
SHOWN_LINES = 3


def free_port() -> int:
    """A port that nobody listens on. Somebody might before we do, but not on a machine that measures."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


class Processes:
    """A process that we started, its children, and what detached itself."""

    def __init__(self, launch: Launch, folder: Path) -> None:
        self._launch = launch
        self._log = folder / "gateway.log"
        with self._log.open("ab") as log:
            self.first = subprocess.Popen(
                launch.command,
                stdin=subprocess.DEVNULL if launch.path is not None else subprocess.PIPE,
                stdout=log if launch.path is not None else subprocess.PIPE,
                stderr=log,
                env=environment(launch.environ),
                cwd=ROOT,
                start_new_session=True,
            )

    @property
    def ended(self) -> bool:
        return self.first.poll() is not None

    def last_words(self) -> str:
        lines = [line.strip() for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        return " / ".join(line[:200] for line in lines[-SHOWN_LINES:])

    def gateway(self) -> list[psutil.Process]:
        """Everything but the upstreams."""
        return [process for process, upstream in self._all() if not upstream]

    def upstreams(self) -> list[psutil.Process]:
        return [process for process, upstream in self._all() if upstream]

    def stop(self) -> None:
        """First asked, then killed, and with it everything that it has started."""
        everything = [process for process, _ in self._all()]
        for process in self._roots():
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        _, alive = psutil.wait_procs(everything, STOPS_WITHIN)
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.first.wait()
        for pipe in (self.first.stdin, self.first.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _roots(self) -> list[psutil.Process]:
        roots = []
        with suppress(psutil.NoSuchProcess):
            roots.append(psutil.Process(self.first.pid))
        if self._launch.detached is not None:
            found = psutil.process_iter(["pid", "cmdline"])
            roots += [each for each in found if self._launch.detached in (each.info["cmdline"] or ())]
        return list(dict.fromkeys(roots))

    def _all(self) -> list[tuple[psutil.Process, bool]]:
        found: dict[psutil.Process, bool] = {}
        for root in self._roots():
            with suppress(psutil.NoSuchProcess):
                for process in (root, *root.children(recursive=True)):
                    with suppress(psutil.NoSuchProcess):
                        found[process] = is_upstream(process.cmdline())
        return [*found.items()]


@contextmanager
def upstream_over_http(tools: int, program: Program = FAST) -> Iterator[tuple[int, psutil.Process]]:
    """The port of an upstream that listens, and its process."""
    port = free_port()
    command = program.command(Way.HTTP, str(port), str(tools))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            yield port, psutil.Process(process.pid)
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def cpu_seconds(processes: Sequence[psutil.Process]) -> dict[int, float]:
    """What each of them has computed so far."""
    used = {}
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            used[process.pid] = times.user + times.system
    return used


def between(before: Mapping[int, float], after: Mapping[int, float]) -> float:
    """Seconds computed meanwhile. What came and went in between is not seen."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


def resident_mib(processes: list[psutil.Process]) -> float:
    total = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            total += process.memory_info().rss
    return total / 1024**2
