"""What is loaded by commands that people wait for, and by a guard before anybody looks at a page."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from inspect import getdoc
from pathlib import Path

import pytest
import typer.main

from mcpguard.cli.agents import search
from mcpguard.cli.main import COMMANDS, GROUPS, build
from mcpguard.gateway.tools.arguments import MOST_FOUND
from tests.patience import PATIENCE
from tests.process import ROOT, approve, environment, serving, until

PROGRAM = """
import os, runpy, sys
try: runpy.run_module("mcpguard", run_name="__main__")
finally:
    with open(os.environ["LOADED"], "w") as file: print(*sys.modules, file=file)
"""
"""The program, which writes down in the end what it has loaded."""
COMMAND = (sys.executable, "-c", PROGRAM)
PAGES = {"fastapi", "jinja2", "prometheus_client"}
SERVING = {"alembic", "markdown_it", "mcp", "mcp_types", "opentelemetry", "pygments", "rich", "snowballstemmer", *PAGES}
SERVING |= {"numpy", "mcpguard.catalog.search.semantic"}
"""What takes long to load, and no guard needs before it is asked for a page, or an agent speaks."""
ASKING = {"anyio", "asyncio", "cryptography", "pydantic_settings", "sqlalchemy", "starlette", "structlog", "uvicorn"}
ASKING |= {"mcpguard.guard", "mcpguard.settings.model", "mcpguard.store", *SERVING - {"rich"}}
"""What no command needs that only asks a guard. Tables are printed with rich, and Typer reads options with pydantic."""


def loaded(file: Path, *words: str) -> tuple[int, set[str]]:
    """The exit code of a command, and what it has loaded."""
    environ = environment({"LOADED": str(file)})
    done = subprocess.run(
        [*COMMAND, *words], env=environ, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False, text=True
    )
    return done.returncode, modules(file)


def modules(file: Path) -> set[str]:
    return {*file.read_text().split()}


def test_without_a_command_nothing_but_what_asks_the_guard_is_loaded(tmp_path: Path) -> None:
    _, found = loaded(tmp_path / "loaded")
    commands = {f"mcpguard.cli.{entry.place.partition(':')[0]}" for entry in (COMMANDS | GROUPS).values()}
    assert "mcpguard.cli.next_steps" in found
    assert not found & (commands | {"mcpguard.settings.model"})


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_loads_no_command(words: Sequence[str], tmp_path: Path) -> None:
    _, found = loaded(tmp_path / "loaded", *words)
    assert "mcpguard.cli.main" in found
    assert found & ASKING <= {"markdown_it", "pygments"}  # Typer's own pages of help load them
    assert not {name for name in found if name.startswith(("mcpguard.cli.", "mcpguard.settings"))} - {
        "mcpguard.cli.main"
    }


def test_the_list_of_commands_says_what_the_commands_say() -> None:
    every = typer.main.get_command(build([])).commands  # type: ignore[attr-defined]
    assert [*every] == [*COMMANDS, *GROUPS]
    for name, entry in (COMMANDS | GROUPS).items():
        said = every[name].help or getdoc(every[name].callback) or ""
        assert entry.sentence == said.split("\n\n")[0].replace("\n", " "), name


def test_a_search_finds_as_many_tools_as_an_agents() -> None:
    assert search.MOST_FOUND == MOST_FOUND


def test_a_guard_loads_what_it_needs_and_a_command_that_asks_it_still_less(tmp_path: Path) -> None:
    folder, file = tmp_path / "data", tmp_path / "loaded"
    with serving(folder, "--demo") as guard:
        approve(folder, "demo-notes")
        for words in (["status"], ["server", "list"], ["tool", "list"], ["caller", "list"], ["held", "list"]):
            code, found = loaded(tmp_path / "asked", *words, "--data-dir", str(folder))
            assert code == 0, words
            assert found & ASKING == set(), words
        _, found = loaded(tmp_path / "asked", "search", "note", "--data-dir", str(folder))
        assert found & ASKING == set()
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
    with serving(folder, environ={"LOADED": str(file)}, command=COMMAND) as guard:
        until(lambda: guard.get("/readyz").status_code == 200, "it is ready")
        assert guard.get("/healthz").json() == {"status": "alive"}
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
    found = modules(file)
    assert "mcpguard.app.serve" in found
    assert found & SERVING == set()
    assert not {name for name in found if name.startswith(("mcpguard.web.pages", "mcpguard.web.api.routes"))}
