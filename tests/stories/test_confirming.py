"""An operator loosens a setting that carries trust, and confirms it, with nothing but the commands."""

import json
import signal
from pathlib import Path

from tests.process import Served, recorded, run, serving, whole

HOST = "guard.example"


def stop(guard: Served) -> None:
    guard.signal(signal.SIGTERM)
    assert guard.ended() == 0


def accepted(guard: Served) -> bool:
    return guard.get("/login", host=HOST).status_code == 200


def test_what_was_loosened_waits_until_it_was_confirmed_and_started_anew(tmp_path: Path) -> None:
    data_dir, config = tmp_path / "data", tmp_path / "config.json"
    config.write_text("{}")
    arguments = ("--config", str(config))
    with serving(data_dir, *arguments) as guard:
        stop(guard)
    config.write_text(json.dumps({"mcpguard": {"hosts": [HOST]}}))

    with serving(data_dir, *arguments) as guard:
        assert guard.logged("settings.unconfirmed", keys=["hosts"])
        assert not accepted(guard)
        told = run("status", "--data-dir", data_dir)
        assert told.returncode == 0
        assert [line.split(maxsplit=1)[1] for line in told.stdout.splitlines() if line.startswith("unconfirmed")] == [
            "hosts (mcpguard config confirm)"
        ]
        shown = run("config", "show", *arguments, "--data-dir", data_dir)
        assert shown.stderr == "notice: hosts needs confirmation; the current value is: none\n"

        done = run("config", "confirm", "--data-dir", data_dir)
        assert done.returncode == 0
        assert done.stderr == "confirmed; restart the guard for it to take effect\n"
        head, row = (line.split() for line in done.stdout.splitlines())
        assert (head, row) == (["key", "current", "confirmed"], ["hosts", "none", HOST])

        again = run("config", "confirm", "-o", "json", "--data-dir", data_dir)
        assert (again.returncode, json.loads(again.stdout)) == (0, [])
        assert again.stderr == "nothing needs confirmation\n"
        assert not accepted(guard), "until it is started anew"
        stop(guard)

    with serving(data_dir, *arguments) as guard:
        assert not guard.logged("settings.unconfirmed")
        assert accepted(guard)
        assert run("config", "show", *arguments, "--data-dir", data_dir).stderr == ""
        stop(guard)
    assert [record["what"] for record in recorded(data_dir) if record["kind"] == "configured"] == ["found", "confirmed"]
    assert whole(data_dir)


def test_a_shell_that_may_only_tighten_is_told_so(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir, environ={"MCPGUARD_AUTHORITY__SHELL": "tighten"}) as guard:
        stop(guard)
    with serving(data_dir) as guard:
        refused = run("config", "confirm", "--data-dir", data_dir)
        assert refused.returncode == 1
        assert refused.stderr.startswith("mcpguard: authority.shell is `tighten`")
        stop(guard)
    assert [record["what"] for record in recorded(data_dir) if record["kind"] == "configured"] == ["found"]


def test_without_a_guard_nothing_is_confirmed(tmp_path: Path) -> None:
    told = run("config", "confirm", "--data-dir", tmp_path)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("mcpguard: no guard answers at ")
