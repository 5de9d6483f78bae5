"""The files by which Linux and macOS know the guard as a service: whole, as they are read back, and for nobody else."""

import plistlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.agents.program import Home
from mcpguard.cli.service.guard_service import GuardService, ServiceNotChanged, search_path
from mcpguard.cli.service.service_file import is_ours, service_place, service_text
from mcpguard.cli.service.systemd_unit import unit_word
from tests.deploying.units import PROGRAM, complaints

GOLDEN = Path(__file__).parent / "golden"
SERVICE = GuardService(
    (str(PROGRAM), "serve", "--config", "/home/ada/100 % ours/config.json", "--data-dir", "/home/ada/.local/mcpguard"),
    "/home/ada/.local/bin:/usr/local/bin:/usr/bin:/bin",
    "/Users/ada/Library/Logs/mcpguard.log",
)
PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" ")).filter(str.isprintable)


@pytest.mark.parametrize(("platform", "file"), [("linux", "mcpguard.service"), ("darwin", "mcpguard.plist")])
def test_a_file_is_what_it_was(platform: str, file: str) -> None:
    text = service_text(platform, SERVICE)
    assert text == (GOLDEN / file).read_text()
    assert is_ours(text)


def test_systemd_has_nothing_to_say_about_the_unit() -> None:
    assert complaints(GOLDEN / "mcpguard.service", of_a_user=True) == ""


@pytest.mark.parametrize(
    "folder", ["a b", "100%", "%h", "$HOME", "${x}", "it;s", ";", "#", "é ü", "~", "-", ":", "[x]"]
)
def test_systemd_finds_a_program_whatever_its_folder_is_called(folder: str, tmp_path: Path) -> None:
    """It complains about a program that is not there."""
    program = tmp_path / folder / "mcpguard"
    unit = tmp_path / "mcpguard.service"
    unit.write_text(service_text("linux", GuardService((str(program), folder, "--x=" + folder), folder, "")))
    assert "is not executable" in complaints(unit, of_a_user=True)
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    assert complaints(unit, of_a_user=True) == ""


def read_back(line: str) -> list[str]:
    """The words of a line by the rules of systemd.syntax(7), where no `$` is replaced."""
    words = re.findall(r'"((?:[^"\\]|\\["\\])*)"|([^\s"\\]+)', line)
    return [re.sub(r"\\(.)", r"\1", quoted or plain).replace("%%", "%") for quoted, plain in words]


@given(st.lists(PRINTABLE, min_size=1))
def test_every_word_is_read_back_as_it_was(words: list[str]) -> None:
    line = " ".join(map(unit_word, words))
    assert read_back(line) == words
    assert "\n" not in line
    assert not re.search(r"(?<!%)(?:%%)*%(?!%)", line), "no specifier is left"


@given(st.lists(PRINTABLE, min_size=1))
def test_a_launch_agent_has_the_words_as_they_were(words: list[str]) -> None:
    command = ("/bin/mcpguard", *words)
    text = service_text("darwin", GuardService(command, ":".join(words), words[0]))
    assert is_ours(text)
    read = plistlib.loads(text.encode())
    assert tuple(read["ProgramArguments"]) == command
    assert read["EnvironmentVariables"] == {"PATH": ":".join(words)}


@given(PRINTABLE, st.data())
def test_a_file_that_was_edited_is_not_ours(more: str, data: st.DataObject) -> None:
    text = service_text(data.draw(st.sampled_from(["linux", "darwin"])), SERVICE)
    at = data.draw(st.integers(0, len(text)))
    assert not is_ours(text[:at] + "x" + more + text[at:])


@pytest.mark.parametrize(
    "command",
    [
        ("/bin/x", "a\nExecStartPost=/bin/sh"),
        ("/bin/x", "a\x00"),
        ("/b\x1b[2J",),
        ("/b/\udce9",),
        ('/b/"x"',),
        ("/b\\x",),
    ],
    ids=repr,
)
def test_what_no_unit_can_hold_is_refused(command: tuple[str, ...]) -> None:
    with pytest.raises(ServiceNotChanged) as refused:
        GuardService(command, "/bin", "/log")
    assert str(refused.value).isprintable()


def test_only_folders_that_mean_the_same_everywhere_are_searched() -> None:
    assert search_path("/a/b::bin:.:/c:/a/b:/d\n:~/x") == "/a/b:/c"


def test_other_systems_have_no_service() -> None:
    with pytest.raises(ServiceNotChanged, match="Linux"):
        service_place(Home(Path("/home/ada"), "win32"))


def test_the_file_is_where_the_system_looks() -> None:
    folder = Path("/home/ada")
    mac = service_place(Home(folder, "darwin"))
    assert mac.path == folder / "Library/LaunchAgents/mcpguard.plist"
    assert service_place(Home(folder, "linux")).path == folder / ".config/systemd/user/mcpguard.service"
    elsewhere = Home(folder, "linux", {"XDG_CONFIG_HOME": "/conf"})
    assert service_place(elsewhere).path == Path("/conf/systemd/user/mcpguard.service")
