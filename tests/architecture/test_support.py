"""What several tests use is in a module of its own: no module of the tests imports another one's tests to get at it."""

import ast
from collections.abc import Iterator

import pytest

from tests.process import ROOT

TESTS = ROOT / "tests"
PREFIX = "test_"


def with_tests(tree: ast.Module) -> Iterator[str]:
    """Modules with tests that are imported, wherever that is done, and in whichever form."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(each.name for each in node.names)]
        yield from (name for name in names if name.rpartition(".")[2].startswith(PREFIX))


def test_no_module_imports_from_one_with_tests() -> None:
    trees = {path.relative_to(TESTS).as_posix(): ast.parse(path.read_bytes()) for path in TESTS.rglob("*.py")}
    assert len(trees) > 700
    found = {name: [*with_tests(tree)] for name, tree in trees.items()}
    assert {name: imported for name, imported in found.items() if imported} == {}


@pytest.mark.parametrize(
    "line",
    [
        "from tests.gateway.test_proxy import value",
        "from tests.gateway.test_proxy import value as said",
        "import tests.gateway.test_proxy",
        "import json, tests.gateway.test_proxy as proxy",
        "from tests.gateway import speaking, test_proxy",
        "from .test_proxy import value",
        "from . import test_proxy",
        "def late() -> None:\n    from tests.gateway.test_proxy import value",
    ],
)
def test_an_import_from_one_with_tests_is_found(line: str) -> None:
    (found,) = with_tests(ast.parse(line))
    assert found.endswith("test_proxy")


@pytest.mark.parametrize(
    "line",
    [
        "from tests.gateway.proxy_tool import value",
        "from tests.gateway.speaking import HOWS as test_hows",
        "from tests.test_data.samples import one",
        "import tests.gateway.latest_proxy",
    ],
)
def test_an_import_of_anything_else_is_none(line: str) -> None:
    assert [*with_tests(ast.parse(line))] == []
