"""What the ledger says of the calls that were made, read from the database after the guard has ended."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpguard.store.engine.offline import open_offline
from mcpguard.store.rows import chains, records
from tests.soak.book import ANSWERED, BUSY, FAILED, GIVEN_UP, LOST, UNREACHABLE, Asked, Book

OUTCOMES = {ANSWERED: "answered", FAILED: "failed", LOST: "unknown", UNREACHABLE: "refused", BUSY: "refused"}


@dataclass
class Entry:
    """A call as the ledger has it."""

    trace: str
    closings: int = 0
    outcome: str = ""
    reason: str = ""


def kept(database: Path) -> tuple[dict[str, Entry], Counter[str]]:
    """All entries by their id, and how many records of each kind there are."""
    entries: dict[str, Entry] = {}
    kinds: Counter[str] = Counter()
    for record in _every(database):
        kinds[record["kind"]] += 1
        if record["kind"] == "opened":
            kinds["opened twice"] += record["entry"] in entries
            entries[record["entry"]] = Entry(record.get("trace", ""))
        elif record["kind"] == "closed" and record["entry"] in entries:
            entry = entries[record["entry"]]
            entry.closings += 1
            entry.outcome, entry.reason = record["outcome"], record.get("reason", "")
        elif record["kind"] == "closed":
            kinds["closed and never opened"] += 1
    return entries, +kinds


def compare(entries: dict[str, Entry], book: Book) -> None:
    """Every call that was answered is one entry, closed once and with the same end; and there is no other entry."""
    found: dict[str, list[tuple[str, Entry]]] = {}
    for id_, entry in entries.items():
        book.check(entry.closings == 1, f"the entry {id_} has {entry.closings} closings")
        book.check(entry.trace in book.asked, f"the entry {id_} is nobody's: {entry}")
        found.setdefault(entry.trace, []).append((id_, entry))
    for asked in book.asked.values():
        _compare(asked, found.get(asked.trace, []), book)


def _compare(asked: Asked, found: list[tuple[str, Entry]], book: Book) -> None:
    if not asked.recorded:
        book.check(not found, f"{asked} is no call, and is recorded: {found}")
    elif asked.how == GIVEN_UP:
        book.check(len(found) <= 1, f"{asked} is recorded {len(found)} times: {found}")
    elif len(found) != 1:
        book.blame(f"{asked} is recorded {len(found)} times: {found}")
    else:
        ((id_, entry),) = found
        outcome = OUTCOMES.get(asked.how, "refused")
        reason = "" if asked.how in (ANSWERED, FAILED) else asked.how
        book.check((entry.outcome, entry.reason) == (outcome, reason), f"{asked} is recorded as {entry}")
        book.check(asked.call_id in ("", id_), f"{asked} is the entry {id_}")


def _every(database: Path) -> Iterator[dict[str, Any]]:
    with open_offline(database) as connect, connect() as connection:
        for chain in chains.list_chains(connection):
            for record in records.walk(connection, chain, 2**62):
                if record.content is not None:
                    yield json.loads(record.content)
