"""Everything that `code` measures works, with a few calls of each kind."""

import math
from pathlib import Path

from tests.attacks.sandboxed import works
from tests.benchmarks.programs import program_sheets
from tests.benchmarks.programs.call_lanes import WorkerState
from tests.benchmarks.programs.programs_guard import FILES, SDK_SERVER
from tests.benchmarks.programs.task_walks import WALKS


def test_both_tables_are_complete(tmp_path: Path) -> None:
    works()
    said: list[str] = []
    runs, tokens = program_sheets.sheets(tmp_path, 1, said.append, calls=3, weeks=2, looks=1)
    resting, *lanes = runs.rows
    assert resting.of["what"] == "nothing runs"
    assert resting.figures["guard_mib"] > resting.figures["worker_mib"] > 1
    assert [row.of["worker"] for row in lanes[:2]] == [*WorkerState]
    assert [row.of["server"] for row in lanes[2:]] == [SDK_SERVER] * 6 + [FILES] * 6
    for row in lanes:
        without = {"each_call_ms"} if not row.of["server"] else set()
        without |= set() if row.of["worker"] else {"worker_cpu_ms", "worker_mib"}
        assert {name for name, figure in row.figures.items() if math.isnan(figure)} == without, row
        assert all(figure > 0 for name, figure in row.figures.items() if name not in {*without, "each_call_ms"}), row
    assert [row.of["way"] for row in tokens.rows] == [*WALKS]
    assert {row.of["way"]: row.figures["calls"] for row in tokens.rows} == {
        "calls, a report a turn": 4,
        "calls, all reports in one turn": 4,
        "calls, all reports in one call": 3,
        "a look, then a program": 3 + 4,
        "one program": 4,
    }
    assert said[-len(WALKS) :] == [f"the task: {way}" for way in WALKS]
    assert [*tmp_path.iterdir()] == [], "nothing is left"
