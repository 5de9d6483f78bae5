"""What one call enters: a guard whose functions are counted while a client makes a plain call on the direct face."""

import asyncio
import inspect
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import mcpguard
from tests.gateway.speaking import guarded, speaking
from tests.simulators.client import RawClient
from tests.simulators.script import Script

PACKAGE = f"{Path(mcpguard.__file__).parent}/"
LOOP = "app/loop.py"
"""The event loop, which the client and the played server use as well."""
RULES = "policy/rules/"
"""One rule is one file, and each call is judged by all of them: they are not counted."""
PARTS = ("<listcomp>", "<dictcomp>", "<setcomp>")
"""What is a part of its function from Python 3.12 on: it is not counted in older ones either."""
GENERATED = "<string>"
"""Where the constructors of dataclasses and named tuples say that they are written."""


@dataclass
class CallPath:
    """The functions of mcpguard that were entered, each with how often, and what else was seen on the way."""

    functions: Counter[tuple[str, str]] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    nested: list[str] = field(default_factory=list)
    """The longest chain of coroutines that waited for each other."""
    tasks: list[str] = field(default_factory=list)
    """The functions that started a task."""
    watching: bool = False

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.functions}

    def see(self, frame: FrameType, event: str, _given: object) -> None:
        """Count a function that is entered; see `sys.setprofile`."""
        if not self.watching or event != "call":
            return
        if frame.f_code.co_filename == GENERATED:
            if frame.f_code.co_name in ("__init__", "__new__"):
                self._see_value(frame)
        elif (file := _ours(frame)) and not file.startswith((RULES, LOOP)):
            if frame.f_code.co_name not in PARTS:
                self.functions[file, frame.f_code.co_qualname] += 1
            nested = [*_coroutines(frame)]
            self.nested = max(self.nested, nested, key=len)

    def _see_value(self, frame: FrameType) -> None:
        made = frame.f_locals.get("self")
        kind = type(made) if made is not None else frame.f_locals.get("_cls")
        if isinstance(kind, type) and kind.__module__.startswith("mcpguard."):
            self.values[f"{kind.__module__}.{kind.__qualname__}"] += 1

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Count anew in the block, on this thread and on those that were started while `following` ran."""
        self.functions.clear()
        self.values.clear()
        self.nested, self.tasks = [], []
        loop = asyncio.get_running_loop()
        loop.set_task_factory(self._task)
        sys.setprofile(self.see)
        self.watching = True
        try:
            yield
        finally:
            self.watching = False
            sys.setprofile(None)
            loop.set_task_factory(None)

    def _task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **more: Any) -> asyncio.Task[Any]:  # noqa: ANN401 - asyncio's own
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and _is_of_a_loop(frame):
            frame = frame.f_back
        if frame is not None and _ours(frame):  # what the played server starts is not ours
            self.tasks.append(frame.f_code.co_qualname)
        return asyncio.Task(coroutine, loop=loop, **more)


@asynccontextmanager
async def following(folder: Path, over: str) -> AsyncIterator[tuple[CallPath, RawClient]]:
    """A guard in front of one server, that has answered some calls already, and its client."""
    path, script = CallPath(), Script()
    script.tool("page", {"content": [{"type": "text", "text": "some words"}]}, annotations={"readOnlyHint": True})
    threading.setprofile(path.see)
    try:
        async with guarded(folder, script, over=over) as guard, speaking(guard, "http modern") as client:
            for _ in range(3):  # what is read once, is read now
                assert (await client.call("web::page", {"about": "something"})).result
            yield path, client
    finally:
        threading.setprofile(None)


def _ours(frame: FrameType) -> str:
    """The file of mcpguard that a frame is of, or nothing."""
    name = frame.f_code.co_filename
    return name.removeprefix(PACKAGE) if name.startswith(PACKAGE) else ""


def _is_of_a_loop(frame: FrameType) -> bool:
    return {"anyio", "asyncio"} & {*Path(frame.f_code.co_filename).parts} != set()


def _coroutines(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        if _ours(frame) and frame.f_code.co_flags & inspect.CO_COROUTINE:
            yield f"{_ours(frame)} {frame.f_code.co_qualname}"
        frame = frame.f_back
