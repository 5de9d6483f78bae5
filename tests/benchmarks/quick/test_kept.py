"""The file of kept figures is what a run of today can be compared with."""

import math
from pathlib import Path

import pytest

from tests.benchmarks.append import APPENDERS
from tests.benchmarks.gateway import sdk_table
from tests.benchmarks.gateway.contender import Way
from tests.benchmarks.gateway.speech import Era
from tests.benchmarks.quick.figures import OF_ONE_WAY, Figure, of_calls, of_records
from tests.benchmarks.quick.kept import NothingKept, keep, read
from tests.benchmarks.quick.ledger_turns import PLAIN
from tests.benchmarks.report import Row, Sheet

RATIOS = {"p50_to_direct": 5.0, "cpu_to_direct": 3.0}


def of_gateway(name: str) -> list[Row]:
    """Its rows in a table of the gateway."""
    return [
        Row({"gateway": name, "upstream": way.value, "eras": f"{era} > modern"}, RATIOS) for way in Way for era in Era
    ]


def figures() -> list[Figure]:
    """As a run makes them."""
    calls = {
        callers: Sheet("", "", [*of_gateway("direct"), *of_gateway("mcpguard"), *of_gateway("mcp-proxy 0.1")])
        for callers in sdk_table.CALLERS
    }
    ratios = {"time_to_insert": 20.0, "cpu_to_insert": 10.0}
    turns = Sheet("", "", [Row({"appenders": appenders}, ratios) for appenders in (PLAIN, *APPENDERS)])
    size = Sheet("", "", [Row({"of": "call"}, {"bytes": 5000.0})])
    return [*of_calls(calls), *of_records([turns, size])]


def test_the_file_has_every_figure_of_a_run_and_no_other() -> None:
    assert sorted(read().figures) == sorted(figure.name for figure in figures())


def test_only_figures_of_mcpguard_are_compared() -> None:
    assert len(figures()) == 2 * len(sdk_table.CALLERS) * (1 + len(Way) * len(Era)) + 2 * len(APPENDERS) + 1
    assert not [figure for figure in figures() if "proxy" in figure.name]


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    keep([Figure("a call: time", 1.23456, 1.0)], {"cores": 2}, file)
    assert (read(file).figures, read(file).machine) == ({"a call: time": 1.235}, {"cores": 2})


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"[]",
        b'{"figures": {"a call": 1}}',
        b'{"machine": {}, "figures": []}',
        b'{"machine": {}, "figures": {"a call": "much"}}',
        b'{"machine": {}, "figures": {"a call": null}}',
        b'{"machine": {}, "figures": {"a call": 0}}',
    ],
)
def test_a_file_that_says_nothing_is_refused(said: bytes, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_bytes(said)
    with pytest.raises(NothingKept):
        read(file)


def test_the_mean_of_all_ways_is_compared_and_each_of_them_with_more_leeway() -> None:
    costs = zip(Way, Era, (2.0, 8.0), strict=True)
    rows = [
        Row({"gateway": "mcpguard", "upstream": way, "eras": era}, {"p50_to_direct": cost, "cpu_to_direct": cost})
        for way, era, cost in costs
    ]
    time, cpu, *ways = of_calls({16: Sheet("", "", rows)})
    assert [time.value, cpu.value] == pytest.approx([4.0, 4.0])
    assert [figure.value for figure in ways] == [2.0, 2.0, 8.0, 8.0]
    assert [figure.leeway for figure in ways] == [time.leeway * OF_ONE_WAY, cpu.leeway * OF_ONE_WAY] * 2


def test_a_call_without_an_answer_has_no_figure() -> None:
    row = Row({"gateway": "mcpguard", "upstream": "http", "eras": "modern"}, dict.fromkeys(RATIOS, math.nan))
    assert [*of_calls({1: Sheet("", "", [row])})] == []
