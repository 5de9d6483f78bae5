"""Programs of several callers: nobody who starts many keeps others waiting. Calls that are awaited together overlap."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.attacks.sandboxed import works
from tests.gate import Gate
from tests.gateway.guard_face import agent, answer, calls_to
from tests.gateway.holding import until
from tests.gateway.speaking import EVERYTHING, OTHER_TOKEN, TOKEN, callers, guarded
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json

CODE = "code_execution"
READS = {"readOnlyHint": True}
SETTINGS: dict[str, Any] = {"code__enabled": True, "code__at_once": 1, "code__per_caller": 4}


def begun(guard: Gate) -> int:
    return sum(record["kind"] == "ran" for record in guard.said())


@pytest.mark.anyio
async def test_callers_take_turns_for_engines(tmp_path: Path) -> None:
    works()
    script, inside, opened = Script(), anyio.Event(), anyio.Event()

    async def hang(_: object) -> Json:
        inside.set()
        await opened.wait()
        return {"content": []}

    script.tool("hang", hang, annotations=READS)
    for name in ("mine", "theirs"):
        script.tool(name, {"content": []}, annotations=READS)
    known = callers(**{TOKEN: EVERYTHING, OTHER_TOKEN: EVERYTHING})
    async with (
        guarded(tmp_path, script, callers=known, **SETTINGS) as guard,
        agent(guard, token=TOKEN) as one,
        agent(guard, token=OTHER_TOKEN) as other,
        anyio.create_task_group() as tasks,
    ):

        async def start(client: RawClient, tool: str) -> None:
            before = begun(guard)
            tasks.start_soon(lambda: answer(client, CODE, code=f'call_tool("web", "{tool}")'))
            await until(lambda: begun(guard) > before)

        await start(one, "hang")
        await inside.wait()
        for client, tool in ((one, "mine"), (one, "mine"), (other, "theirs")):
            await start(client, tool)
        opened.set()
    assert calls_to(script) == ["hang", "mine", "theirs", "mine"]


@pytest.mark.anyio
async def test_calls_that_are_awaited_together_are_under_way_together(tmp_path: Path) -> None:
    works()
    script, inside, all_inside = Script(), list[object](), anyio.Event()

    async def meet(given: object) -> Json:
        inside.append(given)
        if len(inside) == 3:
            all_inside.set()
        await all_inside.wait()
        return {"content": [{"type": "text", "text": "met"}]}

    script.tool("meet", meet, annotations=READS)
    code = "import asyncio\nawait asyncio.gather(*[call_tool('web', 'meet') for n in range(3)])"
    known = callers(**{TOKEN: EVERYTHING})
    async with guarded(tmp_path, script, callers=known, **SETTINGS) as guard, agent(guard, token=TOKEN) as client:
        said = await answer(client, CODE, code=code)
        assert said["value"] == [{"ok": True, "result": "met"}] * 3
        assert [entry["parent"] for entry in guard.entries()] == [said["run_id"]] * 3
