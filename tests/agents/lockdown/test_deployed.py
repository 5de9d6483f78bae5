"""What lockdown deploys is what was checked against the programs' documentation, and admits the guard only."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mcpguard.agents.lockdown.deployment import LockdownWish, TargetSystem
from mcpguard.agents.lockdown.guard_address import NotExact, exact_address, exact_command
from mcpguard.agents.lockdown.lockable import BY_NAME, LOCKABLE
from mcpguard.agents.program import Reach
from tests.agents.lockdown.deployed import ADDRESS, GOLDEN, WISHES, golden_files

EVERYWHERE = pytest.mark.parametrize("system", TargetSystem)


@pytest.mark.parametrize(("path", "text"), [*golden_files()], ids=lambda each: getattr(each, "stem", ""))
def test_it_is_what_the_golden_file_says(path: Path, text: str) -> None:
    """After a change that is meant: python -m tests.agents.lockdown.deployed."""
    assert text == path.read_text()


def test_there_is_no_golden_file_of_nothing() -> None:
    assert {*GOLDEN.iterdir()} == {path for path, _ in golden_files()}


def test_every_format_names_what_it_was_checked_against() -> None:
    assert [each.name for each in LOCKABLE if not re.search(r"read on \d{4}-\d\d-\d\d", each.checked)] == []


def lists(wish: LockdownWish, system: TargetSystem) -> list[list[dict[str, Any]]]:
    """Every list of allowed servers that is deployed in the form that three programs share."""
    found = []
    for program in LOCKABLE:
        for file in program.files(wish, system):
            if "ChatAllowedMcpServers" in file.put:
                found.append(json.loads(str(file.put["ChatAllowedMcpServers"])))
            elif "allowedMcpServers" in file.put:
                found.append(json.loads(file.text())["allowedMcpServers"])
    return found


def admits(pattern: str, url: str) -> bool:
    """Whether a program that reads the widest sense into a pattern lets an address through: `*` is anything, a pattern
    without a path any path, and case does not matter."""
    wide = ".*".join(map(re.escape, pattern.split("*")))
    bare = "" if re.search(r"://[^/]+/", pattern) else "(/.*)?"
    return re.fullmatch(wide + bare, url, re.IGNORECASE) is not None


@EVERYWHERE
@pytest.mark.parametrize(
    "other",
    [
        "https://guard.example.evil:8443/mcp",
        "https://guard.example:8443.evil/mcp",
        "https://evil/https://guard.example:8443/mcp",
        "https://guardXexample:8443/mcp",
        "https://guard.example/mcp",
        "https://guard.example:84430/mcp",
        "https://guard.example:8443/mcp/only/files",
        "https://guard.example:8443/mcp2",
        "https://guard.example:8443/",
        "http://guard.example:8443/mcp",
        "https://guard.example:8443@evil/mcp",
    ],
)
def test_an_address_that_resembles_the_guard_is_not_admitted(other: str, system: TargetSystem) -> None:
    found = lists(WISHES["url"], system)
    assert len(found) == (3 if system is TargetSystem.LINUX else 2)
    for [entry] in found:
        assert entry == {"serverUrl": ADDRESS}
        assert admits(entry["serverUrl"], ADDRESS)
        assert not admits(entry["serverUrl"], other)
    [page] = BY_NAME["windsurf"].pages(WISHES["url"], system)
    pattern = json.loads(page.text.partition("config:\n")[2])["serverUrl"]
    assert re.fullmatch(pattern, ADDRESS)
    assert not re.fullmatch(pattern, other)


def test_a_command_is_admitted_with_these_arguments_only() -> None:
    words = [*WISHES["stdio"].reach.command]
    for [entry] in lists(WISHES["stdio"], TargetSystem.LINUX):
        assert entry == {"serverCommand": words}
    [file] = BY_NAME["codex"].files(WISHES["stdio"], TargetSystem.LINUX)
    [(name, rule)] = tomllib.loads(file.text())["mcp_servers"].items()
    command = rule["identity"]["command"]
    assert name == "mcpguard"
    assert [command["executable"], *(each["value"] for each in command["args"])] == words
    assert {each["match"] for each in command["args"]} == {"exact"}


@pytest.mark.parametrize(
    "url",
    [
        "https://guard.example*/mcp",
        "https://*.example/mcp",
        "*://guard.example/mcp",
        "https://guard.example:*/mcp",
        "https://guard.example/mcp*",
        "https://guard.example",
        "https://guard.example/",
        "https://guard.example/${HOME}/mcp",
        "https://${HOST}/mcp",
        "https://guard.example/$X",
        "https://ada:secret@guard.example/mcp",
        "https://gu%61rd.example/mcp",
        "https://guard.example/a/../mcp",
        "https://guard.example//mcp",
        "https://guard.example/[a]/mcp",
        "https://guard..example/mcp",
        "https://guard.example:99999/mcp",
        "https://guard.example/mcp#x",
        "https://guard.example\\.evil/mcp",
        "https://guard.exämple/mcp",
        "https://guard.example/mcp\n",
        "https://guard.example/mcp?api_key=abcdefgh12345678",
        "http://guard.example/mcp",
        "ftp://guard.example/mcp",
        "//guard.example/mcp",
        "https:///mcp",
        "",
    ],
)
def test_an_address_that_a_program_could_read_as_more_is_refused(url: str) -> None:
    with pytest.raises(NotExact) as refused:
        exact_address(url)
    assert "secret" not in url or "secret@" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "exact"),
    [
        ("https://Guard.Example:443/mcp", "https://guard.example/mcp"),
        ("HTTPS://guard.example/MCP", "https://guard.example/MCP"),
        ("https://guard.example:8443/mcp/all?separator=__", "https://guard.example:8443/mcp/all?separator=__"),
        ("http://127.0.0.1:8080/mcp", "http://127.0.0.1:8080/mcp"),
        ("http://localhost/mcp", "http://localhost/mcp"),
        ("http://[::1]:8080/mcp", "http://[::1]:8080/mcp"),
    ],
)
def test_an_address_is_brought_into_the_form_that_is_compared(url: str, exact: str) -> None:
    assert exact_address(url) == exact


@pytest.mark.parametrize("word", ["${HOME}/bin", "$X", "*", "a\nb"])
def test_a_command_that_a_program_could_read_as_more_is_refused(word: str) -> None:
    assert exact_command(("mcpguard", "stdio")) == ("mcpguard", "stdio")
    with pytest.raises(NotExact):
        exact_command(("mcpguard", word))


def test_a_token_is_named_and_never_there() -> None:
    [entry, _] = BY_NAME["claude-code"].files(LockdownWish(Reach(url=ADDRESS)), TargetSystem.LINUX)
    assert "headers" not in entry.text()
    [entry, _] = BY_NAME["claude-code"].files(WISHES["url"], TargetSystem.LINUX)
    assert '"Authorization": "Bearer ${MCPGUARD_TOKEN}"' in entry.text()
