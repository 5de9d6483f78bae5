"""How records of calls change the counts of calls.

Rules kept here:
1. Each call counts once, in the minute in which it was opened: without an outcome while it is open, and with the one
   of its closing from then on. So the counts follow from the records, however many are read at once.
2. A name that an agent made up is not counted by name. Neither is a resource: agents can ask for any number of them.
3. A duration is counted of a call that was sent, unless it was held: then it says how long a person took.
"""

from collections.abc import Sequence
from typing import Any, Final

from mcpguard.domain.calls.counted_calls import CallChanges, CallValues, DurationValues, Grain
from mcpguard.domain.calls.durations import bucket_of
from mcpguard.domain.calls.outcomes import Executed
from mcpguard.domain.calls.verdicts import Allow, Deny
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.format import parse_content
from mcpguard.store.counts.call_rows import CallRows

LONGEST: Final = 256
"""Characters of a value. A longer one, which no index may be able to hold, counts as none."""
_NAMED: Final = {CapabilityKind.TOOL.value, CapabilityKind.PROMPT.value}
_EXISTING: Final = {
    reason.value for reason in (Reason.CAPABILITY_PENDING, Reason.CAPABILITY_CHANGED, Reason.CAPABILITY_BLOCKED)
}
"""Reasons that only a capability has which its server once listed."""
_ANYTHING: Final = {Reason.CAPABILITY_UNKNOWN.value, Reason.CALLER_REVOKED.value}
"""Reasons that a call gets whatever server it names."""
_NOT_SENT: Final = Executed.NO.value


def changes_of(rows: CallRows) -> CallChanges:
    """How the records that these rows were read from change the counts."""
    changes, known = CallChanges(), dict[Sequence[Any], CallValues]()
    for row in rows.ended:
        is_earlier, content, at = row[:3]
        if type(at) is not int:
            continue  # not written by mcpguard; verifying reports it
        minute, its = at // Grain.MINUTE * Grain.MINUTE, tuple(row[3:])
        values = known.get(its)
        if values is None:  # few are different, and there can be hundreds of thousands of rows
            values = known[its] = _values(*its)
        changes.count_call(minute, values)
        if is_earlier:
            changes.count_call(minute, _values(*its[:7], "", its[6]), -1)
        if values.verdict == Allow.word:
            _count_duration(changes, minute, values, content)
    for at, *said in rows.open:
        if type(at) is int:
            changes.count_call(at // Grain.MINUTE * Grain.MINUTE, _values(*said, "", said[6]))
    return changes


def _count_duration(changes: CallChanges, minute: int, values: CallValues, content: bytes | None) -> None:
    said = parse_content(content)
    took = said.get("took_us")
    if isinstance(took, int) and said.get("executed") != _NOT_SENT:
        changes.count_duration(minute, DurationValues(values.server, values.name, values.caller, bucket_of(took)))


def _values(*cells: Any) -> CallValues:  # noqa: ANN401 - a cell of SQLite holds anything
    """The values that a call counts under. `cells`: those of its opening, then outcome and reason of its closing; of an
    open call, no outcome and the reason of its opening."""
    server, name, caller, capability, effect, verdict, why, outcome, reason = map(_text, cells)
    if capability not in _NAMED or not (effect or why in _EXISTING):
        name = ""
    if verdict == Deny.word and why in _ANYTHING:
        server = name = ""
    return CallValues(server, name, caller, effect, verdict, outcome, reason)


def _text(value: Any) -> str:  # noqa: ANN401 - a cell of SQLite holds anything
    return value if isinstance(value, str) and len(value) <= LONGEST else ""
