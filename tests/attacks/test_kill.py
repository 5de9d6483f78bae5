"""kill -9 of a real guard amid 1,000 concurrent calls, again and again, at random moments.

No acknowledged append is lost, the chain verifies before and after the next start, and then every entry has exactly
one opening and one closing.
"""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.second_verifier import verify as verify_again
from tests.world import said, verified


def kill_in_the_middle(data_dir: Path, after: int) -> list[list[str]]:
    """Run the crowd and kill it after so many acknowledgements; what it had acknowledged."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        command = [sys.executable, "-m", "tests.attacks.crowd", str(data_dir), str(writing)]
        with subprocess.Popen(command, pass_fds=[writing]) as crowd:
            os.close(writing)
            lines = []
            for line in pipe:
                lines.append(line)
                if len(lines) == after:
                    crowd.send_signal(signal.SIGKILL)
            assert crowd.wait() == -signal.SIGKILL
    return [line.decode().split() for line in lines if line.endswith(b"\n")]


@pytest.mark.parametrize(("rounds", "latest"), [(1, 500), (6, 6000)], ids=["once", "again and again"])
def test_nothing_acknowledged_is_lost_and_what_was_open_is_closed_by_the_next_start(
    rounds: int, latest: int, tmp_path: Path
) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    database = data_dir / "mcpguard.db"
    acknowledged: list[list[str]] = []
    for _ in range(rounds):
        acknowledged += kill_in_the_middle(data_dir, random.randrange(1, latest))  # noqa: S311 - no secret
        assert verified(database).whole
        assert verify_again(database) == []

        records = said(database)
        opened = {record["entry"] for record in records if record["kind"] == "opened"}
        closed = {(record["entry"], record["outcome"]) for record in records if record["kind"] == "closed"}
        assert {line[1] for line in acknowledged if line[0] == "o"} <= opened
        assert {(line[1], line[2]) for line in acknowledged if line[0] == "c"} <= closed

    kill_in_the_middle(data_dir, 1)  # a start, which closes what the last round left open, and its end
    records = said(database)
    started = max(record["seq"] for record in records if record["kind"] == "started")
    times = Counter(record["kind"] for record in records)
    before = [record for record in records if record.get("entry") and record["seq"] < started]
    ends = Counter(record["entry"] for record in records if record["kind"] == "closed")
    assert times["started"] == rounds + 1
    assert {record["entry"] for record in before} <= ends.keys()
    assert set(ends.values()) == {1}
    by_crash = [record for record in records if record.get("reason") == "guard:crashed"]
    assert by_crash
    assert all((record["outcome"], record["executed"]) == ("unknown", "unknown") for record in by_crash)
