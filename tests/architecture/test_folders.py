"""Folders are small, a file's name means one thing within a top folder, and files that are named in texts exist."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process import ROOT

PACKAGE = ROOT / "mcpguard"
MOST = 20
WRITTEN = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
NOT_OURS = {"config/gitleaks.toml", "config.toml", "requirements.toml", "/etc/codex/requirements.toml"}
"""Files of other projects: one from which something was made, and those of Codex."""


def folders() -> dict[str, list[str]]:
    """The modules of each folder."""
    found: dict[str, list[str]] = {}
    for path in MODULES:
        if path.name != "__init__.py":
            found.setdefault(path.parent.relative_to(PACKAGE).as_posix(), []).append(path.name)
    return found


def test_no_folder_has_more_files_than_can_be_looked_over() -> None:
    assert {folder: len(files) for folder, files in folders().items() if len(files) > MOST} == {}


def test_a_file_name_is_there_once_in_a_top_folder() -> None:
    names = Counter((folder.partition("/")[0], name) for folder, files in folders().items() for name in files)
    assert [name for name, count in names.items() if count > 1] == []


def named(text: str) -> Iterator[str]:
    """Files that a text names in a code span."""
    for span in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text):
        if re.fullmatch(r"[\w./-]+\.(py|toml|css|js|html)", span):
            yield span


def exists(name: str, *folders: Path) -> bool:
    """Tells whether it is a file of this repository, by its path or by an end of its path that no other file has."""
    if any((folder / name).exists() for folder in (ROOT, PACKAGE, *folders)):
        return True
    return len([path for path in FILES if path.as_posix().endswith(f"/{name}")]) == 1


FILES = [
    path
    for folder in ("mcpguard", "tests", "webui", "migrations", "docs")
    for path in (ROOT / folder).rglob("*.*")
    if "__pycache__" not in path.parts
]


@pytest.mark.parametrize("document", WRITTEN, ids=lambda path: path.name)
def test_files_that_a_document_names_exist(document: Path) -> None:
    found = {*named(document.read_text())} - NOT_OURS
    assert [name for name in sorted(found) if not exists(name, document.parent)] == []


def test_files_that_the_code_names_exist() -> None:
    wrong: list[tuple[str, str]] = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                said = {*named(ast.get_docstring(node) or "")} - NOT_OURS
                wrong += [(path.name, name) for name in said if not exists(name, path.parent)]
    assert wrong == []


def test_a_file_that_is_not_there_is_found() -> None:
    assert [*named("see `guard/gone.py`, `here` and `x = y.py`")] == ["guard/gone.py"]
    assert not exists("guard/gone.py")
    assert exists("guard/calls/handle.py")
    assert exists("handle.py")
    assert not exists("words.py"), "there are several"


def declared() -> dict[str, list[str]]:
    """The modules in which each public class is declared."""
    found: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    return found


def test_the_name_of_a_class_means_one_thing() -> None:
    assert len(declared()) > 700
    assert {name: modules for name, modules in declared().items() if len(modules) > 1} == {}


def test_json_is_declared_once() -> None:
    lines = [path.relative_to(PACKAGE).as_posix() for path in MODULES if "\nJson = " in path.read_text()]
    assert [line for line in lines if not line.startswith("demo/")] == ["domain/json.py"]
