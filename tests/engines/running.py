"""Engines in the host's sandbox, and whoever answers the calls of a program in a test."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from mcpguard.engines.code_run import InnerCall, MustWait, Program, RunEnd, RunLimits
from mcpguard.engines.engines import WORKER, CodeEngines
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from tests.attacks.sandboxed import works

TIGHT = RunLimits(wall_seconds=60.0, seconds=2.0, calls=50, arguments=1_000_000)


class Answering:
    """Answers every call with its arguments; `waits`: the tool whose calls wait for a person."""

    def __init__(self, waits: str = "", schemas: Mapping[str, object] | None = None) -> None:
        self.waits = waits
        self.names: Sequence[tuple[str, str]] = ()
        self.made: list[InnerCall] = []
        self._schemas = schemas or {}

    async def check(self, names: Sequence[tuple[str, str]]) -> Mapping[int, object]:
        self.names = names
        return {place: self._schemas[tool] for place, (_, tool) in enumerate(names) if tool in self._schemas}

    async def call(self, calls: Sequence[InnerCall], _parallel: int) -> Sequence[object]:
        self.made += calls
        if any(call.tool == self.waits for call in calls):
            raise MustWait("a person is asked")
        return [{"ok": True, "result": dict(call.arguments)} for call in calls]


@asynccontextmanager
async def engines(folder: Path, at_once: int = 2, worker: Path = WORKER) -> AsyncIterator[CodeEngines]:
    (folder / "data").mkdir(exist_ok=True)
    made = CodeEngines(ProcessConfinement(works(), ProcessLimits(), folder / "data"), folder, at_once, worker)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.run)
        while not made.runs:
            await anyio.lowlevel.checkpoint()
        yield made
        tasks.cancel_scope.cancel()


async def ended(made: CodeEngines, source: str, given: object = None, host: Answering | None = None) -> RunEnd:
    found = await made.execute(Program(source, given), TIGHT, host or Answering())
    assert isinstance(found, RunEnd)
    return found
