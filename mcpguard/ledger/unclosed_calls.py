"""Looks up the opening records of calls that an earlier run or a lost commit left unclosed."""

from collections.abc import Mapping, Sequence

from mcpguard.ledger.format import Fields, call_fields, parse_content
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records


def calls(connection: Connection, chain: str, entries: Sequence[str]) -> Mapping[str, Fields]:
    """For each of these entries, the fields of its opening that a closing repeats. Empty where the opening is not
    readable: the entry is closed all the same, and verifying the log reports it."""
    # Only strings are taken: a record that was tampered with must not make closing fail.
    found = {entry: _said(content) for entry, content in records.openings(connection, chain, entries).items()}
    return {entry: found.get(entry, {}) for entry in entries}


def _said(content: bytes) -> Fields:
    return {name: value for name, value in call_fields(parse_content(content)).items() if isinstance(value, str)}
