"""The soak, for some seconds: the same checks, and every act and every kill at least once.

How long it takes depends on the machine. What is asserted does not: the load goes on until everything has happened.
"""

from pathlib import Path

import pytest

from tests.soak.run import Plan, soak

pytestmark = pytest.mark.anyio
PLAN = Plan(seconds=4, seed=11, clients=10, warm_seconds=1, kill_pauses=(0.5, 0.9), pause=0.05)


async def test_nothing_is_lost_crossed_or_left_behind_while_servers_are_killed(tmp_path: Path) -> None:
    report = await soak(PLAN, tmp_path)
    assert report.book.wrong == []
    assert report.missing == ""
    assert set(report.book.kills) == set(report.servers)
    assert report.records["opened"] == report.records["closed"] > 0
