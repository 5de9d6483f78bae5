"""Ways through the same task: with calls of its own, a model reads every report itself; with a program, it does not.

Whoever plays the model sees only the texts that a model sees.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from mcpguard.codec.messages import dumps
from tests.benchmarks.gateway.client import Client
from tests.benchmarks.programs.outage_reports import OWNED_BY, TASK
from tests.benchmarks.programs.transcripts import TaskModel, Transcript

OUTAGE: Final = r"^- \S+ \S+ ([a-z-]+): (\d+) min"
LIST, READ, READ_MANY, GRAPH = "list_directory", "read_text_file", "read_multiple_files", "read_graph"
_LOOK: Final = """\
folder = input["folder"]
listed = call_tool("files", "list_directory", {"path": folder})["result"]["content"]
first = listed.split("\\n")[0].replace("[FILE] ", "")
report = call_tool("files", "read_text_file", {"path": folder + "/" + first})["result"]
graph = call_tool("memory", "read_graph")["result"]
{"listed": listed, "report": report, "relations": graph["relations"][:3]}
"""
_SUM: Final = """\
import re

folder = input["folder"]
listed = call_tool("files", "list_directory", {"path": folder})["result"]["content"]
names = [line[7:] for line in listed.split("\\n") if line.startswith("[FILE] ")]
calls = [{"server": "files", "tool": "read_text_file", "args": {"path": folder + "/" + name}} for name in names]
graph = call_tool("memory", "read_graph")["result"]
owners = {each["from"]: each["to"] for each in graph["relations"] if each["relationType"] == "owned_by"}
minutes = {team: 0 for team in owners.values()}
for read in call_tools(calls, max_parallel=8):
    for service, lasted in re.findall(r"^- \\S+ \\S+ ([a-z-]+): (\\d+) min", read["result"]["content"], re.MULTILINE):
        minutes[owners[service]] += int(lasted)
minutes
"""
Found = dict[str, int]
Walk = Callable[[TaskModel, str], Awaitable[Found]]


async def read_in_turn(model: TaskModel, folder: str) -> Found:
    """One report in each turn, as a model reads that waits for every answer."""
    listed = await _listed(model, folder)
    texts = [(await model.call(f"files:{READ}", {"path": path}))[0] for path in listed]
    return sum_minutes(texts, await _graph(model))


async def read_at_once(model: TaskModel, folder: str) -> Found:
    """All reports in one turn, each with a call of its own."""
    texts = await model.call(f"files:{READ}", *({"path": path} for path in await _listed(model, folder)))
    return sum_minutes(texts, await _graph(model))


async def read_together(model: TaskModel, folder: str) -> Found:
    """All reports with one call."""
    texts = await model.call(f"files:{READ_MANY}", {"paths": await _listed(model, folder)})
    return sum_minutes(texts, await _graph(model))


async def run_after_look(model: TaskModel, folder: str) -> Found:
    """A program that looks at one report and at the graph, then one that does the work."""
    await _find_tools(model)
    model.knows(*(f"files:{tool}" for tool in (LIST, READ)), f"memory:{GRAPH}")
    await _run(model, _LOOK, folder, 3)
    return await _worked(model, folder)


async def run_at_once(model: TaskModel, folder: str) -> Found:
    """One program, by a model that knows how reports look; it reads the full definitions first."""
    await _find_tools(model)
    names = [*(f"files:{tool}" for tool in (LIST, READ)), f"memory:{GRAPH}"]
    model.knows(*names)
    await model.use(("describe_tool", {"names": names, "as": "python"}))
    return await _worked(model, folder)


WALKS: Final[Mapping[str, tuple[Walk, bool]]] = {
    "calls, a report a turn": (read_in_turn, False),
    "calls, all reports in one turn": (read_at_once, False),
    "calls, all reports in one call": (read_together, False),
    "a look, then a program": (run_after_look, True),
    "one program": (run_at_once, True),
}
"""Each with whether the guard offers `code_execution`: its definition is paid for in every conversation."""


async def walk_task(client: Client, way: str, folder: str) -> tuple[Transcript, Found]:
    """Go one of the ways, and return what was said with what was found."""
    walk, has_programs = WALKS[way]
    tools = [tool for tool in await client.definitions() if has_programs or tool["name"] != "code_execution"]
    model = TaskModel(client, Transcript(way, dumps(tools).decode(), TASK.format(folder=folder)))
    found = await walk(model, folder)
    model.answer(found)
    return model.transcript, found


async def _find_tools(model: TaskModel) -> None:
    for query in ("files list directory read text file", "memory read knowledge graph"):
        await model.use(("retrieve_tools", {"query": query}))


async def _listed(model: TaskModel, folder: str) -> list[str]:
    await _find_tools(model)
    (listed,) = await model.call(f"files:{LIST}", {"path": folder})
    return [f"{folder}/{line.removeprefix('[FILE] ')}" for line in listed.split("\n") if line.startswith("[FILE] ")]


async def _graph(model: TaskModel) -> dict[str, Any]:
    (text,) = await model.call(f"memory:{GRAPH}", {})
    graph: dict[str, Any] = json.loads(text)
    return graph


def sum_minutes(texts: Sequence[str], graph: Mapping[str, Any]) -> Found:
    """The answer to the task, as whoever has read all texts finds it."""
    owners = {each["from"]: each["to"] for each in graph["relations"] if each["relationType"] == OWNED_BY}
    minutes = dict.fromkeys(owners.values(), 0)
    for service, lasted in re.findall(OUTAGE, "\n".join(texts), re.MULTILINE):
        minutes[owners[service]] += int(lasted)
    return minutes


async def _worked(model: TaskModel, folder: str) -> Found:
    told = await _run(model, _SUM, folder)
    found: Found = told["value"]
    return found


async def _run(model: TaskModel, code: str, folder: str, calls: int | None = None) -> dict[str, Any]:
    (text,) = await model.use(("code_execution", {"code": code, "input": {"folder": folder}}))
    told: dict[str, Any] = json.loads(text)
    if not told["ok"] or (calls is not None and told["answered"] != calls):
        raise RuntimeError(f"{model.transcript.way}: the program did not end as it should: {text}")
    model.transcript.calls += told["answered"]
    return told
