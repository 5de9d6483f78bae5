"""A guard that runs programs, in front of one server that the test plays."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcpguard.domain.callers import Caller
from tests.attacks.sandboxed import works
from tests.gate import Gate
from tests.gateway.guard_face import answer
from tests.gateway.speaking import EVERYTHING, TOKEN, callers, guarded
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json

CODE = "code_execution"
READS = {"readOnlyHint": True}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def scripted() -> Script:
    script = Script()
    script.tool("look", {"content": [{"type": "text", "text": "seen"}]}, annotations=READS)
    script.tool("count", {"content": [], "structuredContent": {"n": 3}}, annotations=READS, inputSchema=NUMBER)
    script.tool("change", {"content": [{"type": "text", "text": "changed"}]})
    script.tool("fail", {"content": [{"type": "text", "text": "broken"}], "isError": True}, annotations=READS)
    return script


@asynccontextmanager
async def running(
    folder: Path,
    script: Script,
    known: Mapping[str, Caller] | None = None,
    **given: Any,  # noqa: ANN401 - settings
) -> AsyncIterator[Gate]:
    works()
    given = {"code__enabled": True} | given
    async with guarded(folder, script, callers=known or callers(**{TOKEN: EVERYTHING}), **given) as guard:
        yield guard


async def run(client: RawClient, code: str, **more: Any) -> Json:  # noqa: ANN401 - JSON
    return await answer(client, CODE, code=code, **more)


def of_kind(guard: Gate, kind: str) -> list[Json]:
    return [record for record in guard.said() if record["kind"] == kind]
