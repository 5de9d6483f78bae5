"""A record as a line of a table."""

from datetime import UTC, datetime

import orjson

from mcpguard.ledger.words import Said, result, what, who, why

COLUMNS = ("seq", "time (UTC)", "kind", "who", "what", "effect", "result", "reason")


def row(seq: int, said: Said | None) -> tuple[str, ...]:
    if said is None:
        return (str(seq), "", "pruned", "", "", "", "", "")
    words = (said.get("kind"), who(said), what(said), said.get("effect"), result(said), why(said))
    return (str(seq), time_(said.get("at")), *("" if word is None else str(word) for word in words))


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
