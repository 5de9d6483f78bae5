"""The form `ocsf`: one event for each record, a line each.

Rules kept here:
1. Each record by itself becomes exactly one event, whatever it is and whatever it holds: nothing is remembered, nothing
   left out.
2. What is written is valid OCSF 1.8 and one line of JSON. Content that is not one JSON object on one line is given as
   text.
"""

from collections.abc import Callable, Mapping
from typing import Final

import orjson

from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.ocsf import calls, entities, findings, keeping, signing
from mcpguard.ledger.export.ocsf.event import Event

_OPTIONS: Final = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
KINDS: Final[Mapping[str, Callable[[ExportLine], Event]]] = {
    "started": keeping.started,
    "stopped": keeping.stopped,
    "opened": calls.opened,
    "released": calls.released,
    "asked": calls.asked,
    "heard": calls.heard,
    "closed": calls.closed,
    "resumed": keeping.resumed,
    "admitted": entities.admitted,
    "decided": entities.decided,
    "moved": entities.moved,
    "listed": findings.listed,
    "inspected": entities.inspected,
    "inspection_failed": entities.inspection_failed,
    "configured": entities.configured,
    "granted": entities.granted,
    "revoked": entities.revoked,
    "person": entities.of_person,
    "operator": entities.of_operator,
    "signed_in": signing.signed_in,
    "signed_out": signing.signed_out,
    "sign_in_refused": signing.refused,
    "disclosed": calls.disclosed,
    "turned_away": calls.turned_away,
    "lost": keeping.lost,
    "pruned": keeping.pruned,
    "exported": keeping.exported,
    "rolled_back": keeping.rolled_back,
    "rotated": keeping.rotated,
    "retired": keeping.retired,
}


class Ocsf:
    """Events of OCSF 1.8, a line each."""

    word = "ocsf"
    suffix = ".ocsf.jsonl"
    media = "application/x-ndjson"

    def head(self) -> bytes:
        return b""

    def line(self, record: ExportLine) -> bytes:
        return orjson.dumps(_event(record), option=_OPTIONS)


def _event(record: ExportLine) -> Event:
    raw = record.raw
    if raw is None:
        return keeping.gone(record)
    if not record.said or b"\n" in raw or b"\r" in raw:
        return keeping.unreadable(record)
    kind = record.said.get("kind")
    make = KINDS.get(kind) if isinstance(kind, str) else None
    return (make or keeping.unknown)(record)
