"""Held calls as cards of a page: each call with the links and texts that its card shows."""

from collections import Counter
from typing import Any, Final
from urllib.parse import urlencode

from mcpguard.codec.filters import write
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Answer
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.domain.findings import Severity
from mcpguard.domain.json import Json
from mcpguard.domain.usual_reasons import HeldReason
from mcpguard.guard.calls.holds.held_calls import allowance_tag, tag
from mcpguard.inspection.diff.clipping import clip, value_as_text
from mcpguard.web.pages.base.reason_choice import reason_groups

MOST_SHOWN: Final = 8
"""Calls and answers that a card lists; a link leads to all of them."""
MOST_OF_A_VALUE: Final = 120
"""Characters of a value beside the name of its argument."""
TONES: Final = {"high": "critical", "medium": "medium", "low": "low"}
"""The tone and icon of each level of risk."""
_VERDICTS: Final = {"allow": ("allowed", "Allowed"), "hold": ("held", "Held"), "deny": ("blocked", "Denied")}
_ANSWERS: Final = {Answer.ALLOW.value: ("approved", "Allowed"), Answer.DENY.value: ("blocked", "Denied")}
_UNKNOWN: Final = ("unknown", "Unknown")


def card(call: Json) -> Json:
    """Return a held call with its tag, its arguments and all that is sent as text (empty if there are none), its
    context, its number of findings and the usual reasons for answering it.
    """
    counts = Counter(finding["severity"] for finding in call["findings"])
    context = call.get("context")
    return {
        **call,
        "tag": tag(call["state"], call["until"]),
        "written": _as_text(call["arguments"]),
        "beside": _as_text(call["meta"]),
        "all": _as_text(call["sent"]),
        "counts": [(each.value, counts[each.value]) for each in reversed(Severity) if counts[each.value]],
        "context": None if context is None else _shown_context(call, context),
        "reasons": reason_groups(HeldReason, "To allow" if call["state"] == "waiting" else "", "To deny"),
        "choices": _choices(call),
    }


def allowance_row(allowance: Json) -> Json:
    """Return an allowance with its tag and the filter of the calls that it let through."""
    made = _kind(RecordKind.OPENED), _term(FilterKey.CALLER, allowance["caller"]["id"])
    its = _term(FilterKey.SERVER, allowance["server"]), _term(FilterKey.NAME, allowance["name"])
    return {**allowance, "tag": allowance_tag(allowance), "made_at": _audit(Filter((*made, *its), allowance["at"]))}


def _choices(call: Json) -> list[Json]:
    """Return the arguments from which a reviewer chooses those whose values must stay the same for a time."""
    offered, arguments = call["allowance"], call["arguments"]
    if offered["why_not"] or not isinstance(arguments, dict):
        return []
    return [
        {"name": name, "value": clip(value_as_text(arguments.get(name)), MOST_OF_A_VALUE)}
        | {"same": name not in offered["open"]}
        for name in offered["arguments"]
    ]


def _as_text(value: Any) -> str:  # noqa: ANN401 - JSON
    return "" if value is None else value_as_text(value)


def _shown_context(call: Json, context: Json) -> Json:
    recent, past = context["recent"], context["precedents"]
    calls = [{**each, "shown": _VERDICTS.get(each["verdict"], _UNKNOWN)} for each in recent["calls"][:MOST_SHOWN]]
    answers = [{**each, "shown": _ANSWERS.get(each["answer"], _UNKNOWN)} for each in past["answers"][:MOST_SHOWN]]
    made = Filter((_term(FilterKey.CALLER, call["caller"]["id"]), _kind(RecordKind.OPENED)), since=recent["since"])
    its = (_term(FilterKey.SERVER, call["server"]), _term(FilterKey.NAME, call["name"]), _kind(RecordKind.DECIDED))
    return {
        **context,
        "tone": TONES[context["risk"]["level"]],
        "calls": calls,
        "made": len(recent["calls"]),
        "made_at": _audit(made),
        "answers": answers,
        "answered": len(past["answers"]),
        "answered_at": _audit(Filter(its, since=past["since"])),
    }


def _term(key: FilterKey, value: str) -> FilterTerm:
    return FilterTerm(key, (value,))


def _kind(kind: RecordKind) -> FilterTerm:
    return _term(FilterKey.KIND, kind.value)


def _audit(wanted: Filter) -> str:
    """Return the URL of the audit log with a filter."""
    return "/audit?" + urlencode({"q": write(wanted)})
