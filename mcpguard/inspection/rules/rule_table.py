"""The rules of `rules.txt`, by their ids.

To add a rule, add it there, and give a detector the words or the code that finds it. A detector that names a rule which
the table does not have fails at its import.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Final

from mcpguard.domain.findings import Evidence, Finding, Severity

SECRET: Final = "secret.*"  # noqa: S105 - the name of a rule
_FLAGS: Final = frozenset({"hard", "sure", "words"})
_NOT_WEIGHED: Final = "-"
_REMEDY: Final = "> "


@dataclass(frozen=True, slots=True)
class DetectorRule:
    """A rule that text may break. `confidence` is how likely a definition that breaks only this rule is an attack.

    `in_replies`: what it weighs among other signs in a reply; None where it is not weighed. `sure`: every sure attack
    in a reply breaks one of these rules. `why`: what an attacker gains, and what a person should look at. `words`: it
    goes by words that honest texts have too. `section`: what it is about, for short; `remedy`: what to do about it.
    """

    id: str
    threat: str
    severity: Severity
    confidence: float
    title: str
    hard: bool = False
    in_replies: float | None = None
    sure: bool = False
    why: str = ""
    words: bool = False
    section: str = ""
    remedy: str = ""

    def finding_at(self, evidence: Evidence) -> Finding:
        """Return the finding that this rule is broken there."""
        return Finding(self.id, self.threat, self.severity, self.confidence, self.hard, self.title, evidence)


def read_rules(text: str) -> Iterator[DetectorRule]:
    """Yield the rules of a table. Raises ValueError for a line that is none, and for a rule without title or reason."""
    section = remedy = ""
    facts, words = "", list[str]()
    for line in (*text.splitlines(), ""):
        if line.startswith(" "):
            words.append(line.strip())
            continue
        if facts:
            yield replace(_rule(facts, words), section=section, remedy=remedy)
            facts, words = "", []
        if words:
            raise ValueError(f"words that belong to no rule: {words[0]!r}")
        if line.startswith("== ") and line.endswith(" =="):
            section, remedy = line.strip("= "), ""
        elif line.startswith(_REMEDY):
            remedy = line.removeprefix(_REMEDY)
        elif line and line[0] != "#":
            facts = line


def _rule(facts: str, words: list[str]) -> DetectorRule:
    name, threat, severity, confidence, in_replies, *flags = facts.split()
    title, why = words[0] if words else "", " ".join(words[1:])
    if not title or not why or not _FLAGS.issuperset(flags):
        raise ValueError(f"a rule without a title, a reason, or with an unknown flag: {facts!r}")
    weight = None if in_replies == _NOT_WEIGHED else float(in_replies)
    return DetectorRule(
        name,
        threat,
        Severity(severity),
        float(confidence),
        title,
        "hard" in flags,
        weight,
        "sure" in flags,
        why,
        "words" in flags,
    )


def by_id(rules: Iterator[DetectorRule]) -> Mapping[str, DetectorRule]:
    """Return the rules by their ids. Raises ValueError for an id or a title that two rules have."""
    table = dict[str, DetectorRule]()
    titles = set[str]()
    for each in rules:
        if each.id in table or each.title in titles:
            raise ValueError(f"two rules have this id or this title: {each.id}, {each.title!r}")
        table[each.id] = each
        titles.add(each.title)
    return table


RULES: Final = by_id(read_rules(files(__package__).joinpath("rules.txt").read_text("utf-8")))


def secret_rule(kind: str) -> DetectorRule:
    """Return the rule that a text contains a secret of this kind."""
    general = RULES[SECRET]
    return replace(general, id=SECRET.replace("*", kind), title=f"{general.title} ({kind})")


def rule_of(finding: Finding) -> DetectorRule | None:
    """Return the rule that a finding says is broken; None for one of an earlier version that is no longer there."""
    return RULES.get(finding.rule) or (RULES[SECRET] if finding.rule.startswith(SECRET.removesuffix("*")) else None)
