"""`mcpguard doctor` beside a guard: servers that do not start, what they need, and who else could be anonymous."""

import json
import os
import pwd
import socket
import sys
from pathlib import Path

import pytest

from mcpguard.cli.shared.guard_client import GuardClient
from tests.cli.command import HOSTILE, inert, mcpguard
from tests.cli.desk import Desk
from tests.cli.doctoring import Finding, bad, doctor, of, only
from tests.cli.played_socket import answering, http
from tests.process import ROOT, recorded, serving, until

FAILING = """
import pathlib, runpy, sys
if pathlib.Path(sys.argv[1]).exists():
    sys.stderr.buffer.write(pathlib.Path(sys.argv[1]).read_bytes())
    sys.exit(1)
sys.argv = ["demo", "honest"]
runpy.run_module("mcpguard.demo", run_name="__main__")
"""
"""The notes, until there is a file: then it says what is in the file, and ends."""

NOT_AGAIN = {"MCPGUARD_UPSTREAMS__RETRY_SECONDS": "600", "MCPGUARD_UPSTREAMS__RETRY_MOST_SECONDS": "600"}
"""With these a server that ended writes nothing more into its log meanwhile."""


def state(data_dir: Path) -> str:
    (server,) = GuardClient(data_dir).get("/api/v1/status")["servers"]
    return f"{server['state']}: {server['error']}" if server["error"] else str(server["state"])


def problems(findings: list[Finding], about: str) -> list[Finding]:
    """What is wrong with this one thing."""
    return [each for each in findings if each["of"] == about and each["level"] == "problem"]


