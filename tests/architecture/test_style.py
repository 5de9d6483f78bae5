"""How the package is written, as far as a program can tell; ruff looks after the rest."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.process import ROOT

PACKAGE = ROOT / "mcpguard"
LONGEST_FILE = 300
LONGEST_FUNCTION = 60
FOLDERS = {".ci", "docs", "mcpguard", "migrations", "tests", "webui"}
BROAD = {"Exception", "BaseException"}
ALLOWED = {
    ("client/serving.py", "Exception"): "what a handler fails at is logged, and an error of the tool",
    ("gateway/tools/proxy.py", "Exception"): "what goes wrong in one call of a batch is logged, and ends that call",
    ("gateway/methods.py", "Exception"): "what goes wrong in one request is told to one client and logged",
    ("guard/servers/listed_findings.py", "Exception"): "what inspection fails at is logged and is a finding",
    (
        "guard/servers/intake.py",
        "Exception",
    ): "what one server's listing makes go wrong is logged and keeps that server out",
    (
        "guard/review/inspection.py",
        "Exception",
    ): "what one inspection that nobody waits for makes go wrong is logged and told",
    (
        "guard/search/tool_search.py",
        "Exception",
    ): "what one server's texts make go wrong is logged and keeps that server out",
    ("gateway/http/http_door.py", "Exception"): "one request that goes wrong is logged, and ends with 500",
    ("guard/audit/verification.py", "Exception"): "what lies in a store makes one verification fail, and not the guard",
    (
        "store/engine/writer.py",
        "BaseException",
    ): "whoever waits for the writer must hear of its failure, whatever it is",
    ("store/engine/writer.py", "Exception"): "what goes wrong in a job is its caller's, who gets it",
    ("upstreams/supervise/visit.py", "Exception"): "what one server makes go wrong is logged and ends that visit only",
    (
        "upstreams/supervise/supervisor.py",
        "Exception",
    ): "what one server makes go wrong is logged and ends that connection only",
}
OWNERS = {
    "gateway/http/reply.py": "an answer ends its own tasks, which most have none of",
    "app/tls_listener.py": "uvicorn closes a listener and waits for it, as for one of its own",
}
"""Who starts tasks without a group, and waits for their end."""
OWNERLESS = {"create_task", "ensure_future", "run_coroutine_threadsafe"}


@cache
def modules() -> tuple[tuple[str, str, ast.Module], ...]:
    """Every module of ours: its name, its text and its tree."""
    paths = {path: path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    return tuple((path.relative_to(PACKAGE).as_posix(), text, ast.parse(text, path)) for path, text in paths.items())


def broadly_caught(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            if node.type is None:
                yield "everything"
            else:
                yield from (part.id for part in ast.walk(node.type) if isinstance(part, ast.Name) and part.id in BROAD)


def test_there_is_something_to_look_at() -> None:
    assert len(modules()) > 50


def test_files_are_short() -> None:
    assert not [name for name, text, _ in modules() if len(text.splitlines()) > LONGEST_FILE]


def test_functions_are_short() -> None:
    functions = (
        (name, node)
        for name, _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert not [(name, node.name) for name, node in functions if length(node) > LONGEST_FUNCTION]


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def test_a_module_begins_by_saying_what_it_is() -> None:
    assert not [name for name, _, tree in modules() if not ast.get_docstring(tree)]


def test_exceptions_are_caught_by_name_but_for_a_few_with_a_reason() -> None:
    found = {(name, caught) for name, _, tree in modules() for caught in broadly_caught(tree)}
    assert found == ALLOWED.keys()


def test_tasks_have_an_owner() -> None:
    """Tasks are started in a task group; for what `asyncio` starts on its own nobody waits, but for one that does."""
    nodes = ((name, node) for name, _, tree in modules() for node in ast.walk(tree))
    found = {
        name
        for name, node in nodes
        if (isinstance(node, ast.Attribute) and node.attr in OWNERLESS)
        or (isinstance(node, ast.Name) and node.id in OWNERLESS)
        or (isinstance(node, ast.alias) and node.name in OWNERLESS)
    }
    assert found == OWNERS.keys()


def test_the_top_level_folders_are_the_ones_that_were_agreed() -> None:
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    assert {Path(name).parts[0] for name in listed if "/" in name} == FOLDERS
