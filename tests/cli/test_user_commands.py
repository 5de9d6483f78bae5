"""`mcpguard user` and `mcpguard operator` with a guard that runs: passwords are no words of a command, tokens are told
once."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from argon2 import extract_parameters
from typer.testing import CliRunner, Result

from mcpguard.cli.main import build
from mcpguard.guard.people.passwords import USUAL
from mcpguard.store.engine.offline import open_offline
from tests.cli.command import inert, mcpguard, refusal
from tests.cli.desk import Desk
from tests.patience import PATIENCE
from tests.people import PASSWORD, bears, shows
from tests.process import run, serving
from tests.world import said


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving(tmp_path / "data") as guard:
        yield Desk(guard, tmp_path / "description")


def typed(desk: Desk, text: str, *words: str) -> Result:
    """A command that reads a password from standard input."""
    given = [*words[:2], "--data-dir", str(desk.guard.data_dir), "--password-stdin", *words[2:]]
    return CliRunner().invoke(build(given), given, input=text)


def add(desk: Desk, name: str = "ada", role: str = "admin") -> None:
    result = typed(desk, f"{PASSWORD}\n", "user", "add", name, "--role", role)
    assert (result.exit_code, result.stdout) == (0, f"{name} may sign in as {role}\n"), result.output


def signed_in(desk: Desk, name: str = "ada", password: str = PASSWORD) -> str:
    """What a browser shows after this; nothing where it is not let in."""
    answer = httpx2.post(
        f"{desk.guard.url}/login",
        data={"name": name, "password": password},
        headers={"origin": desk.guard.url},
        trust_env=False,
        timeout=PATIENCE,
    )
    return answer.cookies.get("mcpguard_session") or ""


def test_people_are_let_in_listed_changed_and_shut_out(desk: Desk) -> None:
    listed = desk("user", "list")
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "mcpguard user setup-link" in listed.stderr
    add(desk)
    with open_offline(desk.guard.data_dir / "mcpguard.db") as connect, connect() as connection:
        [(kept,)] = connection.exec_driver_sql("SELECT password FROM users").all()
    assert extract_parameters(kept) == extract_parameters(USUAL.nobodys()), "it costs what it is to cost"
    add(desk, "bob", "viewer")
    assert "the last admin" in refusal(desk("user", "disable", "ada"))
    assert "the last admin" in refusal(desk("user", "role", "ada", "viewer"))
    shown = signed_in(desk, "bob")
    assert "<b>bob</b>Viewer" in desk.guard.get("/", **shows(shown)).text
    assert desk.done("user", "role", "bob", "approver") == "bob is approver\n"
    assert "<b>bob</b>Approver" in desk.guard.get("/", **shows(shown)).text
    table = desk.done("user", "list")
    assert re.search(r"^bob +approver +active +1 ", table, re.MULTILINE)
    (session,) = desk.json("user", "sessions", "bob")
    assert (session["user"], session["peer"]) == ("bob", "127.0.0.1")
    assert "127.0.0.1" in desk.done("user", "sessions")
    assert session["id"] in desk.done("user", "sessions")
    assert desk.done("user", "end-session", session["id"]) == "one session of bob has ended\n"
    assert desk.done("user", "sign-out", "bob") == "bob is signed out\n"
    assert "bob is not signed in." in desk("user", "sessions", "bob").stderr
    assert "No sessions." in desk("user", "sessions").stderr
    assert "<b>bob</b>" not in desk.guard.get("/", **shows(shown)).text
    assert desk.done("user", "disable", "bob", "--reason", "left") == "bob is disabled\n"
    assert signed_in(desk, "bob") == ""
    assert desk.done("user", "enable", "bob") == "bob may sign in\n"
    assert signed_in(desk, "bob")
    assert "is, or was, a user named bob" in refusal(
        typed(desk, f"{PASSWORD}\n", "user", "add", "bob", "--role", "viewer")
    )
    changes = [each["change"] for each in said(desk.guard.data_dir / "mcpguard.db") if each["kind"] == "person"]
    assert changes == ["offered", "added", "added", "role", "session_ended", "signed_out", "disabled", "enabled"]


def test_another_password_is_read_and_printed_nowhere(desk: Desk) -> None:
    add(desk)
    changed = typed(desk, "nine green hedgehogs\r\nand more\n", "user", "passwd", "ada")
    assert (changed.exit_code, changed.stdout, changed.stderr) == (0, "ada has a new password\n", "")
    assert signed_in(desk) == ""
    assert signed_in(desk, password="nine green hedgehogs")  # noqa: S106 - nobody's
    for text, told in (("short\n", "at least 12"), ("", "at least 12"), ("password12345\n", "too common")):
        assert told in refusal(typed(desk, text, "user", "passwd", "ada"))
    assert "hedgehogs" not in "".join(desk.guard.lines)


def test_without_a_terminal_nobody_is_asked_for_a_password(desk: Desk) -> None:
    result = desk("user", "add", "ada", "--role", "admin")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--password-stdin" in result.stderr
    assert desk.json("user", "list") == []


def test_the_link_of_the_first_start_is_on_the_terminal_and_in_no_log(desk: Desk) -> None:
    link = desk.guard.places["first admin"].split()[0]
    assert link.startswith(f"{desk.guard.url}/setup?key=")
    assert desk.guard.get(link.removeprefix(desk.guard.url)).status_code == 200
    again = desk("user", "setup-link")
    assert (again.exit_code, again.stdout.count("\n")) == (0, 1)
    assert inert(again.output)
    assert again.stdout.startswith(f"{desk.guard.url}/setup?key=")
    assert desk.guard.get(link.removeprefix(desk.guard.url)).status_code == 403
    add(desk)
    assert "an admin can add more" in refusal(desk("user", "setup-link"))
    for secret in (link.partition("key=")[2], again.stdout.partition("key=")[2].strip()):
        assert secret not in str(desk.guard.log)


def test_there_is_a_new_link_at_every_start_until_there_is_somebody(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir) as guard:
        first = guard.places["first admin"].split()[0].partition("/setup")[2]
    with serving(data_dir) as guard:
        second = guard.places["first admin"].split()[0].partition("/setup")[2]
        assert first != second
        assert [guard.get(f"/setup{each}").status_code for each in (first, second)] == [403, 200]
        add(Desk(guard, tmp_path))
    with serving(data_dir) as guard:
        assert "first admin" not in guard.places
        assert guard.get(f"/setup{second}").status_code == 404


def test_what_is_started_for_an_agent_prints_no_link(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--idle-exit", "600") as guard:
        assert "first admin" not in guard.places
        assert guard.get("/login").status_code == 200


def test_a_token_is_alone_on_standard_output_and_can_be_revoked(desk: Desk) -> None:
    assert "mcpguard operator add" in desk("operator", "list").stderr
    made = desk("operator", "add", "ci", "--role", "viewer", "--expires", "90d")
    assert made.exit_code == 0, made.output
    assert re.fullmatch(r"mcpo_[\w-]{43}\n", made.stdout)
    assert "ci" not in made.stdout
    assert "Its role on the guard's API is viewer, until 20" in made.stderr
    token = made.stdout.strip()
    assert token not in made.stderr + desk.done("operator", "list")
    assert desk.guard.get("/", **bears(token)).status_code == 200
    assert "a token named ci exists already" in refusal(desk("operator", "add", "ci", "--role", "admin"))
    assert desk.done("operator", "revoke", "ci") == "ci is revoked\n"
    assert desk.guard.get("/", **bears(token)).status_code == 401
    assert "there is no token ci" in refusal(desk("operator", "revoke", "ci"))
    assert desk.json("operator", "list") == []


def test_without_a_guard_nothing_is_done(tmp_path: Path) -> None:
    for words in (("user", "list"), ("user", "disable", "ada"), ("user", "setup-link"), ("operator", "list")):
        done = run(*words, "--data-dir", tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("mcpguard: no guard answers at")


def test_a_shell_that_may_only_tighten_is_told_so(tmp_path: Path) -> None:
    with serving(tmp_path / "data", environ={"MCPGUARD_AUTHORITY__SHELL": "tighten"}) as guard:
        desk = Desk(guard, tmp_path)
        assert "first admin" in guard.places, "the terminal of the guard itself is no shell that asks it"
        told = typed(desk, f"{PASSWORD}\n", "user", "add", "ada", "--role", "admin")
        assert "authority.shell is `tighten`" in refusal(told)
        assert "authority.shell is `tighten`" in refusal(desk("operator", "add", "ci", "--role", "viewer"))
        assert "authority.shell is `tighten`" in refusal(mcpguard("user", "setup-link", "--data-dir", guard.data_dir))
