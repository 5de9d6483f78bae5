"""The records about allowances: that one was given, with what it covers, and that it ended.

Arguments are recorded by name. Their values are in the body of the held call, so that pruning and redacting it removes
them everywhere.
"""

from collections.abc import Iterable
from typing import Final

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.calls.allowances import Allowance, AllowanceEnd
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Decision
from mcpguard.guard.servers.facts import Fact
from mcpguard.ledger.format import without_empty

LONGEST_NAMES: Final = 4000
"""Characters of the names of arguments that a record has."""


def given_allowance(allowance: Allowance, decision: Decision) -> Fact:
    """A reviewer allowed a held call and its like for a time."""
    return Fact(
        RecordKind.ALLOWANCE,
        without_empty(
            change="added",
            **_about(allowance),
            same=_names(allowance.same.arguments),
            open=_names(allowance.open),
            calls=allowance.left,
            expires=allowance.until,
            **_by(decision),
        ),
    )


def ended_allowance(allowance: Allowance, cause: AllowanceEnd, decision: Decision | None = None) -> Fact:
    """An allowance ended. `decision`: the reviewer's, if one ended it."""
    said = {"change": "ended", "cause": cause.value, **_about(allowance), "calls": allowance.left}
    return Fact(RecordKind.ALLOWANCE, {**said, **(_by(decision) if decision else {})})


def _about(allowance: Allowance) -> dict[str, Scalar]:
    return without_empty(
        allowance=allowance.id,
        ticket=allowance.ticket,
        caller=allowance.caller,
        caller_label=allowance.caller_label,
        server=allowance.capability.server,
        upstream=allowance.rests.upstream[0],
        capability=allowance.capability.kind.value,
        name=allowance.capability.name,
        effect=allowance.effect,
        fingerprint=allowance.fingerprint,
    )


def _names(names: Iterable[str]) -> str:
    return "\n".join(sorted(names))[:LONGEST_NAMES]


def _by(decision: Decision) -> dict[str, Scalar]:
    by = decision.by
    return without_empty(why=decision.why, by=by.id, via=by.via, process=by.process)
