"""The task has one answer, calls count only if they were answered as they should be, and tokens are counted once."""

import json
import os
from collections.abc import Awaitable, Callable

import pytest

from tests.benchmarks.gateway.http_client import HttpClient
from tests.benchmarks.gateway.speech import Era
from tests.benchmarks.programs.call_lanes import CallLane, call_rows
from tests.benchmarks.programs.outage_reports import write_reports
from tests.benchmarks.programs.task_walks import sum_minutes
from tests.benchmarks.programs.transcripts import ModelTurn, TaskModel, Transcript, token_figures


@pytest.mark.parametrize("weeks", [1, 20])
def test_who_reads_everything_finds_the_answer(weeks: int) -> None:
    written = write_reports(weeks)
    assert written == write_reports(weeks)
    assert len(written.texts) == weeks
    lines = [json.loads(line) for line in written.graph.splitlines()]
    graph = {"relations": [line for line in lines if line["type"] == "relation"]}
    assert sum_minutes([*written.texts.values()], graph) == written.minutes
    assert sum_minutes([*written.texts.values()][1:], graph) != written.minutes, "each report counts"


def answered(right: int) -> Callable[[], Awaitable[int]]:
    async def work() -> int:
        return right

    return work


async def test_a_lane_with_a_wrong_answer_has_no_figures() -> None:
    lane = CallLane({"what": "calls"}, 3, answered(2))
    for attempt in (lane.turn, lane.watch):
        with pytest.raises((RuntimeError, ExceptionGroup)):
            await attempt(os.getpid())
    assert (lane.guard_seconds, lane.guard_mib) == ([], [])


async def test_a_call_is_so_long_as_a_run_is_longer_than_one_without_calls() -> None:
    lanes = [CallLane({"what": "nothing"}, 0, answered(0)), CallLane({"what": "calls"}, 4, answered(4))]
    for lane in lanes:
        await lane.turn(os.getpid())
        await lane.watch(os.getpid())
    _, row = call_rows(lanes)
    assert row.figures["each_call_ms"] == pytest.approx(row.figures["p50_ms"] / 4), "no run was started for these"


def test_tokens_are_counted_once_and_sent_in_every_turn() -> None:
    said = Transcript("a way", "défs", "task", [ModelTurn("w", "r"), ModelTurn("ww", "rr"), ModelTurn("answer")], 7)
    figures = token_figures(said, [100, 10, 1, 5, 2, 6, 3, 0])
    assert figures == {
        "turns": 3,
        "calls": 7,
        "definitions": 100,
        "wrote": 6,
        "read": 11,
        "context": 127,
        "context_bytes": 5 + 4 + 2 + 4 + 6,
        "sent_in_all_turns": 110 + 116 + 124,
    }


def test_a_model_knows_only_what_it_has_read() -> None:
    model = TaskModel(HttpClient(0, "/", Era.MODERN), Transcript("a way", '"files:read"', "task"))
    with pytest.raises(RuntimeError, match="files:read"):
        model.knows("files:read")
    model.transcript.turns.append(ModelTurn("", '{"name":"files:read"}'))
    model.knows("files:read")
