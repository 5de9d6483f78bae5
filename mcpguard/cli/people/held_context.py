"""What helps to answer a held call, as rows of a table."""

from collections.abc import Iterator
from typing import Final

from mcpguard.cli.shared.common import moment
from mcpguard.domain.json import Json

MOST_SHOWN: Final = 20
"""Calls and answers that are shown; the JSON has all that were read."""
_MARKERS: Final = {"added": "+", "removed": "-", "kept": ""}


def context_rows(context: Json) -> Iterator[tuple[str, str]]:
    """Yield the rows: the risk first, then earlier answers, the caller's calls, and what differs from the last one."""
    risk, recent, past = context["risk"], context["recent"], context["precedents"]
    yield "risk", f"{risk['level']}: {'; '.join(clause['text'] for clause in risk['clauses'])}"
    yield (
        "like it",
        f"{_many(past['answers'], more=past['more'])} in 90 days, {past['allowed']} allowed in this version",
    )
    yield from (("", _answer(each)) for each in past["answers"][:MOST_SHOWN])
    yield "caller", f"{_many(recent['calls'], more=recent['more'])} in 10 minutes, {recent['denied']} denied"
    yield from (("", _call(each)) for each in recent["calls"][:MOST_SHOWN])
    if (compared := context["compared"]) is not None:
        yield "compared", f"with the last one that was allowed, {moment(compared['at'])} UTC ({compared['ticket']})"
        yield from (("", each) for each in _differences(compared["diff"]))


def _many(found: list[Json], *, more: bool) -> str:
    return f"{len(found)} or more" if more else str(len(found))


def _answer(answer: Json) -> str:
    version = "" if answer["same_version"] else ", another version"
    done = "allowed" if answer["answer"] == "allow" else "denied"
    return f"{moment(answer['at'])} {done} for {answer['caller']['name']} by {answer['by']}: {answer['why']}{version}"


def _call(call: Json) -> str:
    reason = f" ({call['reason']})" if call["reason"] else ""
    return f"{moment(call['at'])} {call['verdict']} {call['server']}:{call['name']}{reason}"


def _differences(diff: Json | None) -> Iterator[str]:
    """Yield a line for each difference between the arguments."""
    if diff is None:
        yield "arguments pruned, or not kept"
        return
    if not diff["changes"]:
        yield "the same arguments"
    for change in diff["changes"]:
        if change["words"] is None:
            parts = [f"{sign}{change[side]}" for sign, side in (("-", "before"), ("+", "after")) if change[side]]
        else:
            parts = [f"{_MARKERS[word['fate']]}{word['text']}" for word in change["words"] if word["fate"] != "kept"]
        yield f"{change['path'] or 'all'} {change['kind']}: {' '.join(parts)}"
    yield from diff["left_out"]
