"""The contracts in pyproject.toml hold, and they bite: each is broken here in a copy of the package."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.process import ROOT, Result

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "mcpguard", tmp_path / "mcpguard", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def lint(folder: Path) -> Result:
    """The real import-linter, on the package in `folder`."""
    command = [sys.executable, "-c", LINT, "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def append(module: Path, line: str) -> None:
    module.write_text(f"{module.read_text()}\n{line}\n")


def test_the_package_as_it_is_keeps_every_contract(copy: Path) -> None:
    result = lint(copy)
    assert result.returncode == 0, result.stdout
    assert "0 broken" in result.stdout


@pytest.mark.parametrize("newcomer", ["newcomer.py", "newcomer/__init__.py"])
def test_a_new_top_level_module_fails_until_it_is_placed(copy: Path, newcomer: str) -> None:
    module = copy / "mcpguard" / newcomer
    module.parent.mkdir(exist_ok=True)
    module.write_text('"""New here."""\n')
    result = lint(copy)
    assert result.returncode == 1
    assert "newcomer" in result.stdout
    contracts = copy / "pyproject.toml"
    contracts.write_text(contracts.read_text().replace('  "text",', '  "text | newcomer",'))
    assert lint(copy).returncode == 0


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("domain/clock.py", "import mcpguard.text.visible"),
        ("guard/servers/intake.py", "import mcpguard.guard.calls.handle"),
        ("guard/calls/handle.py", "import mcpguard.guard.review.decisions"),
        ("upstreams/exchange/peer.py", "import mcpguard.upstreams.process.child"),
        ("inspection/reading/tokens.py", "import mcpguard.inspection.texts.texts"),
        ("store/rows/records.py", "import mcpguard.store.engine.writer"),
        ("cli/shared/common.py", "import mcpguard.cli.servers.server"),
        ("gateway/methods.py", "import mcpguard.ledger.ledger"),
        ("web/views.py", "import mcpguard.store.rows.records"),
        ("relay/relay.py", "import mcpguard.gateway.methods"),
        ("domain/clock.py", "import asyncio"),
        ("text/visible.py", "import logging"),
        ("text/visible.py", "import mcpguard.codec.strict"),
        ("store/engine/store.py", "import mcpguard.settings.model"),
        ("store/engine/store.py", "import mcpguard.ledger.ledger"),
        ("ledger/ledger.py", "import mcpguard.guard.guard"),
        ("inspection/diff/diff.py", "import mcpguard.ledger.ledger"),
        ("inspection/diff/diff.py", "import sqlalchemy"),
        ("ledger/ledger.py", "import sqlalchemy"),
        ("ledger/ledger.py", "import starlette"),
        ("guard/guard.py", "import mcpguard.web.network"),
        ("guard/guard.py", "import fastapi"),
        ("web/network.py", "import mcpguard.app.lifespan"),
        ("web/network.py", "import sqlite3"),
        ("app/lifespan.py", "import mcpguard.cli.main"),
        ("cli/status.py", "import sqlalchemy"),
        ("settings/load.py", "import uvicorn"),
        ("assets.py", "import mcpguard.settings.load"),
        ("demo/stdio.py", "import mcpguard.text.visible"),
        ("demo/stdio.py", "import mcp"),
    ],
)
def test_an_import_that_the_architecture_forbids_is_found(copy: Path, module: str, line: str) -> None:
    append(copy / "mcpguard" / module, line)
    result = lint(copy)
    assert result.returncode == 1, "nothing was found"
    assert line.removeprefix("import ") in result.stdout
