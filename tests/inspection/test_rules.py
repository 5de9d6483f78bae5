"""The table of rules: each says what is done and why that matters, and each is used by the code that finds it."""

import re
from pathlib import Path

import pytest

import mcpguard
from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.inspection.rules import rule_table
from mcpguard.inspection.rules.rule_table import RULES, SECRET, read_rules, rule_of, secret_rule

LONGEST_TITLE = 75
ROW = "a.b  T1  low  0.1  -"
SAID = "\n    Does something\n    It matters. Look there.\n"


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_a_rule_says_what_is_done_and_why_that_matters(rule: rule_table.DetectorRule) -> None:
    assert re.match(r"(?!Its?\b)[A-Z][a-z]+s\b", rule.title)
    assert not rule.title.endswith(".")
    assert len(rule.title) <= LONGEST_TITLE
    assert re.fullmatch(r"[A-Z].{30,200}[.]", rule.why)
    assert rule.why.count(". ") >= 1, "what an attacker gains, then what to look at"
    assert rule.section


def test_titles_can_be_told_apart() -> None:
    titles = [re.sub(r"\W+", " ", rule.title).casefold() for rule in RULES.values()]
    assert len(titles) == len(set(titles)) > 100


def test_each_rule_is_used_by_the_code_that_finds_it() -> None:
    """A rule without a detector promises what nobody looks for."""
    sources = "\n".join(path.read_text() for path in Path(mcpguard.__file__).parent.rglob("*.py"))
    assert [name for name in RULES if name != SECRET and f'"{name}"' not in sources] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ROW, "without a title"),
        (f"{ROW}\n    Does something\n", "without a title"),
        (f"{ROW} soft{SAID}", "unknown flag"),
        (f"{ROW}{SAID}\n    More words\n", "belong to no rule"),
        (f"a.b  T1  low{SAID}", "not enough values"),
        (f"a.b  T1  awful  0.1  -{SAID}", "awful"),
    ],
)
def test_a_row_that_is_not_complete_is_an_error(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        list(read_rules(text))


@pytest.mark.parametrize("row", [ROW, ROW.replace("a.b", "a.c")])
def test_two_rules_have_neither_the_same_id_nor_the_same_title(row: str) -> None:
    with pytest.raises(ValueError, match="two rules"):
        rule_table.by_id(read_rules(f"{ROW}{SAID}{row}{SAID}"))


def test_a_row_says_all_that_a_rule_is() -> None:
    (rule,) = read_rules(f"# comment\n\n== Of a kind ==\na.b  T1  high  0.5  0.25  hard sure{SAID}# comment\n")
    assert rule == rule_table.DetectorRule(
        "a.b",
        "T1",
        Severity.HIGH,
        0.5,
        "Does something",
        True,
        0.25,
        True,
        "It matters. Look there.",
        section="Of a kind",
    )


def test_a_finding_of_an_earlier_version_may_have_a_rule_that_is_gone() -> None:
    def named(rule: str) -> Finding:
        return Finding(rule, "T1", Severity.LOW, 0.1, False, "A title", Evidence("", 0, 0))

    assert rule_of(named("gone.by")) is None
    assert rule_of(named("secrecy.order")) is RULES["secrecy.order"]
    assert rule_of(named("secret.github_token")) is RULES[SECRET]
    assert rule_of(named("secret.given")) is RULES["secret.given"]
    assert secret_rule("github_token").title == "Contains a secret (github_token)"
