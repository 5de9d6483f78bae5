"""Which counted calls a filter of the audit log means, where it asks for nothing that is not counted."""

from collections.abc import Callable
from typing import Final

from mcpguard.domain.calls.counted_calls import CountFilter, Grain
from mcpguard.domain.filters import BadFilter, Filter, FilterKey

USUAL_SPAN: Final = 24 * Grain.HOUR
_FIELDS: Final = {
    FilterKey.SERVER: "server",
    FilterKey.TOOL: "name",
    FilterKey.PROMPT: "name",
    FilterKey.CALLER: "caller",
    FilterKey.EFFECT: "effect",
    FilterKey.VERDICT: "verdict",
    FilterKey.OUTCOME: "outcome",
    FilterKey.REASON: "reason",
}


def count_filter(wanted: Filter, caller_id: Callable[[str], str]) -> CountFilter:
    """The same filter of counted calls. `caller_id`: the id of a caller, by its id or label. Raises BadFilter."""
    values = dict[str, str]()
    for term in wanted.terms:
        field = _FIELDS.get(term.key)
        if field is None:
            raise BadFilter(f"calls are not counted by {term.key}; keys are {', '.join(_FIELDS)}, since, until")
        (value, *more) = term.values
        if term.without or more or field in values or "*" in value or "?" in value:
            raise BadFilter(f"{term.key}: calls are counted for one value; give one, without minus and wildcards")
        values[field] = caller_id(value) if field == "caller" else value
    return CountFilter(**values)


def count_span(wanted: Filter, now: int) -> tuple[int, int]:
    """The span that a filter means: up to now where it has no end, and a day where it has no beginning."""
    until = now if wanted.until is None else wanted.until
    return (until - USUAL_SPAN if wanted.since is None else wanted.since), until
