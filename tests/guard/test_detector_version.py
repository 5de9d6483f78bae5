"""The digest of the detectors is another one as soon as anything that decides about findings is another."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpguard.guard.servers.detector_version import RESTS_ON, ROOT
from mcpguard.guard.servers.listed_findings import OtherTools, resting_on

ASKED = """
import sys
from mcpguard.guard.servers.listed_findings import OtherTools, resting_on
print(resting_on(OtherTools(digest=b"beside"), frozenset({"own"})).hex())
print(*sys.modules)
"""
NO_CODE = "guard/__init__.py"
"""Folders above those that count are imported, and hold nothing but a sentence."""


def asked(root: Path) -> tuple[str, list[str]]:
    """What a process with this package says that findings rest on, and the modules of ours that it needed for that."""
    command = [sys.executable, "-P", "-c", ASKED]
    done = subprocess.run(command, env={"PYTHONPATH": str(root)}, capture_output=True, text=True, check=True)
    digest, modules = done.stdout.splitlines()
    return digest, [each for each in modules.split() if each.startswith("mcpguard.")]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package, whose modules are not newer than what was compiled of them."""
    shutil.copytree(ROOT, tmp_path / "mcpguard", ignore=shutil.ignore_patterns("web", "cli", "gateway"))
    return tmp_path


def word(root: Path) -> None:
    with (root / "inspection/vocabulary/meanings/secrets.txt").open("a") as file:
        file.write("\n")


def weight(root: Path) -> None:
    table = root / "inspection/rules/rules.txt"
    before = table.read_text()
    after = before.replace("critical  0.9   0.45", "critical  0.9   0.46")
    assert after != before
    table.write_text(after)


def attack_weight(root: Path) -> None:
    with (root / "inspection/resemblance/reply_weights.txt").open("a") as file:
        file.write("1.000 heron\n")


def one_more(root: Path) -> None:
    (root / "policy" / "another.py").touch()


def moved(root: Path) -> None:
    languages = root / "inspection/vocabulary/languages"
    (languages / "german.txt").rename(languages / "bavarian.txt")


def test_a_copy_says_the_same_and_whatever_findings_need_is_part_of_it(copied: Path) -> None:
    digest, modules = asked(copied)
    assert digest == resting_on(OtherTools(digest=b"beside"), frozenset({"own"})).hex()
    counts = tuple(f"mcpguard.{folder.replace('/', '.')}" for folder in RESTS_ON)
    assert {each for each in modules if not each.startswith(counts)} == {"mcpguard.guard"}
    (only,) = (ROOT / NO_CODE).read_text().splitlines()
    assert only.startswith('"""')


@pytest.mark.parametrize("change", [word, weight, attack_weight, one_more, moved])
def test_another_version_of_the_detectors_says_something_else(change: Callable[[Path], None], copied: Path) -> None:
    change(copied / "mcpguard")
    digest, _ = asked(copied)
    assert digest != resting_on(OtherTools(digest=b"beside"), frozenset({"own"})).hex()
