"""Detects replies that imitate a refusal of mcpguard: an agent that believes one repeats a call that was executed.

Rules kept here:
1. A reply in the form of mcpguard's refusals is a hard finding: no ordinary reply has all these members and values.
2. A sentence like mcpguard's own is a soft finding, because manuals contain them too.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.text.linear import compile_pattern

_NOWHERE: Final = Evidence("", 0, 0)
_RULE: Final = RULES["speaking.guard"]
_STATUS: Final = frozenset({"held", "refused", "withheld"})
_EXECUTED: Final = frozenset({"no", "yes", "unknown"})
HINTS: Final = compile_pattern("read_more|[Gg]uard|GUARD|executed")
"""What every reply has that imitates a refusal, in its texts or in the names of its members."""
_WRITTEN: Final = re.compile(
    r'"status"\s*:\s*"(?:held|refused|withheld)"[^{}]{0,400}"executed"\s*:\s*"(?:no|yes|unknown)"'
    r'|"executed"\s*:\s*"(?:no|yes|unknown)"[^{}]{0,400}"status"\s*:\s*"(?:held|refused|withheld)"'
)
_SAID: Final = re.compile(
    r"(?i)\bread_more\b.{0,80}\bkey\b|\bkey\b.{0,80}\bread_more\b"
    r"|\b(?:mcpguard|the guard)\b.{0,80}\b(?:cut|held|refused|withheld|executed|blocked)\b"
)


def find_forged_refusal(value: Mapping[str, Any], whole: str) -> Finding | None:
    """Return the finding in a reply or an error, if any. `whole`: all of its text."""
    if any(_is_refusal(value.get(name)) for name in ("structuredContent", "data")):
        return _RULE.finding_at(_NOWHERE)
    if not HINTS.search(whole.encode(errors="replace")):
        return None
    if _WRITTEN.search(whole):
        return _RULE.finding_at(_NOWHERE)
    if not _SAID.search(whole):
        return None
    return replace(_RULE.finding_at(_NOWHERE), severity=Severity.MEDIUM, confidence=0.5, hard=False)


def _is_refusal(value: object) -> bool:
    match value:
        case {"status": str(status), "executed": str(executed)}:
            return status in _STATUS and executed in _EXECUTED
        case _:
            return False
