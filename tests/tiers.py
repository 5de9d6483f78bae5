"""Which tests are in which tier: `make test` runs the fast one, `make test-all` both.

Rules kept here:
1. What is named nowhere is fast, so that a new test runs everywhere unless somebody gives a reason here.
2. The first rule that fits a case decides. A rule without `cases` fits whole files, which the other tier does not even
   import.
3. A test under `@given` that is fast is in both tiers: with few examples in the fast one, and with all of them in the
   slow one. What else generates examples says how many, and is in one.
4. Whatever is named on the command line is run, whichever its tier: see `asked`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, settings

ROOT: Final = Path(__file__).parents[1]
TESTS: Final = "test_*.py"
FEWER: Final = 10
"""The fast tier tries so many times fewer examples."""


class Tier(StrEnum):
    FAST = "fast"
    SLOW = "slow"


@dataclass(frozen=True)
class Rule:
    """Files, and with `cases` only those of their cases in whose name (with its parameters) this is found."""

    tier: Tier
    files: str
    why: str
    cases: str = ""

    def fits(self, file: str, name: str) -> bool:
        return fnmatchcase(file, self.files) and re.search(self.cases, name) is not None


RULES: Final = (
    Rule(Tier.FAST, "tests/browser/test_held.py", "one story in a real browser", "call_comes_while_somebody_looks"),
    Rule(Tier.SLOW, "tests/browser/*", "a browser draws every page"),
    Rule(Tier.SLOW, "tests/conformance/*", "programs from npm, and every case of the conformance suite"),
    Rule(Tier.SLOW, "tests/documentation/*", "a newcomer's whole hour, and the whole site"),
    Rule(Tier.SLOW, "tests/soak/*", "a load for half a minute"),
    Rule(Tier.SLOW, "tests/stories/test_wheel.py", "a wheel is built, installed and run"),
    Rule(Tier.SLOW, "tests/upstreams/packages/test_installing.py", "packages come from their registries"),
    Rule(Tier.SLOW, "tests/upstreams/packages/test_bringing.py", "packages come from their registries"),
    Rule(
        Tier.SLOW, "tests/architecture/test_tiers.py", "the whole suite is collected three times", "nothing_is_left_out"
    ),
)
OTHERWISE: Final = Rule(Tier.FAST, "*", "nobody gave a reason")


def tiers_of(file: str, name: str, *, generated: bool) -> frozenset[Tier]:
    """The tiers of one case: its file from the root on, its name with its parameters; `generated`: under `@given`."""
    if generated and not generates(file):
        raise ValueError(f"{file} has to import hypothesis itself, or nobody knows that the slow tier has to read it")
    first = next((rule.tier for rule in RULES if rule.fits(file, name)), Tier.FAST)
    return frozenset(Tier) if first is Tier.FAST and generated else frozenset({first})


def possible(file: str) -> frozenset[Tier]:
    """The tiers that cases of this file can be in."""
    found: set[Tier] = set()
    for rule in (*RULES, OTHERWISE):
        if fnmatchcase(file, rule.files):
            found.add(rule.tier)
            if not rule.cases:
                break
    return frozenset(Tier) if Tier.FAST in found and generates(file) else frozenset(found)


@cache
def generates(file: str) -> bool:
    """Whether cases of this file may be under `@given`."""
    return "hypothesis" in (ROOT / file).read_text()


def asked(tier: Tier | None, paths: Iterable[str]) -> Tier | None:
    """The tier that is run: None for all. Whoever names paths means what is in them."""
    return None if tier is Tier.FAST and [*paths] else tier


def prepare_examples(tier: Tier | None) -> None:
    """From now on tests generate as many examples as this tier has."""
    settings.register_profile(
        "patient",
        settings.get_profile(settings.get_current_profile_name()),
        deadline=None,  # no example is wrong because the machine has much to do
        suppress_health_check=[HealthCheck.too_slow],
    )
    few = settings.get_profile("patient").max_examples // FEWER
    settings.register_profile("fast", settings.get_profile("patient"), max_examples=few)
    settings.load_profile("fast" if tier is Tier.FAST else "patient")


def examples(number: int) -> int:
    """So many examples, or the share of them that this tier has."""
    return max(1, number // FEWER) if settings.get_current_profile_name() == "fast" else number
