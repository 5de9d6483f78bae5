"""Figures of records are made of turns of one round."""

from pathlib import Path

import anyio
import pytest

from tests.benchmarks.quick.ledger_turns import PLAIN, Written, bytes_of_a_call, rows


def test_a_record_is_so_many_times_as_dear_as_a_plain_insert() -> None:
    plain = [Written(1000, 1.0, 0.5), Written(500, 1.0, 0.5), Written(1000, 1.0, 0.5)]
    one = [Written(100, 1.0, 1.0), Written(50, 1.0, 1.0), Written(20, 1.0, 1.0)]
    first, second = rows({PLAIN: plain, 1: one})
    assert (first.figures["time_to_insert"], first.figures["cpu_to_insert"]) == (1.0, 1.0)
    assert second.of == {"appenders": 1}
    assert second.figures["records_per_s"] == 50
    assert second.figures["time_to_insert"] == pytest.approx(10), "the median of 10, 10 and 50"
    assert second.figures["cpu_to_insert"] == pytest.approx((3 / 170) / (1.5 / 2500))


async def test_the_same_calls_are_as_long_again(tmp_path: Path) -> None:
    first, second = [await anyio.to_thread.run_sync(bytes_of_a_call, tmp_path) for _ in range(2)]
    assert first == pytest.approx(second, rel=0.01)
    assert first > 2 * 1000, "both bodies are kept"
