"""The audit log as people read it while the guard runs: record after record, as each lies there."""

from dataclasses import dataclass
from typing import Any

from mcpguard.codec.strict import StrictError, parse
from mcpguard.ledger.ledger import Ledger
from mcpguard.store import records
from mcpguard.store.records import StoredRecord
from mcpguard.store.store import Store


@dataclass(frozen=True, slots=True)
class Page:
    """Some records, oldest first. `last`: the number of the newest of them; `more`: whether others follow already."""

    records: tuple[dict[str, Any], ...]
    last: int
    more: bool


class Auditing:
    """Reads the chain that this guard writes."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger

    async def page(self, after: int, limit: int) -> Page:
        """Those that follow the record of this number. Raises StoreUnavailable."""
        chain = self._ledger.chain.id
        found = await self._store.readers.run(lambda connection: records.after(connection, chain, after, limit + 1))
        shown = found[:limit]
        return Page(tuple(map(_said, shown)), shown[-1].seq if shown else after, len(found) > limit)


def _said(record: StoredRecord) -> dict[str, Any]:
    """What was pruned, or cannot be read as one of ours, is told as that."""
    said: dict[str, Any] = {"seq": record.seq, "hash": record.hash.hex()}
    if record.content is None:
        return {**said, "pruned": True, "content": None}
    try:
        content = parse(record.content, max_bytes=len(record.content))
    except StrictError:
        content = None
    return {**said, "pruned": False, "content": content if isinstance(content, dict) else None}
