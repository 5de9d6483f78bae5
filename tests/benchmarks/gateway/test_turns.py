"""Ratios to a call without a gateway are made of turns of one round, and only of calls that are alike."""

import math

import pytest

from tests.benchmarks.gateway.turns import Taken, Turn, rows


def taken(name: str, p50s: list[float], upstream: str = "stdio", era: str = "modern") -> Taken:
    """Turns of one second, with ten calls each; a gateway computes 4 ms for a call, what is around it 2 ms."""
    turns = [Turn([p50] * 10, 1.0, 0.0 if name == "direct" else 0.04, 0.02) for p50 in p50s]
    return Taken({"gateway": name}, (upstream, era), name != "direct", turns)


def test_a_round_is_compared_with_itself() -> None:
    direct, gateway = rows([taken("direct", [0.001, 0.01, 0.002]), taken("guard", [0.004, 0.04, 0.02])])
    assert direct.figures["p50_to_direct"] == 1
    assert math.isnan(direct.figures["cpu_to_direct"])
    assert math.isnan(direct.figures["cpu_ms"])
    assert gateway.figures["p50_to_direct"] == pytest.approx(4), "the median of 4, 4 and 10"
    assert gateway.figures["cpu_ms"] == pytest.approx(4)
    assert gateway.figures["cpu_to_direct"] == pytest.approx(2)
    assert gateway.figures["calls_per_s"] == 10


def test_calls_are_compared_with_the_same_ones() -> None:
    everyone = [
        taken("direct", [0.001]),
        taken("direct", [0.002], upstream="http"),
        taken("direct", [0.004], era="handshake"),
        *(taken("guard", [0.008], upstream, era) for upstream, era in (("stdio", "modern"), ("http", "modern"))),
        taken("guard", [0.008], era="handshake"),
    ]
    ratios = [row.figures["p50_to_direct"] for row in rows(everyone)]
    assert ratios == pytest.approx([1, 1, 1, 8, 4, 2])


def test_turns_without_an_answer_have_no_figures_and_every_failure() -> None:
    none = Taken({"gateway": "guard"}, ("stdio", "modern"), True, [Turn([], 1.0, 0.1, 0.1, failed=3)] * 2)
    _, row = rows([taken("direct", [0.001] * 2), none])
    assert row.figures["failed"] == 6
    assert math.isnan(row.figures["p50_to_direct"])
    assert math.isnan(row.figures["cpu_to_direct"])
