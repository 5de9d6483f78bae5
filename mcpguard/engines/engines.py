"""Runs programs, each in a worker of its own, and keeps one worker ready.

Rules kept here:
1. A run gets a worker that has run nothing, and the worker is killed when the run ends, in whatever way.
2. No more than so many programs run at once; others wait in the order in which they came.
3. The clock of a run is the guard's: engines count only their own time.
4. Everything that a worker says is bounded, and what it asks for is counted here, whatever the worker claims.
"""

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import anyio
import structlog
from anyio import to_thread
from anyio.abc import TaskGroup

from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import Profile, StdioLaunch
from mcpguard.engines.code_run import (
    MIB,
    FailureCode,
    Program,
    RunEnd,
    RunFailed,
    RunFailure,
    RunHost,
    RunLimits,
    SuspendedRun,
)
from mcpguard.engines.conversation import LONGEST_MESSAGE, RunConversation
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.process_end import StdioPatience
from mcpguard.upstreams.process.stdio import ProcessLaunch, Stdio, stdio
from mcpguard.upstreams.sandbox.confinement import LimitExceeded, ProcessConfinement
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.places import Bind

ENGINE: Final = "pydantic-monty"
NOT_INSTALLED: Final = "the engine for Python is not installed: pip install 'mcpguard[code]'"
SEEN_AT: Final = Path("/opt/mcpguard-engine")
"""Where the sandbox shows the worker's own file."""
READY_SECONDS: Final = 30.0
LOG_BYTES: Final = 100_000
LIMITS: Final = ProcessLimits(processes=64, memory=256 * MIB, scratch=MIB, file=MIB, open_files=64)
"""Of a worker with everything in it; what one program may use is less, and the engine's to keep."""
AT_ONCE: Final = StdioPatience(0.05, 0.05)
"""A worker has nothing to tidy up, so it gets no time for that."""
WORKER: Final = Path(__file__).parent / "python" / "python_worker.py"
log = structlog.get_logger("mcpguard.engines")


class CodeEngines:
    """Runs programs in Python. `folder` is for the log of what workers write to their standard error; `worker` is the
    file that is run, in a folder of its own."""

    def __init__(self, confinement: ProcessConfinement, folder: Path, at_once: int, worker: Path = WORKER) -> None:
        self._file = worker.resolve()
        self.version = _installed()
        self._confinement = replace(confinement, limits=LIMITS)
        self._log = UpstreamLog(folder, "engine-python", LOG_BYTES)
        self._places = anyio.CapacityLimiter(at_once)
        self._tasks: TaskGroup | None = None
        self._spare: EngineWorker | None = None

    @property
    def name(self) -> str:
        """The engine and its version, as records have it."""
        return f"{ENGINE} {self.version}".strip()

    @property
    def runs(self) -> bool:
        """Whether programs can be run: `run` is under way."""
        return self._tasks is not None

    async def run(self) -> None:
        """Keep a worker ready, until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                if self.version:
                    self._spare = self._begin(tasks)
                await anyio.sleep_forever()
            finally:
                self._tasks = self._spare = None

    async def execute(self, program: Program, limits: RunLimits, host: RunHost) -> RunEnd | SuspendedRun:
        """Run a program from its beginning."""
        wanted = {"source": program.source, "input": program.input}
        return await self._with_worker(RunConversation(limits, host), wanted)

    async def resume(
        self, suspended: SuspendedRun, answers: Sequence[object], program: Program, limits: RunLimits, host: RunHost
    ) -> RunEnd | SuspendedRun:
        """Continue a program with the answers to the calls for which it was suspended."""
        wanted = {"source": program.source, "state": suspended.state, "answer": [*answers]}
        return await self._with_worker(RunConversation(limits, host, suspended), wanted)

    async def _with_worker(self, conversation: RunConversation, wanted: Mapping[str, object]) -> RunEnd | SuspendedRun:
        tasks = self._tasks
        if tasks is None or not self.version:
            why = "the guard is stopping" if self.version else NOT_INSTALLED
            return RunEnd(failure=RunFailure(FailureCode.ENGINE_UNAVAILABLE, why))
        async with self._places:
            worker, self._spare = self._spare or self._begin(tasks), None
            if worker.process is not None and worker.process.has_ended:  # somebody has killed it meanwhile
                worker.done.set()
                worker = self._begin(tasks)
            try:
                await worker.ready.wait()
                if worker.process is None:
                    return RunEnd(failure=RunFailure(FailureCode.ENGINE_UNAVAILABLE, worker.why))
                return await conversation.hold(worker.process, wanted)
            except RunFailed as error:
                failure = error.failure
                if worker.why:  # it was killed for that
                    failure = RunFailure(FailureCode.LIMIT_EXCEEDED, worker.why)
                return RunEnd(failure=failure, logs=tuple(conversation.logs))
            finally:
                worker.done.set()
                if self._tasks is not None and self._spare is None:
                    self._spare = self._begin(self._tasks)

    def _begin(self, tasks: TaskGroup) -> "EngineWorker":
        worker = EngineWorker()
        tasks.start_soon(self._keep, worker, name="engine for programs")
        return worker

    async def _keep(self, worker: "EngineWorker") -> None:
        """Start a worker, and end it when its run is done."""
        try:
            async with self._started() as process:
                worker.process = process
                worker.ready.set()
                await worker.done.wait()
        except* LimitExceeded as killed:
            worker.why = str(killed.exceptions[0])
        except* GuardError as error:
            worker.why = str(error.exceptions[0])
            log.warning("engines.not_started", why=worker.why)
        finally:
            worker.ready.set()

    @asynccontextmanager
    async def _started(self) -> AsyncIterator[Stdio]:
        """Run a worker for the length of the block; it has said that it is ready."""
        launch = await to_thread.run_sync(self._launch)
        async with (
            stdio(launch, LONGEST_MESSAGE, self._log, AT_ONCE) as process,
            self._confinement.watch_memory(process.pid, Profile.STRICT),
        ):
            with anyio.move_on_after(READY_SECONDS) as patience:
                found = await RunConversation.version_of(process)
            if patience.cancelled_caught:
                raise RunFailed(FailureCode.ENGINE_UNAVAILABLE, "the engine did not start in time")
            if found != self.version:  # records name the version before it is started
                raise RunFailed(FailureCode.ENGINE_UNAVAILABLE, f"the engine is {found}, not {self.version}")
            yield process

    def _launch(self) -> ProcessLaunch:
        """Return how a worker is started. Reads the disk. Raises NotConfined."""
        arguments = ("-I", "-B", str(SEEN_AT / self._file.name))
        declared = StdioLaunch(sys.executable, arguments, profile=Profile.STRICT)
        plain = ProcessLaunch(sys.executable, arguments, {"PATH": "/usr/bin:/bin"})
        return self._confinement.confine(declared, plain, own=[Bind(SEEN_AT, self._file.parent)])


def _installed() -> str:
    """Return the version of the engine that is installed; empty if none is. The guard never loads it."""
    try:
        return version(ENGINE)
    except PackageNotFoundError:
        return ""


class EngineWorker:
    """A process that waits for its run. `process` is None, and `why` says why, where it could not be started."""

    def __init__(self) -> None:
        self.process: Stdio | None = None
        self.why = ""
        self.ready = anyio.Event()
        self.done = anyio.Event()
