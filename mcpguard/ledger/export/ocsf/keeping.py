"""What the guard says of itself and of its log: Application Lifecycle, Event Log Activity, and what has no class.

Rules kept here:
1. Whatever interrupts, shortens or copies the log is Event Log Activity: a SIEM watches that class for exactly this.
2. A record that is not there any more is an event all the same; so is one of a kind that we do not know, and so is
   content that is no record of ours. They have no class: Base Event.
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


def started(record: ExportLine) -> Event:
    said = texts(record.said)
    made = event(record, APPLICATION.activity(3), INFORMATIONAL, "The guard started")
    app = {**PRODUCT, "version": said.get("version", UNKNOWN)}
    return {**made, **SUCCESS, "app": app}


def stopped(record: ExportLine) -> Event:
    said = texts(record.said)
    made = event(record, APPLICATION.activity(4), INFORMATIONAL, "The guard stopped")
    made |= {**SUCCESS, "app": {"name": US, "vendor_name": US}}
    if (why := said.get("why")) is not None:
        made["status_detail"] = why
    return made


def resumed(record: ExportLine) -> Event:
    made = _of_log(record, _RESTART, HIGH, "The guard could not record for a time")
    since, refused = number(record.said, "since"), number(record.said, "refused")
    if since is not None:
        made |= {"start_time": since // 1000, "end_time": made["time"]}
    if refused is not None:
        made["count"] = refused
    return made


def lost(record: ExportLine) -> Event:
    return {**_of_log(record, _LOST, CRITICAL, "Records that had been stored were found missing"), **FAILURE}


def pruned(record: ExportLine) -> Event:
    """By a person, or by itself as the settings say; the latter is nothing to look at each time."""
    severity = MEDIUM if "by" in texts(record.said) else LOW
    return _of_log(record, _DELETE, severity, "Records or bodies were removed on purpose")


def exported(record: ExportLine) -> Event:
    return _of_log(record, _EXPORT, LOW, "The log was exported")


def rotated(record: ExportLine) -> Event:
    return _of_log(record, _ROTATED, LOW, "Another key signs the log from here on")


def retired(record: ExportLine) -> Event:
    return _of_log(record, _RETIRED, INFORMATIONAL, "The key that signed before is kept nowhere any more")


def rolled_back(record: ExportLine) -> Event:
    return {**_of_log(record, _BACK, CRITICAL, "The store was not the one that the anchors say"), **FAILURE}


def unknown(record: ExportLine) -> Event:
    """A record of a kind that we do not know."""
    kind = texts(record.said).get("kind")
    what = BASE.activity(0) if kind is None else BASE.other(kind)
    return event(record, what, INFORMATIONAL, "A record of another kind")


def gone(record: ExportLine) -> Event:
    """A record whose content was pruned. When it was is gone too."""
    return event(record, BASE.other("Pruned"), INFORMATIONAL, "The content of this record was pruned")


def unreadable(record: ExportLine) -> Event:
    """Content that is no record of ours: somebody has edited it. It is given as text."""
    bare, text = record._replace(said={}), record.raw or b""
    made = event(bare, BASE.other("Unreadable"), HIGH, "The content of this record is none that the guard writes")
    made["unmapped"]["content"] = text.decode(errors="replace")
    return made


def _of_log(record: ExportLine, what: Mapping[str, Any], severity: int, message: str) -> Event:
    said = texts(record.said)
    made = event(record, what, severity, message)
    made |= {**SUCCESS, **_THIS_LOG, "actor": decider(said)}
    if (why := said.get("why")) is not None:
        made["status_detail"] = why
    return made
