"""Finds what reviewers answered to earlier held calls of one capability.

The work is limited: only the newest decisions are looked through, whose numbers an index has.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.capabilities import Capability
from mcpguard.store.rows.records import WHOLE, StoredRecord, stored_record
from mcpguard.store.rows.tables import OTHERWISE, records


@dataclass(frozen=True, slots=True)
class LookBack:
    """How far is looked back: no record before the time `since`, at most `limit` of the newest `among` decisions."""

    since: int
    limit: int
    among: int


def past_answers(connection: Connection, chain: str, about: Capability, look_back: LookBack) -> Sequence[StoredRecord]:
    """Return the records of answers to held calls of this capability, the newest first."""
    decided = records.c.chain == chain, records.c.kind == RecordKind.DECIDED.value, OTHERWISE
    newest = select(records.c.seq).where(*decided).order_by(records.c.seq.desc())
    first = connection.scalar(newest.offset(look_back.among - 1).limit(1)) or 0
    its = (
        records.c.seq >= first,
        records.c.at >= look_back.since,
        records.c.server == about.server,
        records.c.capability == about.kind.value,
        records.c.name == about.name,
        # Decisions about the capability itself have no caller.
        records.c.caller.is_not(None),
    )
    query = select(*WHOLE).where(*decided, *its).order_by(records.c.seq.desc()).limit(look_back.limit)
    return [stored_record(row) for row in connection.execute(query)]
