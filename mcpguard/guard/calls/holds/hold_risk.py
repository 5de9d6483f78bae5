"""The risk of a held call, from what is known of it: a level, and the reasons for it in a sentence.

Rules kept here:
1. Only what is known is said. What a call does not name, such as a limit, is not guessed.
2. The risk is high for a destructive call; for one without a precedent that names somebody outside or may contain a
   secret; for a caller who was lately denied what is changed or blocked; and for what has grave findings.
3. Otherwise a call that writes is of medium risk, and one that reads of low risk.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpguard.domain.capabilities import Effect

MOST_NAMED: Final = 3
"""How many destinations the sentence names."""


class RiskLevel(StrEnum):
    """How dangerous it may be to allow a held call."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Precedents:
    """How often held calls of the same capability were allowed. `own`: those of the same caller; `other_versions`:
    those under another definition, which count for nothing; `more`: there are more than were counted."""

    allowed: int = 0
    own: int = 0
    other_versions: int = 0
    more: bool = False


@dataclass(frozen=True, slots=True)
class RiskFacts:
    """What is known of a held call. `secrets`: the rules that suspect a secret in it; `outside`: the destinations in
    its arguments; `denials`: how often its caller was lately denied what is changed or blocked; `findings`: how many
    grave findings the capability has."""

    effect: Effect
    precedents: Precedents = Precedents()
    secrets: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    denials: int = 0
    findings: int = 0


@dataclass(frozen=True, slots=True)
class RiskClause:
    """A part of the sentence about a risk. `grave`: whether it makes the risk high."""

    text: str
    grave: bool = False


@dataclass(frozen=True, slots=True)
class HoldRisk:
    """The risk of a held call, with the clauses of the sentence about it."""

    level: RiskLevel
    clauses: tuple[RiskClause, ...]


def risk_of(facts: RiskFacts) -> HoldRisk:
    """Return the risk of a held call. Its sentence names the effect, the precedent, and what the call reaches."""
    unprecedented = facts.precedents.allowed == 0
    reaches = bool(facts.secrets or facts.outside)
    clauses = [
        RiskClause(facts.effect.value, grave=facts.effect is Effect.DESTRUCTIVE),
        RiskClause(_precedent(facts.precedents), grave=unprecedented and reaches),
    ]
    if facts.outside:
        clauses.append(RiskClause(_destinations(facts.outside), grave=unprecedented))
    if facts.secrets:
        clauses.append(RiskClause(f"may contain a secret ({', '.join(facts.secrets)})", grave=unprecedented))
    if facts.findings:
        noun = "finding" if facts.findings == 1 else "findings"
        clauses.append(RiskClause(f"{facts.findings} critical or high {noun}", grave=True))
    if facts.denials:
        times = "once" if facts.denials == 1 else f"{facts.denials} times"
        clauses.append(RiskClause(f"its caller was just denied changed or blocked tools {times}", grave=True))
    return HoldRisk(_level(facts.effect, clauses), tuple(clauses))


def _level(effect: Effect, clauses: list[RiskClause]) -> RiskLevel:
    if any(clause.grave for clause in clauses):
        return RiskLevel.HIGH
    return RiskLevel.LOW if effect is Effect.READ else RiskLevel.MEDIUM


def _precedent(known: Precedents) -> str:
    if not known.allowed:
        return "never allowed in this version" if known.other_versions else "not allowed in the last 90 days"
    number = f"{known.allowed} or more" if known.more else f"{known.allowed}"
    often = "allowed once" if number == "1" else f"allowed {number} times"
    if known.own == known.allowed:
        return f"{often} in 90 days, always for this caller"
    return f"{often} in 90 days, {f'{known.own} of them' if known.own else 'never'} for this caller"


def _destinations(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return f"names {shown}" + (f" and {more} more destinations" if more > 0 else "")
