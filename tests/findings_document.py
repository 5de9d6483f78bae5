"""docs/findings.md: every rule of inspection and screening, and why it matters (`tests.documents`)."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from mcpguard.inspection.rules.rule_table import RULES, DetectorRule


def markdown(made: str) -> str:
    """Return the document. `made` says where it comes from."""
    parts = groupby(RULES.values(), lambda rule: rule.section)
    return "\n".join(
        (
            "# Findings",
            "",
            made,
            "",
            "What inspection finds in definitions and launches, and screening in replies: what is done, why it",
            "matters, and what to look at ([detection](detection.md), [screening](screening.md)). *Confidence*: how",
            "likely a definition that breaks only this rule is an attack. *In replies*: what the rule weighs among",
            "other signs in a reply, where it is weighed. A *hard* rule flags alone. Pages, `mcpguard tool show` and",
            "REST show the title, the reason, the words at the place, and what encoded words decode to.",
            *(line for name, rules in parts for line in _part(name, rules)),
            "",
        )
    )


def _part(name: str, rules: Iterable[DetectorRule]) -> Iterator[str]:
    every = tuple(rules)
    yield from ("", f"## {name}", "", every[0].remedy, "")
    yield "| rule | finding | why it matters | severity | confidence | in replies | threat |"
    yield "|---|---|---|---|---|---|---|"
    yield from map(_row, every)


def _row(rule: DetectorRule) -> str:
    severity = f"{rule.severity}, hard" if rule.hard else rule.severity
    weight = "" if rule.in_replies is None else f"{rule.in_replies:g}"
    title = rule.title.replace("<", "`<").replace(">", ">`")
    return f"| `{rule.id}` | {title} | {rule.why} | {severity} | {rule.confidence:g} | {weight} | {rule.threat} |"
