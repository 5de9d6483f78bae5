"""Stored records and bodies as JSON, as pages, the API and commands show them: nothing is verified, nothing hidden."""

import base64
from typing import Any

from mcpguard.codec.strict import StrictError, parse
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records
from mcpguard.store.rows.records import StoredRecord


def record_json(record: StoredRecord) -> dict[str, Any]:
    """Number, hash and content of a record; content that is no JSON object, or was pruned, is None."""
    said: dict[str, Any] = {"seq": record.seq, "hash": record.hash.hex()}
    if record.content is None:
        return {**said, "pruned": True, "content": None}
    return {**said, "pruned": False, "content": json_object(record.content)}


def body_json(connection: Connection, chain: str, seq: int) -> dict[str, Any] | None:
    """The body of a record, as text, or in base64 where it is no text; None where it has none."""
    body = records.body(connection, chain, seq)
    if body is None:
        return None
    if body.content is None:
        return {"pruned": True, "text": None, "base64": None}
    text = _text(body.content)
    coded = base64.b64encode(body.content).decode() if text is None else None
    return {"pruned": False, "text": text, "base64": coded}


def json_object(content: bytes) -> dict[str, Any] | None:
    try:
        said = parse(content, max_bytes=len(content))
    except StrictError:
        return None
    return said if isinstance(said, dict) else None


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
