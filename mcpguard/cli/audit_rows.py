"""A record as a line of a table."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

Said = Mapping[str, Any]
COLUMNS = ("seq", "time (UTC)", "kind", "who", "what", "effect", "result", "reason")


def row(seq: int, said: Said | None) -> tuple[str, ...]:
    if said is None:
        return (str(seq), "", "pruned", "", "", "", "", "")
    reason = said.get("reason") or said.get("why")
    words = (said.get("kind"), _who(said), _what(said), said.get("effect"), _result(said), reason)
    return (str(seq), time_(said.get("at")), *("" if word is None else str(word) for word in words))


def _who(said: Said) -> object:
    """Whoever called, decided or signed in; of what nobody is known for, from where it came."""
    return said.get("caller_label") or said.get("by") or said.get("user_name") or said.get("caller") or said.get("peer")


def _result(said: Said) -> object:  # noqa: PLR0911 - a line for each form
    """How it ended; of a decision and a move what it was, and where the thing stands since then."""
    match said:
        case {"answer": "screen", "screening": mode}:
            return f"screen: {mode}"
        case {"answer": done, "before": before, "after": after} | {"move": done, "before": before, "after": after}:
            return f"{done}: {before} → {after}"
        case {"change": change, "before": before, "role": role}:
            return f"{change}: {before} → {role}"
        case {"change": change, "after": after}:
            return f"{change}: {after}"
        case {"change": change}:
            return change
        case {"kind": "listed", "new": new, "changed": changed, "gone": gone}:
            return f"{new} new, {changed} changed, {gone} gone"
        case {"count": 1, "names": names}:
            return f"{names} names"
        case {"count": count}:
            return f"{count} times"
        case _:
            return said.get("outcome") or said.get("verdict") or said.get("action") or said.get("what")


def _what(said: Said) -> object:  # noqa: PLR0911 - a line for each form
    """Of a call what is called; of a question who asks for what; of people whom it is about; of settings which.

    Of what is about a whole server, that one; of what belongs to a call and does not say which thing, to which call.
    """
    match said:
        case {"server": server, "name": name}:
            return f"{server}:{name}"
        case {"server": server, "entry": _, "method": method}:
            return f"{server} asks {method}"
        case {"kind": "disclosed" | "signed_in", "method": method}:
            return method
        case {"kind": "turned_away", "door": door}:
            return door
        case {"kind": "configured", "keys": keys}:
            return keys
        case {"kind": "granted" | "revoked" | "person" | "operator", **named}:
            return next((named[key] for key in ("user_name", "token_name", "caller_label") if key in named), "")
        case {"server": server}:
            return server
        case {"first": first, "last": last, "what": what}:
            return f"{what} {first} to {last}"
        case {"version": version}:
            return f"mcpguard {version}"
        case _:
            return said.get("entry", "")


def time_(at: object) -> str:
    try:
        return f"{datetime.fromtimestamp(float(str(at)) / 1e6, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]
    except (ValueError, OverflowError, OSError):
        return "impossible"


def said(content: bytes | None) -> Said | None:
    """What a record says. It is not verified here, so it may be anything."""
    if content is None:
        return None
    try:
        said = orjson.loads(content)
    except ValueError:
        said = None
    return said if isinstance(said, dict) else {"kind": "unreadable: run mcpguard audit verify"}
