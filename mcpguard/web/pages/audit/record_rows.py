"""A record of the audit log as a page shows it: as a row, and field by field.

Nothing is verified here: anybody who can write to the store can make a record say anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from mcpguard.codec.canonical import canonical_json
from mcpguard.domain.errors import Unrecordable
from mcpguard.domain.json import Json
from mcpguard.domain.reasons import Reason
from mcpguard.ledger import words

LATEST: Final = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp()) * 1_000_000
"""The last time that a calendar can show."""
MOST_OF_A_BODY: Final = 100_000
"""The number of characters of a body that a page shows."""
MOST_NAMED: Final = 3
_VERDICTS: Final = {"allow": ("allowed", "allowed"), "hold": ("held", "held"), "deny": ("denied", "blocked")}
"""The label and the icon of each verdict."""
_OUTCOMES: Final = {
    "refused": ("denied", "blocked"),
    "held": ("held", "held"),
    "unknown": ("outcome unknown", "unknown"),
}
_ANSWERS: Final = {
    "approve": "approved",
    "allow": "allowed",
    "permit": "permissions set",
    "screen": "scan mode set",
    "inspect": "inspection requested",
    "enable": "enabled",
    "unblock": "unblocked",
    "reject": "rejected",
    "revoke": "approval revoked",
    "quarantine": "quarantined",
    "disable": "disabled",
    "restart": "restarted",
    "block": "blocked",
    "deny": "denied",
}
"""The label of each decision."""
_EVENTS: Final = {
    "started": "guard started",
    "stopped": "guard stopped",
    "opened": "call started",
    "released": "call evaluated again",
    "asked": "server asked client",
    "heard": "client answered",
    "closed": "call finished",
    "resumed": "recording resumed",
    "admitted": "server entry changed",
    "decided": "decision",
    "moved": "state changed",
    "listed": "listing changed",
    "configured": "settings changed",
    "granted": "token created",
    "revoked": "token revoked",
    "person": "user changed",
    "operator": "API token changed",
    "sign_in_refused": "sign-in failed",
    "disclosed": "tools listed",
    "turned_away": "request refused",
    "lost": "records lost",
    "rolled_back": "rollback detected",
    "rotated": "signing key rotated",
    "retired": "signing key retired",
    "pruned": "log pruned",
    "exported": "log exported",
    "ran": "program run",
    "ended_run": "program ended",
    "script": "script changed",
}
"""The label of each kind of record, where that is not its own name."""
_GRAVE: Final = {"lost": "critical", "rolled_back": "critical", "resumed": "medium", "turned_away": "blocked"}
_BODIES: Final = {
    "opened": "Arguments",
    "ran": "Program and input",
    "ended_run": "Program output",
    "closed": "Response",
    "asked": "Server request",
    "heard": "Client response",
}
_TIMES: Final = frozenset({"at", "since", "expires"})
_CODES: Final = frozenset(
    {"entry", "upstream", "fingerprint", "observed", "approved", "approved_observed", "caller", "settings", "trace"}
    | {"chain", "key", "previous", "after", "proof", "accepted", "body_digest", "body_hmac", "hashes", "keys", "ticket"}
    | {"process", "rules", "artifact", "digest", "continues", "parent", "source", "reason", "prefixes", "user"}
    | {"session", "token", "schema", "allowance", "certificate"}
)
_NUMBERED: Final = frozenset({"first", "last", "acknowledged", "anchored", "found", "upto"})
_LABELS: Final = {
    "seq": "Record",
    "at": "Time",
    "entry": "Call",
    "caller_label": "Caller",
    "caller": "Caller ID",
    "by": "By",
    "via": "Source",
    "why": "Reason given",
    "name": "Name",
    "face": "Face",
    "took_us": "Duration",
    "intent_reason": "Reason given by the agent",
    "operation": "Declared effect",
    "declared": "Intent declared",
    "sensitivity": "Data sensitivity",
    "fingerprint": "Fingerprint",
    "observed": "Observed fingerprint",
    "upstream": "Server ID",
    "v": "Schema version",
    "settings": "Settings in force",
    "address": "Client address",
    "certificate": "Client certificate",
    "key": "Public key",
}


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record as a row. `icon`: of a status, severity or verdict, which sets the colour too; `code`: whether the
    reason is a code of the guard."""

    seq: int
    at: int | None
    event: str
    icon: str
    what: str = ""
    who: str = ""
    effect: str = ""
    why: str = ""
    code: bool = False
    took: str = ""


@dataclass(frozen=True, slots=True)
class ShownBody:
    """The body that belongs to a record. `how`: kept, coded (base64, because it is not text), pruned, too large, or not
    kept."""

    what: str
    size: int | None
    how: str
    text: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ShownField:
    """A field of a record. `how`: text, code, time, or number; `link`: a page about the value; `hint`: its meaning."""

    name: str
    label: str
    value: Any
    how: str = "text"
    link: str = ""
    hint: str = ""


