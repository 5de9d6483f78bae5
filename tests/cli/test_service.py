"""`mcpguard service`: a file of this user that is shown, confirmed, and taken back; and no other file is touched."""

import os
from pathlib import Path

import pytest

from mcpguard.cli.service.service_file import is_ours
from tests.cli.command import inert, mcpguard
from tests.cli.typing_person import typed
from tests.deploying.units import complaints
from tests.process import serving

UNIT = Path(".config/systemd/user/mcpguard.service")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's home, with services of their own."""
    folder = tmp_path / "some % body"
    (folder / UNIT.parent).mkdir(parents=True)
    (folder / UNIT.with_name("other.service")).write_text("[Service]\nExecStart=/bin/true\n")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def data(home: Path) -> Path:
    return home / "the data"


def everything(folder: Path) -> dict[Path, bytes | str]:
    found = [*folder.rglob("*")]
    return {path: str(path.readlink()) for path in found if path.is_symlink()} | {
        path: path.read_bytes() for path in found if path.is_file() and not path.is_symlink()
    }


def refused(home: Path, *words: str | Path) -> str:
    """What is said by a command that does nothing."""
    before = everything(home)
    done = mcpguard("service", *words)
    assert done.exit_code in (1, 2), done.output
    assert inert(done.output)
    assert everything(home) == before, "and nothing happened"
    return done.stderr


def test_it_is_shown_then_written_and_taken_back_byte_for_byte(home: Path, data: Path) -> None:
    before = everything(home)
    shown = mcpguard("service", "install", "--dry-run", "--data-dir", data)
    assert (shown.exit_code, everything(home)) == (0, before), "looking changes nothing"
    done = mcpguard("service", "install", "--yes", "--data-dir", data)
    assert done.exit_code == 0, done.output
    text = (home / UNIT).read_text()
    assert done.stdout == shown.stdout
    assert [line.removeprefix("  + ") for line in done.stdout.splitlines()[1:]] == text.splitlines()
    assert (home / UNIT).stat().st_mode & 0o777 == 0o600
    assert complaints(home / UNIT, of_a_user=True) == ""
    assert f'--data-dir "{data}"'.replace("%", "%%") in text
    for command in ("systemctl --user enable --now mcpguard.service", "loginctl enable-linger"):
        assert command in done.stderr
    again = mcpguard("service", "install", "--data-dir", data)
    assert (again.exit_code, again.stdout) == (0, f"{home / UNIT} is already installed.\n")
    assert mcpguard("service", "uninstall", "--dry-run").exit_code == 0
    assert (home / UNIT).read_text() == text
    assert mcpguard("service", "uninstall", "--yes").exit_code == 0
    assert everything(home) == before


def test_a_person_is_asked(home: Path, data: Path) -> None:
    words = ("install", "--data-dir", data)
    assert "--yes" in refused(home, *words), "nobody can be asked"
    before = everything(home)
    assert typed(b"n\n", "service", *words, environ={"HOME": str(home), "XDG_CONFIG_HOME": ""})[0] == 1
    assert everything(home) == before, "and nothing happened"
    assert typed(b"y\n", "service", *words, environ={"HOME": str(home), "XDG_CONFIG_HOME": ""})[0] == 0
    assert is_ours((home / UNIT).read_text())


def test_a_home_without_such_folders_gets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert mcpguard("service", "install", "--yes", "--data-dir", tmp_path / "data").exit_code == 0
    assert is_ours((tmp_path / UNIT).read_text())


def test_what_mcpguard_wrote_is_replaced(home: Path, data: Path) -> None:
    assert mcpguard("service", "install", "--yes", "--data-dir", home / "old").exit_code == 0
    done = mcpguard("service", "install", "--yes", "--data-dir", data)
    assert "(replaces what mcpguard wrote)" in done.stdout
    assert f"{home / 'old'}" not in (home / UNIT).read_text().replace("%%", "%")
    assert is_ours((home / UNIT).read_text())


@pytest.mark.parametrize("whose", ["somebody's", "edited", "a link", "a broken link", "a folder", "a pipe"])
def test_a_file_that_is_not_ours_stays(whose: str, home: Path, data: Path) -> None:
    unit, other = home / UNIT, home / UNIT.with_name("other.service")
    match whose:
        case "somebody's":
            unit.write_text("[Service]\nExecStart=/bin/true\n")
        case "edited":
            assert mcpguard("service", "install", "--yes", "--data-dir", data).exit_code == 0
            unit.write_text(unit.read_text().replace("on-failure", "always"))
        case "a link":
            unit.symlink_to(other)
        case "a broken link":
            unit.symlink_to("nowhere")
        case "a folder":
            unit.mkdir()
        case _:
            os.mkfifo(unit)
    for words in (("install", "--yes", "--data-dir", data), ("uninstall", "--yes")):
        assert str(unit) in refused(home, *words)


def test_what_is_still_enabled_is_not_removed(home: Path, data: Path) -> None:
    assert mcpguard("service", "install", "--yes", "--data-dir", data).exit_code == 0
    enabled = home / UNIT.parent / "default.target.wants" / UNIT.name
    enabled.parent.mkdir()
    enabled.symlink_to(home / UNIT)
    assert "systemctl --user disable --now mcpguard.service" in refused(home, "uninstall", "--yes")
    enabled.unlink()
    assert mcpguard("service", "uninstall", "--yes").exit_code == 0
    assert "there is no service" in refused(home, "uninstall", "--yes")


def test_a_folder_that_cannot_be_written_is_told(home: Path, data: Path) -> None:
    (home / UNIT.parent / UNIT.name).parent.rename(home / "moved")
    (home / UNIT.parent).write_text("no folder")
    assert "nothing was changed" in refused(home, "install", "--yes", "--data-dir", data)


def test_it_says_what_the_service_will_not_have(home: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPGUARD_HOLDS__WAIT_SECONDS", "7")
    with serving(data):
        told = mcpguard("service", "install", "--dry-run", "--data-dir", data).stderr
    assert "holds.wait_seconds" in told
    assert "a guard is running" in told
    assert not (home / UNIT).exists()
