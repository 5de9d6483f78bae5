"""Modules, classes, functions and methods are named by nouns or verb phrases, and docstrings are sentences."""

import ast
import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.process import ROOT

PACKAGE: Final = ROOT / "mcpguard"
PARTICIPLES: Final = frozenset(
    re.findall(
        r"\w+",
        """begun bound broken brought built caught chosen dealt done drawn fallen fed felt forbidden forgotten
        fought found frozen given gone got grown heard held hidden kept known laid led left lent lost made
        meant met overridden paid risen said seen sent shown sold spent spoken stolen stood struck swept
        taken thrown told torn understood won written""",
    )
)
PARTICLES: Final = frozenset(
    re.findall(
        r"\w+",
        """aboard about after again along apart around aside away back before behind below beneath beside
        besides between beyond by down during except from here in inside into later like near never now of
        off often on once only onto out outside over past since soon still then there through to toward
        under until up upon with within without""",
    )
)
"""Prepositions and adverbs."""
NOUNS_AND_VERBS: Final = frozenset({"embed", "exceed", "feed", "indeed", "need", "proceed", "seed", "speed"})
PUBLIC: Final = frozenset({"Unauthorized", "Forbidden", "Moved", "Crowded", "Executed"})
"""Words of specifications, of problem types and of the API's schemas: programs read them."""
IDIOMS: Final = frozenset({"now"})
"""What every clock can tell."""

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def is_bare(name: str) -> bool:
    """Tells whether a name is nothing but a participle, a preposition or an adverb."""
    word = name.lower()
    if len(re.findall(r"[A-Z]?[a-z0-9]+", name)) != 1:
        return False
    regular = word.endswith("ed") and len(word) > 4 and word not in NOUNS_AND_VERBS
    return regular or word in PARTICIPLES or word in PARTICLES


def definitions(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, Definition]]:
    """Yields the public classes, functions and methods, each with its whole name; properties may be adjectives."""
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            if not any("property" in ast.unparse(each) for each in node.decorator_list):
                yield f"{within}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from definitions(node.body, f"{node.name}.")


def test_no_name_is_a_bare_participle_preposition_or_adverb() -> None:
    bare: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(ROOT).as_posix()
        bare += [module] if is_bare(path.stem) else []
        named = definitions(ast.parse(path.read_bytes()).body)
        bare += [f"{module} {name}" for name, node in named if is_bare(node.name) and node.name not in PUBLIC | IDIOMS]
    assert bare == []


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("found", True),
        ("Beside", True),
        ("screened", True),
        ("find_tools", False),
        ("ToolHit", False),
        ("need", False),
        ("is_open", False),
    ],
)
def test_a_bare_name_is_known(name: str, bare: bool) -> None:
    assert is_bare(name) is bare
