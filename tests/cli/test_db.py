"""`mcpguard db`: the schema is brought up to date once; a copy is whole, private, and overwrites nothing."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.command import mcpguard, refusal
from tests.store import NEWEST
from tests.world import World, said, verified


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def careless() -> object:
    """A umask that would let everybody read what is made."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("careless")
def test_upgrade_makes_a_database_and_then_finds_it_made(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    made = mcpguard("db", "upgrade", "--data-dir", data_dir)
    assert (made.exit_code, made.stderr) == (0, "")
    assert made.stdout == f"{data_dir}/mcpguard.db upgraded from nothing to schema {NEWEST}\n"
    assert (mode(data_dir), mode(data_dir / "mcpguard.db"), mode(data_dir / "guard.lock")) == (0o700, 0o600, 0o600)
    again = mcpguard("db", "upgrade", "--data-dir", data_dir)
    assert (again.exit_code, again.stdout) == (0, f"{data_dir}/mcpguard.db already has schema {NEWEST}\n")
    assert not (data_dir / "backups").exists()


@pytest.mark.anyio
async def test_upgrade_is_refused_while_a_guard_runs(guard: World) -> None:
    await guard.call()
    before = guard.said()
    sentence = refusal(mcpguard("db", "upgrade", "--data-dir", guard.now.settings.data_dir))
    assert f"is in use by process {os.getpid()} (mcpguard serve, since " in sentence
    await guard.call()
    assert guard.said()[: len(before)] == before
    assert guard.verified().whole


def test_upgrade_refuses_a_database_of_a_newer_version(lived: Path) -> None:
    database = lived / "mcpguard.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    before = database.read_bytes()
    assert "has schema 9999, which mcpguard" in refusal(mcpguard("db", "upgrade", "--data-dir", lived))
    assert database.read_bytes() == before


@pytest.mark.parametrize("what", ["garbage", "a folder"])
def test_upgrade_of_what_is_no_database_is_told_in_a_sentence(tmp_path: Path, what: str) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    database = data_dir / "mcpguard.db"
    if what == "garbage":
        database.write_bytes(b"not a database\n" * 1000)
    else:
        database.mkdir()
    assert str(database) in refusal(mcpguard("db", "upgrade", "--data-dir", data_dir))
    assert database.is_dir() or database.read_bytes() == b"not a database\n" * 1000


@pytest.mark.usefixtures("careless")
def test_a_backup_is_whole_and_private(lived: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    made = mcpguard("db", "backup", target, "--data-dir", lived)
    assert (made.exit_code, made.stderr) == (0, "")
    assert made.stdout == f"copied to {target}; verify it with: mcpguard audit verify {target}\n"
    assert mode(target) == 0o600
    assert said(target) == said(lived / "mcpguard.db")
    checked = mcpguard("audit", "verify", target)
    assert (checked.exit_code, checked.stdout.splitlines()[-1]) == (0, "Integrity: OK")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "lived"]


@pytest.mark.anyio
async def test_a_backup_can_be_made_while_the_guard_runs(guard: World, tmp_path: Path) -> None:
    for _ in range(5):
        await guard.call()
    target = tmp_path / "copy.db"
    assert mcpguard("db", "backup", target, "--data-dir", guard.now.settings.data_dir).exit_code == 0
    await guard.call()
    assert said(target) == guard.said()[:-2]
    assert verified(target).whole


def test_a_backup_never_overwrites(lived: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    assert str(target) in refusal(mcpguard("db", "backup", target, "--data-dir", lived))
    assert target.read_text() == "precious"
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "not there")
    assert str(link) in refusal(mcpguard("db", "backup", link, "--data-dir", lived))
    assert not (tmp_path / "not there").exists()
    database = lived / "mcpguard.db"
    assert str(database) in refusal(mcpguard("db", "backup", database, "--data-dir", lived))
    assert verified(database).whole


def test_a_backup_that_cannot_be_made_leaves_nothing_behind(lived: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "no" / "such" / "folder.db"
    assert str(nowhere) in refusal(mcpguard("db", "backup", nowhere, "--data-dir", lived))
    target = tmp_path / "copy.db"
    missing = tmp_path / "empty"
    assert str(missing) in refusal(mcpguard("db", "backup", target, "--data-dir", missing))
    (lived / "mcpguard.db").write_bytes(b"not a database\n" * 1000)
    assert str(lived) in refusal(mcpguard("db", "backup", target, "--data-dir", lived))
    assert not target.exists()
    assert not missing.exists()


def test_a_server_is_left_to_its_own_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPGUARD_STORE__URL", "postgresql://user:hunter2@127.0.0.1:1/guard")
    sentence = refusal(mcpguard("db", "backup", tmp_path / "copy.db"))
    assert "pg_dump" in sentence
    assert "hunter2" not in sentence
    assert not (tmp_path / "copy.db").exists()
