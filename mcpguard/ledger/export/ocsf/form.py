"""The form `ocsf`: one event per record, on one line.

Rules kept here:
1. Each record is mapped independently to exactly one event, whatever its kind and content: no state, no omissions.
2. An event is valid OCSF 1.8, on one line of JSON. Content that is not one JSON object on one line is included as text.
"""

from collections.abc import Callable, Mapping
from typing import Final

import orjson

from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.ocsf import calls, entities, findings, log_and_guard, sign_ins
from mcpguard.ledger.export.ocsf.event import Event

_OPTIONS: Final = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
KINDS: Final[Mapping[str, Callable[[ExportLine], Event]]] = {
    "started": log_and_guard.start_event,
    "stopped": log_and_guard.stop_event,
    "opened": calls.opened_event,
    "released": calls.released_event,
    "asked": calls.question_event,
    "heard": calls.question_outcome_event,
    "closed": calls.closed_event,
    "ran": calls.run_event,
    "ended_run": calls.ended_run_event,
    "script": entities.script_event,
    "allowance": entities.allowance_event,
    "resumed": log_and_guard.resumption_event,
    "admitted": entities.admission_event,
    "decided": entities.decision_event,
    "moved": entities.status_change_event,
    "listed": findings.finding_event,
    "inspected": entities.inspection_event,
    "inspection_failed": entities.failed_inspection_event,
    "configured": entities.settings_event,
    "granted": entities.token_grant_event,
    "revoked": entities.token_revocation_event,
    "person": entities.user_event,
    "operator": entities.operator_token_event,
    "signed_in": sign_ins.sign_in_event,
    "signed_out": sign_ins.sign_out_event,
    "sign_in_refused": sign_ins.refused_sign_in_event,
    "disclosed": calls.disclosure_event,
    "search_used": calls.search_use_event,
    "search_forgotten": entities.search_forgotten_event,
    "turned_away": calls.refused_request_event,
    "lost": log_and_guard.loss_event,
    "pruned": log_and_guard.pruning_event,
    "exported": log_and_guard.export_event,
    "rolled_back": log_and_guard.rollback_event,
    "rotated": log_and_guard.key_rotation_event,
    "retired": log_and_guard.key_retirement_event,
}


class Ocsf:
    """The form for SIEMs: events of OCSF 1.8, one on each line."""

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
        return log_and_guard.pruned_record_event(record)
    # A line break in the content would make two lines of one event.
    if not record.said or b"\n" in raw or b"\r" in raw:
        return log_and_guard.unreadable_event(record)
    kind = record.said.get("kind")
    make = KINDS.get(kind) if isinstance(kind, str) else None
    return (make or log_and_guard.unknown_kind_event)(record)
