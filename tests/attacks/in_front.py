"""A guard in front of a server that means harm, and what is looked at afterwards."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from tests.gate import Gate, gate, process
from tests.patience import PATIENCE
from tests.review import DECISION, approved_as_listed
from tests.simulators.processes import controlled
from tests.simulators.script import Script
from tests.simulators.words import Json


def refused(entry: Json) -> tuple[str, str, str]:
    return entry["outcome"], entry["executed"], entry.get("reason", "")


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await checkpoint()


def state(guard: Gate, name: str) -> str:
    return next(one.state for one in guard.now.guard.status().servers if one.name == name)


async def trusted_too_early(guard: Gate, name: str, turn: Callable[[], object]) -> None:
    """A server that is honest while a person looks at it, and turns before it is approved."""
    looked = await guard.now.guard.inspecting.inspect(name, DECISION, consent=True, give=frozenset())
    assert not looked.error, looked
    turn()
    await approved_as_listed(guard.now, name)


@asynccontextmanager
async def in_front_of(script: Script, folder: Path, **given: Any) -> AsyncIterator[Gate]:  # noqa: ANN401 - settings
    """A guard in front of one server that is a process, `bad`."""
    async with (
        controlled(script, folder) as server,
        gate(folder, process("bad", [server.command, *server.arguments]), **given) as guard,
    ):
        await guard.ready("bad")
        yield guard
