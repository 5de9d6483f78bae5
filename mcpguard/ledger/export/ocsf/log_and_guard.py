"""Events of the guard itself and of its log: Application Lifecycle, Event Log Activity, and Base Event.

Rules kept here:
1. Anything that interrupts, shortens or copies the log is Event Log Activity: SIEMs watch that class for this.
2. Pruned records, records of an unknown kind, and records that mcpguard did not write still become events. They have no
   class: Base Event.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.ocsf.actors import decider
from mcpguard.ledger.export.ocsf.event import (
    CRITICAL,
    FAILURE,
    HIGH,
    INFORMATIONAL,
    LOW,
    MEDIUM,
    OTHER,
    PRODUCT,
    SUCCESS,
    UNKNOWN,
    US,
    Class,
    Event,
    event,
    number,
    texts,
)

APPLICATION: Final = Class(6002, "Application Lifecycle", (6, "Application Activity"), {3: "Start", 4: "Stop"})
_LOG_CAPTIONS: Final = {2: "Delete", 3: "Export", 8: "Restart", OTHER: "Other"}
LOG: Final = Class(1008, "Event Log Activity", (1, "System Activity"), _LOG_CAPTIONS)
BASE: Final = Class(0, "Base Event", (0, "Uncategorized"), {0: "Unknown", OTHER: "Other"})
_DELETE, _EXPORT, _RESTART = map(LOG.activity, (2, 3, 8))
_LOST, _BACK = LOG.other("Lost"), LOG.other("Rolled back")
_ROTATED, _RETIRED = LOG.other("Key rotated"), LOG.other("Key retired")
_THIS_LOG: Final = {"log_name": US, "log_provider": US, "log_type_id": 2, "log_type": "Application"}


def start_event(record: ExportLine) -> Event:
    said = texts(record.said)
    made = event(record, APPLICATION.activity(3), INFORMATIONAL, "The guard started")
    app = {**PRODUCT, "version": said.get("version", UNKNOWN)}
    return {**made, **SUCCESS, "app": app}


def stop_event(record: ExportLine) -> Event:
    said = texts(record.said)
    made = event(record, APPLICATION.activity(4), INFORMATIONAL, "The guard stopped")
    made |= {**SUCCESS, "app": {"name": US, "vendor_name": US}}
    if (why := said.get("why")) is not None:
        made["status_detail"] = why
    return made


def resumption_event(record: ExportLine) -> Event:
    made = _of_log(record, _RESTART, HIGH, "The audit log could not be written for a time")
    since, refused = number(record.said, "since"), number(record.said, "refused")
    if since is not None:
        made |= {"start_time": since // 1000, "end_time": made["time"]}
    if refused is not None:
        made["count"] = refused
    return made


def loss_event(record: ExportLine) -> Event:
    return {**_of_log(record, _LOST, CRITICAL, "Stored records were found missing"), **FAILURE}


def pruning_event(record: ExportLine) -> Event:
    """Something was pruned: by a person, or, with less severity, by the guard as its settings say."""
    severity = MEDIUM if "by" in texts(record.said) else LOW
    return _of_log(record, _DELETE, severity, "Records or bodies were removed on purpose")


def export_event(record: ExportLine) -> Event:
    return _of_log(record, _EXPORT, LOW, "The audit log was exported")


def key_rotation_event(record: ExportLine) -> Event:
    return _of_log(record, _ROTATED, LOW, "The signing key was rotated")


def key_retirement_event(record: ExportLine) -> Event:
    return _of_log(record, _RETIRED, INFORMATIONAL, "The previous signing key was deleted")


def rollback_event(record: ExportLine) -> Event:
    return {**_of_log(record, _BACK, CRITICAL, "The store did not match the external anchors"), **FAILURE}


def unknown_kind_event(record: ExportLine) -> Event:
    """A record of an unknown kind."""
    kind = texts(record.said).get("kind")
    what = BASE.activity(0) if kind is None else BASE.other(kind)
    return event(record, what, INFORMATIONAL, "A record of an unknown kind")


def pruned_record_event(record: ExportLine) -> Event:
    """A record whose content was pruned, its time included."""
    return event(record, BASE.other("Pruned"), INFORMATIONAL, "The content of this record was pruned")


def unreadable_event(record: ExportLine) -> Event:
    """A record with content that mcpguard does not write: somebody edited it. The content is included as text."""
    bare, text = record._replace(said={}), record.raw or b""
    made = event(bare, BASE.other("Unreadable"), HIGH, "The content of this record was not written by the guard")
    made["unmapped"]["content"] = text.decode(errors="replace")
    return made


def _of_log(record: ExportLine, what: Mapping[str, Any], severity: int, message: str) -> Event:
    said = texts(record.said)
    made = event(record, what, severity, message)
    made |= {**SUCCESS, **_THIS_LOG, "actor": decider(said)}
    if (why := said.get("why")) is not None:
        made["status_detail"] = why
    return made
