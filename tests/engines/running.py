"""Engines in the host's sandbox, and whoever answers the calls of a program in a test."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from mcpguard.engines.code_run import InnerCall, MustWait, Program, RunEnd, RunLimits
from mcpguard.engines.engines import WORKER, CodeEngines
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.probe import NoSandbox, UsableSandbox
from tests.attacks.sandboxed import works
from tests.patience import PATIENCE

TIGHT = RunLimits(wall_seconds=PATIENCE, seconds=2.0, calls=50, arguments=1_000_000)
PATIENT = RunLimits(wall_seconds=PATIENCE, seconds=PATIENCE)
"""Of a run whose time is not what a test is about."""


class Answering:
    """Answers every call with its arguments; `waits`: the tool whose calls wait for a person."""

    def __init__(self, waits: str = "", schemas: Mapping[str, object] | None = None) -> None:
        self.waits = waits
        self.names: Sequence[tuple[str, str]] | None = None
        self.made: list[InnerCall] = []
        self.together: list[tuple[int, int]] = []
        """How many calls were made together, and how many of them at once."""
        self._schemas = schemas or {}

    async def check(self, names: Sequence[tuple[str, str]]) -> Mapping[int, object]:
        self.names = names
        return {place: self._schemas[tool] for place, (_, tool) in enumerate(names) if tool in self._schemas}

    async def call(self, calls: Sequence[InnerCall], parallel: int) -> Sequence[object]:
        self.made += calls
        self.together.append((len(calls), parallel))
        if any(call.tool == self.waits for call in calls):
            raise MustWait("a person is asked")
        return [{"ok": True, "result": dict(call.arguments)} for call in calls]


@asynccontextmanager
async def engines(
    folder: Path, at_once: int = 2, worker: Path = WORKER, here: UsableSandbox | NoSandbox | None = None
) -> AsyncIterator[CodeEngines]:
    (folder / "data").mkdir(exist_ok=True)
    confinement = ProcessConfinement(here or works(), ProcessLimits(), folder / "data")
    made = CodeEngines(confinement, folder, at_once, worker)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.run)
        while not made.runs:
            await anyio.lowlevel.checkpoint()
        yield made
        tasks.cancel_scope.cancel()


async def ended(
    made: CodeEngines,
    source: str,
    given: object = None,
    host: Answering | None = None,
    **limits: Any,  # noqa: ANN401 - limits by name
) -> RunEnd:
    found = await made.execute(Program(source, given), replace(TIGHT, **limits), host or Answering())
    assert isinstance(found, RunEnd)
    return found


async def value_of(made: CodeEngines, source: str, given: object = None, host: Answering | None = None) -> Any:  # noqa: ANN401
    """The value of a program that works out."""
    found = await made.execute(Program(source, given), PATIENT, host or Answering())
    assert isinstance(found, RunEnd)
    assert found.failure is None, found
    return found.value
