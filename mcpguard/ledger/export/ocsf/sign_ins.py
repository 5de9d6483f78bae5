"""Events of users who sign in and out: Authentication.

Agents never sign in: they send a token with every request.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Final

from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.ocsf.actors import decider, person
from mcpguard.ledger.export.ocsf.event import (
    FAILURE,
    INFORMATIONAL,
    LOW,
    MEDIUM,
    OTHER,
    SUCCESS,
    UNKNOWN,
    US,
    Class,
    Event,
    Texts,
    count_of,
    event,
    texts,
)

_CAPTIONS: Final = {1: "Logon", 2: "Logoff", OTHER: "Other"}
AUTHENTICATION: Final = Class(3002, "Authentication", (3, "Identity & Access Management"), _CAPTIONS)
_ON, _OFF = AUTHENTICATION.activity(1), AUTHENTICATION.activity(2)
_LONGEST_ADDRESS: Final = 40
_PASSWORD: Final = {"factor_type_id": 11, "factor_type": "Password"}


def sign_in_event(record: ExportLine) -> Event:
    said = texts(record.said)
    made = _event(record, said, _ON, INFORMATIONAL, "A user signed in")
    made |= SUCCESS
    if (method := said.get("method")) is not None:
        password = method == "password"
        made["auth_factors"] = [_PASSWORD if password else {"factor_type_id": OTHER, "factor_type": method}]
    return made


def sign_out_event(record: ExportLine) -> Event:
    said = texts(record.said)
    made = _event(record, said, _OFF, INFORMATIONAL, "A session ended early")
    made |= SUCCESS
    if "by" in said:
        made["actor"] = decider(said)
    if (why := said.get("why")) is not None:
        made["status_detail"] = why
    return made


def refused_sign_in_event(record: ExportLine) -> Event:
    said = texts(record.said)
    why = said.get("why")
    severity = LOW if why == "password" else MEDIUM
    made = _event(record, said, _ON, severity, "A sign-in was refused")
    return {**made, **FAILURE, "status_code": why or UNKNOWN, **count_of(record.said)}


def _event(record: ExportLine, said: Texts, what: Mapping[str, Any], severity: int, message: str) -> Event:
    session = said.get("session")
    made = event(record, what, severity, message, session)
    made["user"] = person(said, said.get("role")) or {"name": UNKNOWN, "type_id": 0, "type": "Unknown"}
    made["service"] = {"name": US}
    if session is not None:
        made["session"] = {"uid": session}
    if (peer := said.get("peer")) is not None:
        made["src_endpoint"] = {"ip": peer} if _is_address(peer) else {"name": peer}
    return made


def _is_address(peer: str) -> bool:
    try:
        ip_address(peer)
    except ValueError:
        return False
    return len(peer) <= _LONGEST_ADDRESS and peer.isprintable()
