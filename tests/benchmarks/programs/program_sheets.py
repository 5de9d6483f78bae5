"""What `code` measures: runs and their calls beside calls of an agent, and one task with and without programs."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from math import nan
from pathlib import Path
from typing import Final

import anyio

from mcpguard.upstreams.process.tree import resident
from tests.benchmarks.gateway import ours
from tests.benchmarks.gateway.client import Client
from tests.benchmarks.programs.call_lanes import AT_ONCE, SHOWN, CallLane, ManyCalls, call_lanes, call_rows
from tests.benchmarks.programs.outage_reports import OutageReports, write_reports
from tests.benchmarks.programs.programs_guard import FILES, SDK_SERVER, ProgramsGuard, programs_guard
from tests.benchmarks.programs.task_walks import WALKS, walk_task
from tests.benchmarks.programs.transcripts import Transcript, token_rows
from tests.benchmarks.programs.worker_processes import MIB, waiting_worker
from tests.benchmarks.report import Row, Sheet

CALLS: Final = 100
WEEKS: Final = 20
LOOKS: Final = 3
"""So often every lane is taken to look at memory."""
Say = Callable[[str], None]


def sheets(
    folder: Path, rounds: int, say: Say, calls: int = CALLS, weeks: int = WEEKS, looks: int = LOOKS
) -> Iterator[Sheet]:
    """Both tables. So many rounds count, after one for warming up; then there are so many looks at memory."""
    work = partial(_measured, folder, rounds, say, calls, weeks, looks)
    rows, transcripts = anyio.run(work, backend_options={"use_uvloop": True})
    yield Sheet("code", _about(rounds), rows)
    yield Sheet(
        "code, tokens",
        f"cl100k_base, of one task: {weeks} reports and a graph; context: all messages once, with tools/list; sent in "
        "all turns: what the model is sent, if nothing is cached; to first: context divided by that of the first way",
        token_rows(transcripts),
    )


def _about(rounds: int) -> str:
    return (
        f"median of {rounds} rounds; servers on standard streams; each call: without the start of a run; guard cpu: "
        "with the start of the next worker; worker cpu: of its whole life; MiB: the most that was seen, of a worker "
        "with all of its processes"
    )


async def _measured(
    folder: Path, rounds: int, say: Say, calls: int, weeks: int, looks: int
) -> tuple[Sequence[Row], Sequence[Transcript]]:
    written = write_reports(weeks)
    say("the servers are started and approved")
    async with programs_guard(folder, written) as guard, _clients(guard) as clients:
        before = ours.records(guard.place)
        _, tree = await waiting_worker(guard.process)
        at_rest = (resident([guard.process]) / MIB, resident(tree) / MIB)
        lanes = [*call_lanes(clients, calls, _calls(guard, written, calls))]
        await _take_turns(guard, lanes, rounds, looks, say)
        made = (rounds + 1 + looks) * sum(lane.calls for lane in lanes)
        transcripts = [await _walked(clients[0], way, guard, written, say) for way in WALKS]
        ours.check_ledger(guard.place, before, made + sum(each.calls for each in transcripts))
    rows = call_rows(lanes)
    names = ("guard_mib", "worker_mib")
    resting = dict.fromkeys(rows[0].figures, nan) | dict(zip(names, at_rest, strict=True))
    return [Row({**rows[0].of, "what": "nothing runs"}, resting), *rows], transcripts


async def _take_turns(guard: ProgramsGuard, lanes: Sequence[CallLane], rounds: int, looks: int, say: Say) -> None:
    for number in range(rounds + 1):
        say(f"round {number} of {rounds}" if number else "warming up")
        for lane in lanes if number % 2 else reversed(lanes):
            await lane.turn(guard.process)
        if not number:
            for lane in lanes:
                lane.forget()
    say("a look at memory")
    for _ in range(looks):
        for lane in lanes:
            await lane.watch(guard.process)


async def _walked(client: Client, way: str, guard: ProgramsGuard, written: OutageReports, say: Say) -> Transcript:
    say(f"the task: {way}")
    transcript, found = await walk_task(client, way, str(guard.reports))
    if found != written.minutes:
        raise RuntimeError(f"{way}: found {found}, but it is {written.minutes}")
    return transcript


def _calls(guard: ProgramsGuard, written: OutageReports, count: int) -> list[ManyCalls]:
    """Calls that only read: short texts of a server of the SDK, and files of some two thousand bytes."""
    said = [f"{number} of what the user wants to know" for number in range(count)]
    names = [[*written.texts][number % len(written.texts)] for number in range(count)]
    return [
        ManyCalls(SDK_SERVER, "echo", "result", [{"text": each} for each in said], [each[:SHOWN] for each in said]),
        ManyCalls(
            FILES,
            "read_text_file",
            "content",
            [{"path": str(guard.reports / name)} for name in names],
            [written.texts[name][:SHOWN] for name in names],
        ),
    ]


@asynccontextmanager
async def _clients(guard: ProgramsGuard) -> AsyncIterator[Sequence[Client]]:
    """As many agents as call at once."""
    async with AsyncExitStack() as stack:
        found = [await stack.enter_async_context(guard.client()) for _ in range(AT_ONCE)]
        for client in found:
            await client.greet()
        yield found
