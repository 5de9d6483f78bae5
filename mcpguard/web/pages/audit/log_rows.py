"""A call of the audit log as one row, and other records as sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.guard.audit.log_pages import LogRow
from mcpguard.web.pages.audit.record_rows import content_row, duration, moment, row
from mcpguard.web.pages.audit.reply_text import error_line

Said = Mapping[str, Any]
_OUTCOMES: Final = {
    "answered": ("Sent", "allowed"),
    "failed": ("Failed", "high"),
    "refused": ("Denied", "blocked"),
    "held": ("Held", "held"),
    "cancelled": ("Cancelled", "disabled"),
    "unknown": ("Unknown", "unknown"),
}
"""The word and the icon of each outcome."""
_OPEN: Final = {"hold": ("Held", "held"), "deny": ("Denied", "blocked")}
"""Those of a call that has not ended, by its newest verdict."""
_EVENTS: Final = {
    "Decision": ("decided",),
    "Change": ("admitted", "inspected", "inspection_failed", "listed", "moved", "script", "search_forgotten"),
    "Access": ("granted", "revoked", "person", "operator", "signed_in", "signed_out", "sign_in_refused", "disclosed"),
}
"""The word for kinds of records that are no calls; the rest are of the system."""


@dataclass(frozen=True, slots=True)
class CallState:
    """How a call went: the word and the icon, why in a code or in words, and how long it took. `open`: it has not
    ended; `said`: the words are those of the agent or of the server."""

    word: str
    icon: str
    why: str = ""
    code: bool = False
    said: bool = False
    took: str = ""
    open: bool = False


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call as a row. `seq`: the record at which it stands."""

    seq: int
    entry: str
    at: int | None
    state: CallState
    effect: str
    what: str
    who: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """Another record as a sentence: who did what to what, and why."""

    seq: int
    at: int | None
    word: str
    icon: str
    event: str
    what: str
    who: str
    why: str


def log_row(found: LogRow) -> CallRow | EventRow:
    said = {kind: each["content"] for kind, each in found.call.items() if each["content"]}
    first = said.get("opened") or said.get("ran") or said.get("closed") or said.get("ended_run")
    return _event(found.record) if first is None else _call(found, first, said)


def state(said: Mapping[str, Said], reply: str = "") -> CallState:
    """Tell how a call went by its records, by kind, and the response of one that failed."""
    first = said.get("opened") or said.get("ran") or {}
    last = said.get("closed") or said.get("ended_run")
    if last is None:
        verdict = said.get("released", first).get("verdict")
        reason = said.get("released", first).get("reason")
        word, icon = _OPEN.get(str(verdict), ("Open", "pending"))
        why = _of(reason) or _of(first.get("intent_reason"))
        return CallState(word, icon, why, bool(reason), not reason, "open", open=True)
    outcome, reason = last.get("outcome"), _of(last.get("reason")) or _of(last.get("failure"))
    word, icon = _OUTCOMES.get(str(outcome), (_of(outcome).capitalize(), "unknown"))
    error = error_line(reply) if outcome == "failed" and not reason else ""
    why = reason or error or _of(first.get("intent_reason"))
    return CallState(word, icon, why, bool(reason), bool(not reason), duration(last.get("took_us")))


def call_name(first: Said) -> str:
    """Name what a call is of, by the content of a record: a tool, a script, or a program."""
    if first.get("kind") in ("ran", "ended_run"):
        return _of(first.get("script")) or f"program ({_of(first.get('language')) or 'unknown language'})"
    return content_row(first).what


def _call(found: LogRow, first: Said, said: Mapping[str, Said]) -> CallRow:
    effect = first.get("effect")
    return CallRow(
        found.record["seq"],
        _of(first.get("entry")),
        moment(first.get("at")),
        state(said, found.reply),
        str(effect) if effect in ("read", "write", "destructive") else "",
        call_name(first),
        content_row(first).who,
    )


def _event(record: Said) -> EventRow:
    shown, kind = row(record), (record["content"] or {}).get("kind")
    word = next((word for word, kinds in _EVENTS.items() if kind in kinds), "System")
    icon = "changed" if word == "Change" and shown.icon in ("", "person") else shown.icon
    # What was decided is the event; why says the rest.
    why = _of(record["content"].get("why")) if kind == "decided" else shown.why
    return EventRow(record["seq"], shown.at, word, icon, shown.event, shown.what, shown.who, why)


def _of(value: object) -> str:
    return "" if value is None else str(value)
