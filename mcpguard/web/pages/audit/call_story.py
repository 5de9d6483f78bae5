"""What happened to a call, step by step and in one sentence, as far as its records tell.

A step is a record, or something that a record says. Nothing is made up: when a call was sent is not recorded, so that
step has no time of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mcpguard.domain.reasons import Reason
from mcpguard.web.pages.audit.record_rows import content_row, duration, moment, row

Said = Mapping[str, Any]
_KNOWN: Final = {reason.value: reason.sentence for reason in Reason}
_ENDS: Final = {
    "answered": ("Answered", "approved"),
    "failed": ("Failed", "high"),
    "refused": ("Not sent", "blocked"),
    "held": ("Ended while held", "held"),
    "cancelled": ("Cancelled", "disabled"),
    "unknown": ("Outcome unknown", "unknown"),
}
_VERDICTS: Final = {
    "allow": ("Allowed", "approved"),
    "hold": ("Held for approval", "held"),
    "deny": ("Denied", "blocked"),
}
_CLAUSES: Final = {"refused": "not sent", "held": "ended while held", "unknown": "ended with an unknown outcome"}
_DECIDED: Final = {"allow": "allowed once", "deny": "denied"}
_MOVED: Final = {
    "expire": "expired without an answer",
    "void": "void, because the tool changed",
    "withdraw": "withdrawn",
}
Here = tuple[int | None, str, int]
"""When a step was, how long after the opening, and its record."""


@dataclass(frozen=True, slots=True)
class CallStep:
    """A step. `offset`: how long after the opening; `seq`: the record that says it; `code` and `sentence`: why;
    `quote`: what somebody wrote."""

    title: str
    icon: str
    at: int | None
    offset: str
    seq: int
    code: str = ""
    sentence: str = ""
    quote: str = ""
    rules: tuple[str, ...] = ()
    last_rule: str = ""


def call_steps(found: Sequence[Said], decisions: Sequence[Said]) -> list[CallStep]:
    """Tell the story of a call by its records and the decisions about its hold."""
    first = found[0]["seq"]
    began = moment((found[0]["content"] or {}).get("at"))
    records = sorted([*found, *decisions], key=lambda record: int(record["seq"]))
    steps = [step for record in records for step in _steps(record, began if record["seq"] >= first else None)]
    # A denial and the end of the call give the same reason; it is told once.
    told = [step.code for step in steps]
    return [
        replace(step, code="", sentence="") if step.code and step.code in told[:place] else step
        for place, step in enumerate(steps)
    ]


def call_sentence(found: Sequence[Said], decisions: Sequence[Said], held: str, error: str) -> str:
    """Tell in one sentence what became of a call. `held`: for how long; `error`: of the server, if the call failed."""
    said = by_kind(found)
    clauses = [f"held {held}"] if held else []
    clauses += (clause for each in decisions if (clause := _decision(each["content"] or {})))
    first = said.get("opened", said.get("ran", {}))
    last = said.get("closed", said.get("ended_run"))
    verdict = said.get("released", first).get("verdict")
    if last is None:
        clauses.append("held for approval" if verdict == "hold" else "still running")
    else:
        took, outcome = duration(last.get("took_us")), str(last.get("outcome"))
        clauses.append(_CLAUSES.get(outcome, outcome) + (f" after {took}" if took and outcome != "refused" else ""))
    reason = last.get("reason") if last else None
    sentence = ", ".join(clauses)
    why = _KNOWN.get(str(reason), "").rstrip(".") or error
    return f"{sentence[:1].upper()}{sentence[1:]}{f': {why}' if why else ''}."


def by_kind(found: Sequence[Said]) -> dict[str, Said]:
    """Return the contents of the records of a call by their kind, of each the newest."""
    return {_of(each["content"].get("kind")): each["content"] for each in found if each["content"]}


def _steps(record: Said, began: int | None) -> Iterator[CallStep]:
    said: Said = record["content"] or {}
    at = moment(said.get("at"))
    here = (at, _offset(at, began), record["seq"])
    match said.get("kind"):
        case "opened" | "ran":
            client = _of(said.get("client"))
            declared = _of(said.get("operation")) if said.get("declared") else ""
            sentence = f"{client or 'A client'} over the {_of(said.get('face')) or 'unknown'} face, "
            sentence += f"declared {declared}." if declared else "declared no effect."
            sentence += f" Requested by {_by(said)}." if "by" in said else ""
            yield CallStep("Opened", "person", *here, sentence=sentence, quote=_of(said.get("intent_reason")))
            if "verdict" in said:
                yield _judged(said, (None, "", record["seq"]))
        case "released":
            yield _judged(said, here, again=True)
        case "closed" | "ended_run":
            yield from _ended(said, here)
        case _:
            shown = row(record)
            title = " ".join(each for each in (shown.event.capitalize(), "by" if shown.who else "", _by(said)) if each)
            reason = said.get("reason")
            yield CallStep(title, shown.icon or "info", *here, *_because(reason), quote=_of(said.get("why")))


def _decision(said: Said) -> str:
    """What a person decided about a hold, or how it ended without one."""
    if said.get("kind") == "decided":
        return f"{_DECIDED.get(_of(said.get('answer')), _of(said.get('answer')))} by {_by(said)}"
    return _MOVED.get(_of(said.get("move")), "")


def _judged(said: Said, here: Here, *, again: bool = False) -> CallStep:
    title, icon = _VERDICTS.get(str(said.get("verdict")), ("Evaluated", "unknown"))
    rules = tuple(_of(said.get("rules")).split())
    last = rules[-1] if rules and said.get("verdict") != "allow" else ""
    title = f"{title} when evaluated again" if again else title
    return CallStep(title, icon, *here, *_because(said.get("reason")), rules=rules, last_rule=last)


def _ended(said: Said, here: Here) -> Iterator[CallStep]:
    outcome, executed, took = str(said.get("outcome")), said.get("executed"), duration(said.get("took_us"))
    if executed in ("yes", "unknown") and outcome != "refused":
        sentence = "Whether it was executed is unknown." if executed == "unknown" else ""
        yield CallStep(f"Sent to {_of(said.get('server'))}", "allowed", None, "", here[2], sentence=sentence)
    title, icon = _ENDS.get(outcome, (outcome.capitalize(), "unknown"))
    code, sentence = _because(said.get("reason"))
    sentence += " Recorded late, after an outage or a crash." if said.get("late") else ""
    title += f", closed after {took}" if took else ", closed"
    yield CallStep(title, icon, *here, code, sentence.strip())


def _because(reason: object) -> tuple[str, str]:
    """The code of a reason, and what it means."""
    return _of(reason), _KNOWN.get(str(reason), "")


def _by(said: Said) -> str:
    return content_row(said).who if "by" in said else ""


def _offset(at: int | None, began: int | None) -> str:
    if at is None or began is None or at < began:
        return ""
    return f"+{duration(at - began) or '0 ms'}" if at > began else ""


def _of(value: object) -> str:
    return "" if value is None else str(value)
