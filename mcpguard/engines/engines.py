"""Runs programs, each in a worker of its own, and keeps one worker ready.

Rules kept here:
1. A run gets a worker that has run nothing, and the worker is killed when the run ends, in whatever way.
2. No more than so many workers run programs at once. Callers take turns for them, and a turn is free when the process
   is gone.
3. A program runs once: no failure makes it begin anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import TaskGroup

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
from mcpguard.engines.conversation import RunConversation
from mcpguard.engines.engine_worker import EngineWorker, WorkerContext, WorkerNotReady
from mcpguard.engines.fair_turns import FairTurns
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.stdio import Stdio
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.limits import ProcessLimits

ENGINE: Final = "pydantic-monty"
VERSION: Final = "1.4.0"
"""Of the engine and its parts; as in `pyproject.toml`. What an engine promises changes with its versions."""
PARTS: Final = (ENGINE, "pydantic-monty-client", "pydantic-monty-runtime")
NOT_INSTALLED: Final = f"{ENGINE} {VERSION} is not installed: pip install 'mcpguard-firewall[code]'"
TURN_SECONDS: Final = 60.0
LOG_BYTES: Final = 100_000
LIMITS: Final = ProcessLimits(processes=64, memory=256 * MIB, scratch=MIB, file=MIB, open_files=64)
"""Of a worker with everything in it; what one program may use is less, and the engine's to keep."""
WORKER: Final = Path(__file__).parent / "python" / "python_worker.py"


class CodeEngines:
    """Runs programs in Python. `folder` is for the log of what workers write to their standard error; `worker` is the
    file that is run, in a folder of its own."""

    def __init__(self, confinement: ProcessConfinement, folder: Path, at_once: int, worker: Path = WORKER) -> None:
        self.version = _installed()
        errors = UpstreamLog(folder, "engine-python", LOG_BYTES)
        self._context = WorkerContext(replace(confinement, limits=LIMITS), errors, worker.resolve(), self.version)
        self._turns = FairTurns(at_once)
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

    async def execute(
        self, program: Program, limits: RunLimits, host: RunHost, whose: str = ""
    ) -> RunEnd | SuspendedRun:
        """Run a program from its beginning. Those of one caller (`whose`) wait for each other before others do."""
        wanted = {"source": program.source, "input": program.input}
        return await self._with_worker(RunConversation(limits, host), wanted, whose)

    async def resume(
        self,
        suspended: SuspendedRun,
        answers: Sequence[object],
        program: Program,
        limits: RunLimits,
        host: RunHost,
        whose: str = "",
    ) -> RunEnd | SuspendedRun:
        """Continue a program with the answers to the calls for which it was suspended."""
        wanted = {"source": program.source, "state": suspended.state, "answer": [*answers]}
        return await self._with_worker(RunConversation(limits, host, suspended), wanted, whose)

    async def _with_worker(
        self, conversation: RunConversation, wanted: Mapping[str, object], whose: str
    ) -> RunEnd | SuspendedRun:
        try:
            try:
                worker, process = await self._ready_worker(whose)
            except WorkerNotReady:
                # It may have been the spare, for a reason that is past. Nothing of the program has run.
                worker, process = await self._ready_worker(whose)
        except RunFailed as error:
            return RunEnd(failure=error.failure)
        try:
            return await conversation.hold(process, wanted)
        except RunFailed as error:
            await worker.end()
            # It may have been killed, for what it did as a process.
            failure = RunFailure(FailureCode.LIMIT_EXCEEDED, worker.why) if worker.why else error.failure
            return RunEnd(failure=failure, logs=tuple(conversation.logs))
        finally:
            worker.done.set()

    async def _ready_worker(self, whose: str) -> tuple[EngineWorker, Stdio]:
        """Return a worker and its process, to which a turn belongs until it is gone. Raises RunFailed."""
        if not self.version:
            raise RunFailed(FailureCode.ENGINE_UNAVAILABLE, NOT_INSTALLED)
        with anyio.move_on_after(TURN_SECONDS) as patience:
            await self._turns.take(whose)
        if patience.cancelled_caught:
            message = f"no engine was free within {TURN_SECONDS:g} seconds; retry later"
            raise RunFailed(FailureCode.ENGINE_UNAVAILABLE, message)
        if (tasks := self._tasks) is None:
            self._turns.give_back()
            raise RunFailed(FailureCode.ENGINE_UNAVAILABLE, "the guard is stopping")
        spare, self._spare = self._spare, None
        worker = self._begin(tasks) if spare is None or spare.is_over else spare
        worker.on_end = self._turns.give_back
        process: Stdio | None = None
        try:
            process = await worker.wait_for_start()
        finally:
            if process is None:
                worker.done.set()
        if self._tasks is not None and self._spare is None:
            self._spare = self._begin(self._tasks)
        return worker, process

    def _begin(self, tasks: TaskGroup) -> EngineWorker:
        worker = EngineWorker(self._context)
        tasks.start_soon(worker.live, name="engine for programs")
        return worker


def _installed() -> str:
    """Return the version of the engine, if the one that was tested is installed; else nothing. The guard never loads
    it."""
    try:
        return VERSION if {*map(version, PARTS)} == {VERSION} else ""
    except PackageNotFoundError:
        return ""
