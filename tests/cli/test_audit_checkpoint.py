"""`mcpguard audit checkpoint` beside a guard that runs: what it prints vouches for everything recorded so far."""

import base64
import json
from pathlib import Path
from typing import Any

from tests.process import recorded, run, serving


def taken(data_dir: Path, *more: str | Path) -> tuple[dict[str, Any], str, str]:
    """What a checkpoint says, as it was printed, and what was said beside it."""
    told = run("audit", "checkpoint", *more, "--data-dir", data_dir)
    assert told.returncode == 0, told.stderr
    statement: dict[str, Any] = json.loads(base64.b64decode(json.loads(told.stdout)["content"]))
    return statement, told.stdout, told.stderr


def let_in(data_dir: Path, name: str) -> None:
    assert run("caller", "add", name, "--data-dir", data_dir).returncode == 0


def test_it_is_signed_now_and_vouches_for_all_that_is_recorded(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir):
        first, _, _ = taken(data_dir)
        let_in(data_dir, "desk")
        end = recorded(data_dir)[-1]["seq"]
        assert end > first["seq"], "something was recorded meanwhile"
        statement, printed, said = taken(data_dir)
        assert (statement["seq"], said) == (end, f"It covers record {end} and all before it.\n")
        assert recorded(data_dir)[-1]["seq"] == end, "and asking is no record"
        assert taken(data_dir)[0] == statement, "nothing is new"
        kept = tmp_path / "checkpoint.json"
        kept.write_text(printed)
        verified = run("audit", "verify", "--checkpoint", kept, "--data-dir", data_dir)
        assert verified.returncode == 0
        assert f"Records 1 to {end}: covered by an external checkpoint; nobody rewrote them." in verified.stdout


def test_of_a_copy_and_without_a_guard_it_is_the_newest_and_how_many_follow_is_said(tmp_path: Path) -> None:
    data_dir, copy = tmp_path / "data", tmp_path / "copy.db"
    with serving(data_dir):
        signed, _, _ = taken(data_dir)
        let_in(data_dir, "desk")
        end = recorded(data_dir)[-1]["seq"]
        assert run("db", "backup", copy, "--data-dir", data_dir).returncode == 0
        statement, _, said = taken(data_dir, copy)
        assert statement == signed
        assert said.startswith(f"It covers record {signed['seq']} and all before it; {end - signed['seq']} more ")
    statement, _, said = taken(data_dir)
    assert statement == signed, "it was killed before it signed another"
    assert f"; {end - signed['seq']} more follow it" in said


def test_where_the_guard_cannot_sign_nothing_older_is_printed_in_its_place(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as guard:
        database = guard.data_dir / "mcpguard.db"
        database.rename(guard.data_dir / "away.db")
        told = run("audit", "checkpoint", "--data-dir", guard.data_dir)
        assert (told.returncode, told.stdout) == (1, "")
        assert "mcpguard.db was removed or replaced" in told.stderr
