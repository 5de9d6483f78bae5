"""What became dearer is said, and nothing else is."""

import math
from pathlib import Path

import pytest
from rich.console import Console

from tests.benchmarks.quick.changes import compare
from tests.benchmarks.quick.conclusion import is_as_cheap
from tests.benchmarks.quick.figures import Figure
from tests.benchmarks.quick.kept import keep


def figure(value: float, leeway: float = 1.0) -> Figure:
    return Figure("a call: processor time", value, leeway)


@pytest.mark.parametrize("leeway", [0.2, 1.0, 4.0])
@pytest.mark.parametrize(("share", "dearer"), [(0.9, False), (1.1, True)])
def test_a_figure_is_dearer_beyond_its_own_leeway(leeway: float, share: float, dearer: bool) -> None:
    kept, tolerance = 4.0, 0.25
    one = figure(kept * (1 + share * tolerance * leeway), leeway)
    found = compare([one], {one.name: kept}, tolerance)
    assert found.fails is dearer
    assert [change.figure for change in found.dearer] == ([one] if dearer else [])


def test_a_wider_tolerance_allows_more() -> None:
    one = figure(6.0)
    assert compare([one], {one.name: 4.0}, 0.25).fails
    assert not compare([one], {one.name: 4.0}, 0.6).fails


def test_what_became_cheaper_is_said_and_is_no_failure() -> None:
    one = figure(2.0)
    found = compare([one], {one.name: 4.0}, 0.25)
    assert not found.fails
    said = " ".join(found.words())
    assert "Nothing became dearer" in said
    assert "Cheaper" in said
    assert one.name in said


def test_what_is_dearer_is_named_with_both_figures() -> None:
    one, other = figure(6.0), Figure("a record: time", 4.0, 2.0)
    said = [*compare([one, other], {one.name: 4.0, other.name: 4.0}, 0.25).words()]
    assert said == [
        "1 of 2 figures became dearer by more than is allowed:",
        "  a call: processor time: 6, kept 4 (+50%, allowed +25%)",
    ]


def test_a_figure_that_is_no_longer_measured_is_not_passed_over() -> None:
    found = compare([], {"a call: time": 4.0}, 0.25)
    assert found.fails
    assert "a call: time" in " ".join(found.words())


def test_a_new_figure_is_shown_and_is_no_failure() -> None:
    one = figure(2.0)
    found = compare([one], {}, 0.25)
    (row,) = found.rows()
    assert (found.fails, row.figures["now"], math.isnan(row.figures["kept"])) == (False, 2.0, True)
    assert one.name in " ".join(found.words())


@pytest.mark.parametrize(("now", "cheap"), [(4.1, True), (9.0, False)])
def test_a_run_is_laid_beside_the_file(now: float, cheap: bool, tmp_path: Path) -> None:
    console, file = Console(record=True, width=150, file=(tmp_path / "said").open("w")), tmp_path / "kept.json"
    keep([figure(4.0)], {"at": "yesterday", "python": "3.11", "cores": 2}, file)
    assert is_as_cheap([figure(now)], 0.25, console, file) is cheap
    said = console.export_text()
    assert "kept at yesterday" in said
    assert ("Nothing became dearer" in said) is cheap
    console.file.close()


def test_without_a_file_a_run_does_not_pass(tmp_path: Path) -> None:
    console = Console(record=True, file=(tmp_path / "said").open("w"))
    assert not is_as_cheap([figure(4.0)], 0.25, console, tmp_path / "kept.json")
    assert "--keep" in console.export_text()
    console.file.close()
