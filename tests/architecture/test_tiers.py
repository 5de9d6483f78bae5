"""Every test is in a tier, and every rule that puts one there is of use."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process import environment
from tests.tiers import ROOT, RULES, TESTS, Rule, Tier, asked, generates, left_out, possible, tiers_of

NOT_OURS = {".git", ".tools", ".venv", "build", "dist"}
TOOLS = "tests/conformance/sdk_server/"
"""Its tools are called as the conformance suite calls them: `test_…`."""


def files() -> Iterator[str]:
    """Every file with Python of ours."""
    for folder in sorted(ROOT.iterdir()):
        if folder.is_dir() and folder.name not in NOT_OURS:
            yield from (path.relative_to(ROOT).as_posix() for path in sorted(folder.rglob("*.py")))


def has_tests(file: str) -> bool:
    """Whether it has functions that are called like tests."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse((ROOT / file).read_bytes())
    return any(isinstance(node, kinds) and node.name.startswith("test_") for node in tree.body)


FILES = [*files()]
TEST_FILES = [file for file in FILES if Path(file).match(TESTS)]


def test_every_test_is_in_a_file_that_is_run() -> None:
    assert len(TEST_FILES) > 400
    assert [file for file in FILES if not file.startswith("tests/") and Path(file).match(TESTS)] == []
    helpers = [file for file in FILES if file.startswith("tests/") and file not in TEST_FILES]
    assert [file for file in helpers if has_tests(file) and not file.startswith(TOOLS)] == []
    assert [file for file in TEST_FILES if not possible(file)] == []


def test_every_case_is_in_a_tier_and_its_file_is_read_there() -> None:
    ruled = (part for rule in RULES for part in rule.cases.split("|"))
    names = dict.fromkeys(["test_x", *(f"test_many[{number}]" for number in range(9)), *ruled])
    for file in TEST_FILES:
        for generated in {False, generates(file)}:
            found = tiers_of(file, dict.fromkeys(names, generated))
            assert found.keys() == names.keys()
            assert all(found.values())
            assert frozenset[Tier]().union(*found.values()) <= possible(file), file


def test_of_cases_that_are_alike_the_fast_tier_has_some() -> None:
    ways = [f"{how}-{over}" for how in "abcdefgh" for over in "abcd"]
    for name in ("test_one", "test_other", "test_third"):
        alone, many = [f"{name}[{way}]" for way in ways], [f"{name}_{number}" for number in range(20)]
        assert left_out("tests/x/test_x.py", many[:1]) == set()
        assert len(left_out("tests/x/test_x.py", many)) == 15
        left = left_out("tests/x/test_x.py", alone)
        pairs = [way for way in ways if f"{name}[{way}]" not in left]
        assert len(pairs) == len({pair[0] for pair in pairs}) == len({pair[2] for pair in pairs}) == 2


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.files} {rule.cases}".strip())
def test_every_rule_has_a_reason_and_decides_something(rule: Rule) -> None:
    assert rule.why
    earlier = RULES[: RULES.index(rule)]
    for part in rule.cases.split("|"):
        fitting = [file for file in TEST_FILES if rule.fits(file, part)]
        assert [file for file in fitting if not any(one.fits(file, part) for one in earlier)]


def test_whoever_names_a_path_gets_all_of_it() -> None:
    assert asked(Tier.FAST, []) is Tier.FAST
    assert asked(Tier.FAST, ["tests/browser"]) is None
    assert asked(Tier.SLOW, ["tests/browser"]) is Tier.SLOW
    assert asked(None, []) is None


def collected(*arguments: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *arguments]
    env = environment({"PYTEST_ADDOPTS": ""})  # whoever runs this may want to see more of it
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if "::" in line}


def test_nothing_is_left_out_between_the_tiers() -> None:
    fast, slow, every = collected("--tier", "fast"), collected("--tier", "slow"), collected()
    assert fast | slow == every
    assert fast - slow
    assert slow - fast
    for rule in RULES:
        cases = [case.partition("::") for case in (slow if rule.tier is Tier.SLOW else fast)]
        assert [file for file, _, name in cases if rule.fits(file, name)], rule


def test_of_each_threat_the_fast_tier_has_a_test() -> None:
    fast = {case.partition("::")[0] for case in collected("--tier", "fast")}
    rows = [row for row in (ROOT / "docs" / "threats.md").read_text().splitlines() if row.startswith("| ")]
    for row in rows[1:]:
        named = re.findall(r"\(\.\./(tests/[^)]+)\)", row)
        assert [file for file in fast if file.startswith((*named,))], row