def test_a_server_that_ends_at_once_is_a_problem_with_the_last_that_it_wrote(tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    with serving(tmp_path / "data", environ=NOT_AGAIN) as guard:
        desk = Desk(guard, sign)
        desk.approved(sys.executable, "-c", FAILING, str(sign))
        assert bad(doctor(guard.data_dir)) == []
        written = "".join(f"earlier {number}\n" for number in range(9)) + f"no license {HOSTILE}".replace("\n", " ")
        sign.write_text(f"{written}\n{'x' * 2000}\n", encoding="utf-8")
        desk.done("server", "disable", "notes", "--reason", "to start it anew")
        desk.done("server", "enable", "notes", "--reason", "to start it anew")
        until(lambda: state(guard.data_dir).startswith(("error", "disconnected:")), "it has failed")
        before = recorded(guard.data_dir)
        (found,) = [each for each in of(doctor(guard.data_dir, code=1), "servers.ready") if each["of"]]
        printed = mcpguard("doctor", "--data-dir", guard.data_dir)
        assert recorded(guard.data_dir) == before
        guard.data_dir.joinpath("logs", "notes.log").write_text(f"by another hand {HOSTILE}", encoding="utf-8")
        tampered = mcpguard("doctor", "--data-dir", guard.data_dir).stdout
    assert "| by another hand" in tampered
    assert inert(tampered)
    assert (found["of"], found["level"]) == ("notes", "problem")
    assert "mcpguard server logs notes" in found["next"]
    assert len(found["lines"]) == 5
    assert found["lines"][0] == "earlier 7"
    assert [line for line in found["lines"] if "no license" in line]
    assert len(found["lines"][-1]) < 400
    assert printed.exit_code == 1
    assert "           | no license" in printed.stdout
    assert inert(printed.stdout)


def test_servers_in_quarantine_are_counted_and_left_alone(tmp_path: Path) -> None:
    sign = tmp_path / "started"
    with socket.create_server(("127.0.0.1", 0)) as remote, serving(tmp_path / "data") as guard:
        touch = (sys.executable, "-c", f"open({str(sign)!r}, 'w')")
        at = ("server", "add", "--data-dir", guard.data_dir)
        assert mcpguard(*at, "one", "--", *touch).exit_code == 0
        url = f"http://127.0.0.1:{remote.getsockname()[1]}/mcp"
        assert mcpguard(*at, "two", "--url", url, "--header", "X=${env:NOWHERE}").exit_code == 0
        findings = doctor(guard.data_dir)
        remote.setblocking(False)
        with pytest.raises(BlockingIOError):
            remote.accept()
    assert ": 2. They need review" in only(findings, "servers.quarantined")["sentence"]
    assert "NOWHERE" not in json.dumps(findings)
    assert not sign.exists()


def test_a_reference_that_leads_nowhere_any_more_is_a_problem_before_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir(0o700)
    token = folder / "token"
    token.write_text("s3cr3t-v4lu3")
    token.chmod(0o600)
    environ = {"MCPGUARD_UPSTREAMS__SECRET_FOLDERS": str(folder), "FOR_NOTES": "an0ther-s3cr3t"}
    with serving(tmp_path / "data", environ=environ) as guard, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MCPGUARD_UPSTREAMS__SECRET_FOLDERS", str(folder))
        desk = Desk(guard, tmp_path)
        given = ("--env", "ONE=${env:FOR_NOTES}", "--env", f"TWO=${{file:{token}}}")
        command = (sys.executable, "-m", "mcpguard.demo", "honest")
        desk.done("server", "add", "notes", "--cwd", str(ROOT), "--sandbox", "none", *given, "--", *command)
        desk.done("server", "inspect", "notes", "--consent")
        desk.done("server", "approve", "notes", "--reason", "looked at it")
        desk.ready("read_note")
        assert bad(doctor(guard.data_dir)) == []
        for why in ("larger", "empty", "gone"):
            token.write_text("x" * 70_000 if why == "larger" else "")
            if why == "gone":
                token.unlink()
            (found,) = [each for each in of(doctor(guard.data_dir, code=1), "launches.here") if each["of"]]
            assert (found["of"], found["level"]) == (str(token), "problem")
        printed = mcpguard("doctor", "--data-dir", guard.data_dir).output
        desk.done("server", "add", "other", "--cwd", str(ROOT), "--env", "X=${env:NOT_THERE}", "--", *command)
        desk.done("server", "inspect", "other", "--consent")
        desk.done("server", "approve", "other", "--reason", "looked at it")
        (failing,) = until(lambda: problems(doctor(guard.data_dir, code=1), "other"), "it has failed")
        (missing,) = problems(doctor(guard.data_dir, code=1), "NOT_THERE")
    assert failing["check"] == "servers.ready"
    assert "NOT_THERE is not set" in failing["sentence"]
    assert (missing["check"], "X of other cannot be resolved" in missing["sentence"]) == ("launches.here", True)
    assert "TWO of notes cannot be resolved" in printed
    assert "s3cr3t" not in printed


def test_programs_that_are_not_there_are_told_of_servers_that_the_file_declares(
    stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    file = tmp_path / "config.json"
    servers = {
        "a": {"command": "no-such-program"},
        "b": {"command": "/no/such/program"},
        "c": {"command": "npx", "args": ["-y", "some-package"]},
        "d": {"command": "uvx", "args": ["some-package"]},
        "e": {"command": "here"},
        "f": {"command": "there", "env": {"PATH": str(tmp_path)}},
        "g": {"command": "./beside", "cwd": str(tmp_path)},
        "h": {"command": "./somewhere"},
        "i": {"url": "https://x.example/", "headers": {"X": "${env:NOT_THERE}"}},
        "off": {"command": "no-such-program-either", "disabled": True},
    }
    file.write_text(json.dumps({"mcpServers": servers}))
    file.chmod(0o600)
    for program in (tmp_path / "bin" / "here", tmp_path / "there"):
        program.touch(0o755)
    found = of(doctor(stopped, "--config", file), "launches.here")
    assert [each["of"] for each in found] == ["no-such-program", "/no/such/program", "node", "npm", "uv", "./beside"]
    assert {each["level"] for each in found} == {"notice"}
    for name in ("bin/node", "bin/npm", "bin/uv", "bin/no-such-program", "beside"):
        (tmp_path / name).touch(0o755)
    assert [each["of"] for each in of(doctor(stopped, "--config", file), "launches.here")] == ["/no/such/program"]


def test_whoever_could_be_anonymous_is_named_and_so_is_what_closes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path) as guard:
        open_ = doctor(guard.data_dir)
    found = only(open_, "anonymous.enabled")
    assert found["level"] == "notice"
    assert "call what is read;" in found["sentence"]
    assert "anonymous.enabled=false" in found["next"]
    monkeypatch.setenv("MCPGUARD_LISTEN", "127.0.0.1:0")
    monkeypatch.setenv("MCPGUARD_ANONYMOUS__EFFECTS", "read,write")
    monkeypatch.setenv("MCPGUARD_ANONYMOUS__SERVERS", "notes,weather")
    assert "call what is read or write of notes weather;" in only(doctor(tmp_path), "anonymous.enabled")["sentence"]
    waits = only(doctor(tmp_path), "settings.confirmed")
    assert (waits["of"], waits["level"]) == ("anonymous.effects", "notice")
    monkeypatch.setenv("MCPGUARD_ANONYMOUS__ENABLED", "false")
    closed = doctor(tmp_path)
    assert {each["check"] for each in closed if each["subject"] == "anonymous"} == {
        "anonymous.enabled",
        "anonymous.listen",
    }
    assert only(closed, "anonymous.enabled")["level"] == "ok"


def test_accounts_that_can_sign_in_are_people_and_the_guards_own_is_not_another(
    stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With accounts that this machine may not have."""
    ours = os.geteuid()
    known = [
        ("root", 0, "/bin/bash"),
        ("daemon", 2, "/bin/sh"),
        ("anna", 4711, "/usr/bin/zsh"),
        ("bert", 4712, ""),
        ("gone", 4713, "/usr/sbin/nologin"),
        ("nobody", 65534, "/bin/sh"),
        (HOSTILE, 4714, "/bin/sh"),
        ("guard", ours, "/bin/bash"),
    ]
    accounts = [pwd.struct_passwd((name, "x", uid, uid, "", "/", shell)) for name, uid, shell in known]
    monkeypatch.setattr(pwd, "getpwall", lambda: accounts)
    sentence = only(doctor(stopped), "anonymous.people")["sentence"]
    named = {name for name, _, _ in known if f"{name} (" in sentence}
    assert named == {"anna", "bert", HOSTILE} | ({"root"} if ours else set())
    assert inert(mcpguard("doctor", "--data-dir", stopped).output)


def test_what_a_guard_says_of_itself_becomes_what_to_do(tmp_path: Path) -> None:
    """What a guard has said, changed as it would be where more is wrong."""
    with serving(tmp_path / "data", "--demo") as guard:
        told = GuardClient(guard.data_dir).get("/api/v1/status")
    fails = {"works": False, "why": "bwrap is not installed", "in_force": []}
    listed = {**told["servers"][0], "standing": "approved", "state": "ready", "waiting": 3, "left_out": ["a list"]}
    told |= {"version": "0.0.1", "sandbox": fails, "servers": [listed], "held": 2, "console": "http://192.0.2.1:0"}
    told |= {"unconfirmed": ["anonymous.effects"], "process": os.getpid()}
    with answering(http(200, json.dumps(told).encode())) as data_dir:
        findings = doctor(data_dir, code=1)
    assert {"machine.sandbox", "listener.answers", "agents.socket", "anonymous.listen"} <= {*bad(findings)}
    notices = {each["check"] for each in findings if each["level"] == "notice"}
    expected = {"guard.version", "servers.waiting", "servers.left_out", "calls.held", "settings.confirmed"}
    assert expected <= notices
    assert listed["name"] in only(findings, "machine.sandbox")["sentence"]


def test_a_guard_with_another_scope_in_force_is_believed_and_not_the_settings_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path, environ={"MCPGUARD_ANONYMOUS__ENABLED": "false"}) as guard:
        assert only(doctor(guard.data_dir), "anonymous.enabled")["level"] == "ok"
        monkeypatch.setenv("MCPGUARD_ANONYMOUS__EFFECTS", "destructive")
        assert only(doctor(guard.data_dir), "anonymous.enabled")["level"] == "ok"
        assert only(doctor(guard.data_dir), "guard.settings")["level"] == "notice"


def test_what_the_demonstration_sets_are_no_other_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPGUARD_LISTEN", "127.0.0.1:0")
    with serving(tmp_path, "--demo") as guard:
        assert of(doctor(guard.data_dir), "guard.settings") == []
        monkeypatch.setenv("MCPGUARD_ANONYMOUS__EFFECTS", "destructive")
        assert only(doctor(guard.data_dir), "guard.settings")["level"] == "notice"


@pytest.mark.usefixtures("free")
def test_a_guard_that_was_killed_is_told_from_one_that_was_stopped(tmp_path: Path) -> None:
    with serving(tmp_path) as guard:
        guard.kill()
        killed = only(doctor(tmp_path), "guard.runs")
        assert (killed["level"], "killed or crashed" in killed["sentence"]) == ("notice", True)


@pytest.mark.usefixtures("free")
@pytest.mark.parametrize(
    "answer",
    [b"", b"\xff\xfe nonsense\r\n\r\n", http(500, b"{}"), http(200, b"[]"), http(200, b"not JSON")],
    ids=repr,
)
def test_somebody_at_the_socket_who_does_not_answer_as_a_guard_is_a_problem(answer: bytes) -> None:
    with answering(answer) as data_dir:
        findings = doctor(data_dir, code=1)
    assert "guard.answers" in bad(findings)
    assert only(findings, "machine.python")["level"] == "ok"


@pytest.mark.usefixtures("free")
@pytest.mark.parametrize(
    "said",
    [
        {},
        {"version": HOSTILE, "process": 1},
        {"version": "9.9.9", "process": "x", "ready": {"ready": True}, "servers": [{"name": HOSTILE}]},
        {"version": "9.9.9", "process": -1, "ready": None, "servers": None, "console": HOSTILE},
        {"version": None, "process": 10**30, "ready": {"ready": False}, "servers": {}, "console": "http://[::1"},
    ],
    ids=repr,
)
def test_a_guard_of_another_version_makes_no_check_fail(said: dict[str, object]) -> None:
    with answering(http(200, json.dumps(said).encode())) as data_dir:
        result = mcpguard("doctor", "--data-dir", data_dir)
    assert result.exit_code in {0, 1}
    assert "this check could not be completed" in result.stdout
    assert inert(result.output)


def test_a_guard_whose_database_is_gone_takes_no_calls_and_the_cause_is_told(tmp_path: Path) -> None:
    with serving(tmp_path) as guard:
        guard.data_dir.joinpath("mcpguard.db").unlink()
        assert mcpguard("caller", "add", "x", "--data-dir", guard.data_dir).exit_code == 1
        findings = doctor(guard.data_dir, code=1)
        assert not guard.data_dir.joinpath("mcpguard.db").exists()
    assert set(bad(findings)) >= {"guard.ready", "database.read"}
    assert str(tmp_path / "mcpguard.db") in only(findings, "guard.ready")["sentence"]


def test_anchors_that_a_guard_cannot_write_are_a_problem(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir(0o700)
    environ = {"MCPGUARD_AUDIT__ANCHOR_FILE": str(folder / "anchors")}
    with serving(tmp_path / "data", environ=environ) as guard, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MCPGUARD_AUDIT__ANCHOR_FILE", str(folder / "anchors"))
        until(lambda: folder.joinpath("anchors").exists(), "the first checkpoint is anchored")
        assert only(doctor(guard.data_dir), "anchors.written")["level"] == "ok"
        folder.joinpath("anchors").unlink()
        folder.joinpath("anchors").mkdir()
        rotated = mcpguard("audit", "key", "rotate", "--reason", "a checkpoint", "--data-dir", guard.data_dir)
        assert rotated.exit_code == 0
        until(lambda: mcpguard("doctor", "--data-dir", guard.data_dir).exit_code, "the guard has seen it")
        findings = doctor(guard.data_dir, code=1)
    assert bad(findings) == ["anchors.written"]