def row(record: Mapping[str, Any]) -> ShownRecord:
    """Make the row of a record; a pruned one has a number and nothing else."""
    content: Mapping[str, Any] | None = record["content"]
    if content is None:
        word = "pruned" if record["pruned"] else "unreadable"
        return ShownRecord(record["seq"], None, word, "disabled" if record["pruned"] else "critical")
    event, icon = _event(content)
    call = content.get("kind") in ("opened", "closed", "released", "ended_run")
    code = content.get("reason")
    why = words.why(content) or content.get("intent_reason")
    if not call and (result := words.result(content)):
        why = f"{result} · {why}" if why else result
    effect = content.get("effect")
    return ShownRecord(
        record["seq"],
        moment(content.get("at")),
        event,
        icon,
        _several(_text(words.what(content))) if content.get("kind") == "configured" else _text(words.what(content)),
        _text(words.who(content)),
        str(effect) if effect in ("read", "write", "destructive") else "",
        _text(why),
        bool(code),
        duration(content.get("took_us")),
    )


def content_row(content: Mapping[str, Any]) -> ShownRecord:
    """Make the row of a record by its content alone, without its number."""
    return row({"seq": 0, "pruned": False, "content": content})


def fields(record: Json) -> list[ShownField]:
    """List every recorded field, the most important to a reader first."""
    said: Mapping[str, Any] = record["content"] or {}
    first = ("kind", "at", "server", "name", "caller_label", "effect", "verdict", "outcome", "reason", "why", "by")
    names = [*(name for name in first if name in said), *(name for name in sorted(said) if name not in first)]
    return [_shown(name, said[name]) for name in names]


def body(record: Json) -> ShownBody | None:
    """Make the shown body of a record, also where it was not kept; None where the record has none."""
    said: Mapping[str, Any] = record["content"] or {}
    kept, size = record["body"], said.get("body_size")
    what = _BODIES.get(_text(said.get("kind")), "Body")
    whole = size if type(size) is int and size >= 0 else None
    if kept is None:
        return (
            None if size is None else ShownBody(what, whole, "too large" if said.get("body_too_large") else "not kept")
        )
    if kept["pruned"]:
        return ShownBody(what, whole, "pruned")
    coded = kept["text"] is None
    text = kept["base64"] if coded else _indented(kept["text"])
    return ShownBody(
        what, whole, "coded" if coded else "kept", text[:MOST_OF_A_BODY], max(0, len(text) - MOST_OF_A_BODY)
    )


def hashed_text(record: Json) -> str:
    """Write the content as it was hashed; empty where no guard can have written it."""
    try:
        return canonical_json(record["content"] or {}).decode() if record["content"] else ""
    except Unrecordable:
        return ""


def moment(at: object) -> int | None:
    """Return a time that a calendar can show, or None."""
    return at if type(at) is int and 0 <= at <= LATEST else None


def _event(content: Mapping[str, Any]) -> tuple[str, str]:
    """The label of what happened, and its icon."""
    kind = _text(content.get("kind"))
    verdict = _text(content.get("verdict"))
    if kind in ("opened", "released") and verdict in _VERDICTS:
        return _VERDICTS[verdict]
    if kind in ("closed", "ended_run"):
        outcome = _text(content.get("outcome"))
        return _OUTCOMES.get(outcome, (outcome, ""))
    label = _EVENTS.get(kind, kind.replace("_", " "))
    if kind == "decided":
        label = _ANSWERS.get(_text(content.get("answer")), label)
    return label, _GRAVE.get(kind, "person" if "by" in content and kind not in ("opened", "closed") else "")


def _shown(name: str, value: object) -> ShownField:
    label = _LABELS.get(name, name.replace("_", " ").capitalize())
    text = _text(value)
    if name in _TIMES and moment(value) is not None:
        return ShownField(name, label, value, "time")
    if name == "took_us":
        return ShownField(name, label, duration(value) or text)
    if name in _NUMBERED and type(value) is int:
        return ShownField(name, label, value, "number", f"/audit/{value}")
    if name == "reason":
        known = Reason.__members__.values()
        hint = next((each.sentence for each in known if each == text), "")
        return ShownField(name, label, text, "code", hint=hint)
    how = "code" if name in _CODES else "text"
    link = {"entry": "/calls/", "continues": "/calls/", "parent": "/calls/", "server": "/servers/"}.get(name, "")
    return ShownField(name, label, _yes(value) if isinstance(value, bool) else text, how, link)


def duration(microseconds: object) -> str:
    if type(microseconds) is not int or microseconds < 0:
        return ""
    if microseconds < 100:
        return "0.1 ms" if microseconds >= 50 else ""
    if microseconds < 10_000:
        return f"{microseconds / 1000:.1f} ms"
    return f"{microseconds // 1000} ms" if microseconds < 1_000_000 else f"{microseconds / 1_000_000:.1f} s"


def _indented(text: str) -> str:
    """Indent JSON where that changes nothing but white space; return other text as it is."""
    try:
        said = orjson.loads(text)
        same = orjson.dumps(said) == text.encode()
    except ValueError:
        return text
    return orjson.dumps(said, option=orjson.OPT_INDENT_2).decode() if same else text


def _several(keys: str) -> str:
    names = keys.split()
    return keys if len(names) <= MOST_NAMED else f"{len(names)} settings"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _text(value: object) -> str:
    return "" if value is None else str(value)
