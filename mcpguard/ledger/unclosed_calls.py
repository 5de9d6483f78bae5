"""Calls that an earlier run, or a lost commit, left open: what their openings say."""

from collections.abc import Mapping, Sequence

from mcpguard.ledger.format import Fields, about, parsed
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records


def calls(connection: Connection, chain: str, entries: Sequence[str]) -> Mapping[str, Fields]:
    """What the closings of these entries repeat of them. Nothing where an opening cannot be read any more: whoever
    verifies the log is told of that, and it keeps no call open."""
    found = {entry: _said(content) for entry, content in records.openings(connection, chain, entries).items()}
    return {entry: found.get(entry, {}) for entry in entries}


def _said(content: bytes) -> Fields:
    return {name: value for name, value in about(parsed(content)).items() if isinstance(value, str)}
