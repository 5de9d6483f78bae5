"""A process that has imported the program, and forks one for each that is asked for.

It is told on a socket what to run, with the three streams. It answers which process that is, and later how it ended.
When the socket ends, so does it, and all that it has started.
"""

import atexit
import gc
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

LARGEST: Final = 1 << 20
STREAMS: Final = 3
LATE: Final = (
    "anyio._backends._asyncio",
    "mcp_types.methods",
    "mcpguard.store.engine.migrations",
    "mcpguard.web.api.api_app",
    "mcpguard.web.operator_refusals",
    "mcpguard.web.pages.pages_app",
    "pydantic.v1",
)
"""What a guard imports only once it runs."""


class Forking:
    """One that forks until nobody is there any more."""

    def __init__(self, asked: socket.socket) -> None:
        self._asked = asked
        self._running: set[int] = set()
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)

    def serve(self) -> list[str] | None:
        """The arguments, in a process that was forked to run them. None in this one, in the end."""
        either: list[Any] = [self._asked, self._woken]
        while True:
            ready, _, _ = select.select(either, [], [])
            if self._woken in ready:
                os.read(self._woken, select.PIPE_BUF)
                self._reap()
            if self._asked in ready:
                said, streams, _, _ = socket.recv_fds(self._asked, LARGEST, STREAMS)
                if not said:
                    for pid in self._running:
                        os.kill(pid, signal.SIGKILL)
                    return None
                wanted = json.loads(said)
                if not self._forked(wanted["number"], streams):
                    self._become(wanted, streams)
                    return list(wanted["arguments"])

    def _forked(self, number: int, streams: list[int]) -> bool:
        """Whether this is still the process that forks."""
        pid = os.fork()
        if pid:
            for stream in streams:
                os.close(stream)
            self._running.add(pid)
            self._say(started=pid, number=number)
        return pid != 0

    def _become(self, wanted: dict[str, Any], streams: list[int]) -> None:
        """Another process, which knows nothing of where it comes from."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._asked.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        for descriptor in (self._woken, self._wake, *streams):
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(wanted["environ"])
        os.chdir(wanted["cwd"])
        if wanted["umask"] >= 0:
            os.umask(wanted["umask"])

    def _reap(self) -> None:
        for pid in [*self._running]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._running.discard(pid)
                self._say(ended=pid, code=os.waitstatus_to_exitcode(status))

    def _say(self, **what: int) -> None:
        self._asked.send(json.dumps(what).encode())


def _ending_at_once(run: Callable[[], None]) -> None:
    """Run it, and do at its end all that an interpreter does, but for taking apart what was imported.

    Memory is shared with the process that forks until it is written to, so that this would take ten times as long as
    most commands do. What ends in any other way than by an exit code is left to the interpreter.
    """
    code: str | int | None = None
    try:
        run()
    except SystemExit as ended:
        code = ended.code
    if not isinstance(code, int | None):
        sys.exit(code)
    gc.collect()  # what is not closed or not awaited is complained about
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # nobody reads: the interpreter says how that ends
    os._exit((code or 0) & 0xFF)


def main() -> None:
    asked = socket.socket(fileno=int(sys.argv[1]))
    gc.disable()
    from mcpguard.__main__ import main as run  # noqa: PLC0415 - so that it has not to look for garbage
    from mcpguard.cli.main import build  # noqa: PLC0415

    for late in LATE:
        import_module(late)
    build([])
    import_module("mcpguard.catalog.search.thesaurus").prepare_thesaurus()
    gc.freeze()
    gc.enable()
    arguments = Forking(asked).serve()
    if arguments is not None:
        sys.argv = [str(sys.modules["mcpguard.__main__"].__file__), *arguments]
        _ending_at_once(run)


if __name__ == "__main__":
    main()
