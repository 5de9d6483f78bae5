"""A record of the audit log as a page tells it: in a row, and field by field.

Nothing of it is verified here, and who can write the store can have it say anything.
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
"""Times after that no calendar has."""
MOST_OF_A_BODY: Final = 100_000
"""Characters that a page shows."""
MOST_NAMED: Final = 3
_VERDICTS: Final = {"allow": ("allowed", "allowed"), "hold": ("held", "held"), "deny": ("refused", "blocked")}
"""What is said of a verdict, and its icon."""
_OUTCOMES: Final = {"refused": "blocked", "held": "held", "unknown": "unknown"}
_GRAVE: Final = {"lost": "critical", "rolled_back": "critical", "resumed": "medium", "turned_away": "blocked"}
_BODIES: Final = {
    "opened": "Arguments",
    "closed": "What was answered",
    "asked": "What the server asked",
    "heard": "What it was told",
}
_TIMES: Final = frozenset({"at", "since", "expires"})
_CODES: Final = frozenset(
    {"entry", "upstream", "fingerprint", "observed", "approved", "approved_observed", "caller", "settings", "trace"}
    | {"chain", "key", "previous", "after", "proof", "accepted", "body_digest", "body_hmac", "hashes", "keys", "ticket"}
    | {
        "process",
        "rules",
        "artifact",
        "digest",
        "continues",
        "reason",
        "prefixes",
        "user",
        "session",
        "token",
        "schema",
    }
)
_NUMBERED: Final = frozenset({"first", "last", "acknowledged", "anchored", "found", "upto"})
_LABELS: Final = {
    "seq": "Record",
    "at": "Time",
    "entry": "Call",
    "caller_label": "Caller",
    "caller": "Id of the caller",
    "by": "By",
    "via": "Came through",
    "why": "Why",
    "name": "Name",
    "face": "Face",
    "took_us": "Took",
    "intent_reason": "Why, as the agent says",
    "operation": "Declared as",
    "declared": "Intent declared",
    "sensitivity": "Data",
    "fingerprint": "Fingerprint",
    "observed": "Fingerprint seen",
    "upstream": "Id of the server",
    "v": "Version of the format",
    "settings": "Settings in force",
    "key": "Public key",
}


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record in a line. `icon`: of a standing, severity or verdict, which gives the colour too; `code`: whether the
    reason is one of ours."""

    seq: int
    at: int | None
    said: str
    icon: str
    what: str = ""
    who: str = ""
    effect: str = ""
    why: str = ""
    code: bool = False
    took: str = ""


@dataclass(frozen=True, slots=True)
class ShownBody:
    """What lies beside a record. `how`: kept, coded (it is no text), pruned, too large, or not kept."""

    what: str
    size: int | None
    how: str
    text: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ShownField:
    """A field of a record. `how`: text, code, time, or number; `link`: where more of it is; `hint`: what it means."""

    name: str
    label: str
    value: Any
    how: str = "text"
    link: str = ""
    hint: str = ""


def row(record: Json) -> ShownRecord:
    """One that was pruned has a number and nothing else."""
    said: Mapping[str, Any] | None = record["content"]
    if said is None:
        word = "pruned" if record["pruned"] else "unreadable"
        return ShownRecord(record["seq"], None, word, "disabled" if record["pruned"] else "critical")
    happened, icon = _happened(said)
    call = said.get("kind") in ("opened", "closed", "released")
    code = said.get("reason")
    why = words.why(said) or said.get("intent_reason")
    if not call and (result := words.result(said)):
        why = f"{result} · {why}" if why else result
    effect = said.get("effect")
    return ShownRecord(
        record["seq"],
        moment(said.get("at")),
        happened,
        icon,
        _several(_text(words.what(said))) if said.get("kind") == "configured" else _text(words.what(said)),
        _text(words.who(said)),
        str(effect) if effect in ("read", "write", "destructive") else "",
        _text(why),
        bool(code),
        _took(said.get("took_us")),
    )


def fields(record: Json) -> list[ShownField]:
    """Every field that was recorded, in the order in which they matter to a person."""
    said: Mapping[str, Any] = record["content"] or {}
    first = ("kind", "at", "server", "name", "caller_label", "effect", "verdict", "outcome", "reason", "why", "by")
    names = [*(name for name in first if name in said), *(name for name in sorted(said) if name not in first)]
    return [_shown(name, said[name]) for name in names]


def body(record: Json) -> ShownBody | None:
    """What lies beside a record, or would if it were kept."""
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


def recorded(record: Json) -> str:
    """The content as it was hashed; empty where it is none of ours."""
    try:
        return canonical_json(record["content"] or {}).decode() if record["content"] else ""
    except Unrecordable:
        return ""


def moment(at: object) -> int | None:
    """A time that a calendar has."""
    return at if type(at) is int and 0 <= at <= LATEST else None


def _happened(said: Mapping[str, Any]) -> tuple[str, str]:
    kind = _text(said.get("kind"))
    verdict = _text(said.get("verdict"))
    if kind in ("opened", "released") and verdict in _VERDICTS:
        return _VERDICTS[verdict]
    if kind == "closed":
        outcome = _text(said.get("outcome"))
        return outcome, _OUTCOMES.get(outcome, "")
    word = kind.replace("_", " ")
    return word, _GRAVE.get(kind, "person" if "by" in said and kind not in ("opened", "closed") else "")


def _shown(name: str, value: object) -> ShownField:
    label = _LABELS.get(name, name.replace("_", " ").capitalize())
    text = _text(value)
    if name in _TIMES and moment(value) is not None:
        return ShownField(name, label, value, "time")
    if name == "took_us":
        return ShownField(name, label, _took(value) or text)
    if name in _NUMBERED and type(value) is int:
        return ShownField(name, label, value, "number", f"/audit/{value}")
    if name == "reason":
        known = Reason.__members__.values()
        hint = next((each.sentence for each in known if each == text), "")
        return ShownField(name, label, text, "code", hint=hint)
    how = "code" if name in _CODES else "text"
    link = {"entry": "/calls/", "continues": "/calls/", "server": "/servers/"}.get(name, "")
    return ShownField(name, label, _yes(value) if isinstance(value, bool) else text, how, link)


def _took(microseconds: object) -> str:
    if type(microseconds) is not int or microseconds < 0:
        return ""
    if microseconds < 100:
        return "0.1 ms" if microseconds >= 50 else ""
    if microseconds < 10_000:
        return f"{microseconds / 1000:.1f} ms"
    return f"{microseconds // 1000} ms" if microseconds < 1_000_000 else f"{microseconds / 1_000_000:.1f} s"


def _indented(text: str) -> str:
    """JSON over several lines, where it says the very same then; otherwise as it is."""
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
