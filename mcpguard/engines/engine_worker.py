"""A worker: a sandboxed process in which an engine waits for the one program that it will run.

Rules kept here:
1. It runs in the sandbox of servers, with the strictest profile, or it does not run.
2. It is killed when its run ends, in whatever way, with all that it started.
3. An agent is told nothing of what a worker writes at its end; that is in the log of mcpguard, for operators.
"""

import secrets
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import structlog
from anyio import to_thread

from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import Profile, StdioLaunch
from mcpguard.engines.code_run import FailureCode, RunFailed
from mcpguard.engines.worker_lines import LONGEST_MESSAGE, ODD, receive_line
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.orphans import MARK
from mcpguard.upstreams.process.process_end import StdioPatience
from mcpguard.upstreams.process.stdio import ProcessLaunch, Stdio, stdio
from mcpguard.upstreams.sandbox.confinement import LimitExceeded, ProcessConfinement
from mcpguard.upstreams.sandbox.places import Bind
from mcpguard.upstreams.sandbox.probe import NoSandbox

SEEN_AT: Final = Path("/opt/mcpguard-engine")
"""Where the sandbox shows the files of a worker, under the names by which they import each other."""
PACKAGE: Final = SEEN_AT / "mcpguard" / "engines" / "python"
BEGIN: Final = f"import runpy, sys; sys.path.append({str(SEEN_AT)!r}); runpy.run_path(sys.argv[1], run_name='__main__')"
READY_SECONDS: Final = 30.0
AT_ONCE: Final = StdioPatience(0.05, 0.05)
"""A worker has nothing to tidy up, so it gets no time for that."""
NEEDS_SANDBOX: Final = "programs run in a sandbox only, and this host has none that works: {why}; see `mcpguard doctor`"
NOT_STARTED: Final = "the engine could not be started; the log of mcpguard says why, and `mcpguard doctor` what to do"
log = structlog.get_logger("mcpguard.engines")


class WorkerNotReady(RunFailed):
    """A worker could not be started. Nothing of its program has run."""

    def __init__(self, why: str) -> None:
        super().__init__(FailureCode.ENGINE_UNAVAILABLE, why)


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What workers are started with. `file` is run, and what lies beside it is seen; `version` is that of the engine.

    `errors` is the log of what workers write to their standard error.
    """

    confinement: ProcessConfinement
    errors: UpstreamLog
    file: Path
    version: str


class EngineWorker:
    """A process that waits for its run. `why` says why it could not be started, or why it was killed.

    `on_end` is called when the process is gone.
    """

    def __init__(self, context: WorkerContext) -> None:
        self.why = ""
        self.done = anyio.Event()
        self.on_end: Callable[[], None] | None = None
        self._context = context
        self._process: Stdio | None = None
        self._ready = anyio.Event()
        self._gone = anyio.Event()

    @property
    def is_over(self) -> bool:
        """Whether it can run nothing any more."""
        return self._gone.is_set() or (self._process is not None and self._process.has_ended)

    async def live(self) -> None:
        """Start the process, and end it when its run is done."""
        try:
            async with self._started() as process:
                self._process = process
                self._ready.set()
                await self.done.wait()
        except* (LimitExceeded, RunFailed) as errors:
            self.why = str(_first(errors))
            log.warning("engines.ended", why=self.why)
        except* GuardError as errors:
            self.why = NOT_STARTED
            log.warning("engines.ended", why=str(_first(errors)))
        finally:
            self._ready.set()
            self._gone.set()
            if self.on_end is not None:
                self.on_end()

    async def wait_for_start(self) -> Stdio:
        """Return the process once it is ready. Raises WorkerNotReady."""
        await self._ready.wait()
        if self._process is None:
            raise WorkerNotReady(self.why)
        return self._process

    async def end(self) -> None:
        """Have the process killed, and wait until it is gone. Only then is known whether it was killed before."""
        self.done.set()
        with anyio.CancelScope(shield=True):
            await self._gone.wait()

    @asynccontextmanager
    async def _started(self) -> AsyncIterator[Stdio]:
        """Run the process for the length of the block; it has said that it is ready."""
        context = self._context
        confinement = context.confinement
        if isinstance(confinement.here, NoSandbox):
            raise RunFailed(FailureCode.ENGINE_UNAVAILABLE, NEEDS_SANDBOX.format(why=confinement.here.why))
        with confinement.accounts.lend("engine for programs") as account:
            launch = await to_thread.run_sync(self._launch, account)
            async with (
                stdio(launch, LONGEST_MESSAGE, context.errors, AT_ONCE) as process,
                confinement.watch_memory(process.pid, Profile.STRICT),
            ):
                with anyio.move_on_after(READY_SECONDS) as patience:
                    said, _ = await receive_line(process)
                if patience.cancelled_caught:
                    raise RunFailed(FailureCode.ENGINE_UNAVAILABLE, "the engine did not start in time")
                if said != {"ready": context.version}:  # records name the version before it is started
                    raise RunFailed(FailureCode.ENGINE_UNAVAILABLE, ODD)
                yield process

    def _launch(self, account: Callable[[], int]) -> ProcessLaunch:
        """Return how the process is started. Reads the disk. Raises NotConfined."""
        file = self._context.file
        arguments = ("-I", "-B", "-c", BEGIN, str(PACKAGE / file.name))
        declared = StdioLaunch(sys.executable, arguments, profile=Profile.STRICT)
        plain = ProcessLaunch(sys.executable, arguments, {"PATH": "/usr/bin:/bin", MARK: secrets.token_hex(8)})
        return self._context.confinement.confine(declared, plain, own=[Bind(PACKAGE, file.parent)], account=account)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
