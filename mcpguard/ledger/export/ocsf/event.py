"""The common parts of all events: class, time, metadata, and the record itself.

Rules kept here:
1. An attribute has the value of the record, or is left out. If the schema requires one that the record lacks, it is
   `unknown`, 0, or 1970.
2. A value of the wrong type is left out. The record is in `unmapped`, byte for byte, so nothing is lost.
3. Sentences are constants of the guard.
4. Every event of severity Medium or higher is an alert (`is_alert`), in every class, as the schema advises.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from mcpguard import __version__
from mcpguard.codec.canonical import LARGEST
from mcpguard.ledger.export.line import ExportLine

Event = dict[str, Any]
Texts = Mapping[str, str]
"""The fields of a record that are non-empty strings."""

VERSION: Final = "1.8.0"
US: Final = "mcpguard"
PRODUCT: Final = {"name": US, "vendor_name": US, "version": __version__}
UNKNOWN: Final = "unknown"
NOBODY: Final = {"app_name": UNKNOWN}
SECURITY_CONTROL: Final = "security_control"
OTHER: Final = 99
INFORMATIONAL, LOW, MEDIUM, HIGH, CRITICAL = range(1, 6)
SEVERITIES: Final = ("Unknown", "Informational", "Low", "Medium", "High", "Critical")

Status = Mapping[str, int | str]
SUCCESS: Final[Status] = {"status_id": 1, "status": "Success"}
FAILURE: Final[Status] = {"status_id": 2, "status": "Failure"}


class Class:
    """A class of events with its activities, by their ids."""

    def __init__(self, uid: int, name: str, category: tuple[int, str], activities: Mapping[int, str]) -> None:
        self._uid, self._name = uid, name
        self._constant: Event = {"class_uid": uid, "class_name": name, "category_uid": category[0]}
        self._constant |= {"category_name": category[1]}
        self._activities = {id_: self._of(id_, caption) for id_, caption in activities.items()}

    def activity(self, id_: int) -> Mapping[str, Any]:
        """The attributes of an event that say what it is."""
        return self._activities[id_]

    def other(self, name: str) -> Mapping[str, Any]:
        """The attributes of an event whose activity the schema does not have."""
        return {**self._activities[OTHER], "activity_name": name}

    def _of(self, id_: int, caption: str) -> Mapping[str, Any]:
        type_ = f"{self._name}: {caption}"
        type_uid = self._uid * 100 + id_
        return {
            **self._constant,
            "activity_id": id_,
            "activity_name": caption,
            "type_uid": type_uid,
            "type_name": type_,
        }


def event(
    record: ExportLine,
    what: Mapping[str, Any],
    severity: int,
    message: str,
    together: str | None = None,
    *profiles: str,
) -> Event:
    """The event of a record. `together`: the id that it shares with related events; `profiles`: those of the schema."""
    # The schema has `is_alert` in this profile only.
    if severity >= MEDIUM and SECURITY_CONTROL not in profiles:
        profiles = (*profiles, SECURITY_CONTROL)
    said = record.said
    at = number(said, "at")
    uid = f"{record.chain}:{record.seq}"
    metadata = {"version": VERSION, "product": PRODUCT, "uid": uid, "sequence": record.seq, "log_name": US}
    if type(kind := said.get("kind")) is str and kind:
        metadata["event_code"] = kind
    if at is not None:
        metadata["original_time"] = str(at)
    if together is not None:
        metadata["correlation_uid"] = together
    if profiles:
        metadata["profiles"] = profiles
    unmapped: Event = {"record_hash": record.hash.hex()}
    if said and record.raw is not None:
        # The bytes as they were hashed: written anew, nobody could verify them.
        unmapped["record"] = orjson.Fragment(record.raw)
    made = {**what, "time": 0 if at is None else at // 1000, "message": message, "metadata": metadata}
    weigh(made, severity)
    made["unmapped"] = unmapped
    return made


def weigh(made: Event, severity: int) -> None:
    """Set the severity of an event. An alert that is not a finding needs the profile `security_control`."""
    made["severity_id"], made["severity"] = severity, SEVERITIES[severity]
    if severity >= MEDIUM:
        made["is_alert"] = True


def uid_of(capability: str, server: str | None, name: str) -> str:
    """The id of a capability in events: calls and decisions can be joined by it."""
    return f"{capability}:{server or UNKNOWN}:{name}"


def texts(said: Mapping[str, Any]) -> Texts:
    return {key: value for key, value in said.items() if type(value) is str and value}


def number(said: Mapping[str, Any], key: str) -> int | None:
    """A field that is an integer which a record can have; otherwise None."""
    value = said.get(key)
    return value if type(value) is int and -LARGEST <= value <= LARGEST else None


def count_of(said: Mapping[str, Any]) -> Event:
    """The attribute `count`, if the record has one."""
    count = number(said, "count")
    return {} if count is None else {"count": count}


def words(given: str | None) -> list[str]:
    """The items of a list that a record has as one string."""
    return given.split() if given else []


def without_none(pairs: Iterable[tuple[str, str | None]]) -> Event:
    """An object of these pairs, without those that have no value."""
    return {key: value for key, value in pairs if value is not None}
