"""Status, action, disposition and severity of a call, by its verdict, outcome and reason.

Rules kept here:
1. Values not in a table are mapped conservatively: to unknown, and worth a review.
2. A reason can raise the severity, but never lower it.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.domain.reasons import Reason
from mcpguard.ledger.export.ocsf.event import FAILURE, INFORMATIONAL, LOW, MEDIUM, OTHER, SUCCESS, Event, weigh

_ALLOWED: Final = {"action_id": 1, "action": "Allowed", "disposition_id": 1, "disposition": "Allowed"}
_DENIED: Final = {"action_id": 2, "action": "Denied", "disposition_id": 2, "disposition": "Blocked"}
_UNAUTHORIZED: Final = {"disposition_id": 26, "disposition": "Unauthorized"}
_FAILED: Final = {"disposition_id": 27, "disposition": "Error"}
_CORRECTED: Final = {"action_id": 4, "action": "Modified", "disposition_id": 11, "disposition": "Corrected"}
_WAITS: Final = {"action_id": OTHER, "action": "Held", "disposition_id": 14, "disposition": "Delayed"}
_NOT_KNOWN: Final = {"action_id": 0, "action": "Unknown", "disposition_id": 0, "disposition": "Unknown"}
_OPEN: Final = {"status_id": OTHER}
UNCLEAR: Final = {"status_id": 0, "status": "Unknown"}

DONE: Final[Mapping[str, Any]] = {**SUCCESS, **_ALLOWED}
REFUSED: Final[Mapping[str, Any]] = {**FAILURE, **_DENIED}
VERDICTS: Final[Mapping[str | None, Mapping[str, Any]]] = {
    "allow": {**_OPEN, "status": "allow", **_ALLOWED},
    "hold": {**_OPEN, "status": "hold", **_WAITS},
    "deny": REFUSED,
}
OUTCOMES: Final[Mapping[str | None, Mapping[str, Any]]] = {
    "answered": DONE,
    "failed": {**FAILURE, **_ALLOWED},
    "refused": REFUSED,
    "held": {**_OPEN, "status": "held", **_WAITS},
    "cancelled": {**_OPEN, "status": "cancelled", **_ALLOWED},
    "unknown": {**UNCLEAR, **_ALLOWED},
}
MASKED: Final[Mapping[str, Any]] = {**SUCCESS, **_CORRECTED}
ODD: Final[Mapping[str, Any]] = {**UNCLEAR, **_NOT_KNOWN}
"""The attributes for a word that no table has."""

_SUBJECTS: Final = {
    "scope": _UNAUTHORIZED,
    "caller": _UNAUTHORIZED,
    "authority": _UNAUTHORIZED,
    "ledger": _FAILED,
    "guard": _FAILED,
}
_MATTER: Final = frozenset(
    {
        Reason.SERVER_BLOCKED,
        Reason.SERVER_LOST,
        Reason.CAPABILITY_CHANGED,
        Reason.CAPABILITY_BLOCKED,
        Reason.CAPABILITY_WITHDRAWN,
        Reason.CALLER_REVOKED,
        Reason.ARGUMENTS_SECRET,
        Reason.UPSTREAM_REQUEST_DENIED,
        Reason.UPSTREAM_REQUEST_EXCESSIVE,
        Reason.UPSTREAM_REQUEST_SCREENED,
        Reason.REPLY_SCREENED,
        Reason.REPLY_INVALID,
        Reason.REPLY_UNSCREENED,
        Reason.REPLY_TIMEOUT,
        Reason.AUTHORITY_PERSON,
        Reason.LEDGER_UNAVAILABLE,
        Reason.LEDGER_OUTCOME_UNRECORDED,
        Reason.GUARD_ERROR,
        Reason.GUARD_CRASHED,
    }
)
"""The reasons that need attention. Every other refusal is the ordinary work of the guard."""


def _of(reason: Reason) -> tuple[int, Mapping[str, Any], Mapping[str, Any]]:
    said = {"status_code": reason.value, "status_detail": reason.sentence}
    return MEDIUM if reason in _MATTER else LOW, said, _SUBJECTS.get(reason.partition(":")[0], {})


_REASONS: Final = {reason.value: _of(reason) for reason in Reason}


def judge(event: Event, so: Mapping[str, Any], reason: str | None, severity: int = INFORMATIONAL) -> None:
    """Set status, action, disposition and reason of an event, and its severity: at least `severity`."""
    event.update(so)
    if reason is not None:
        by_itself, said, disposition = _REASONS.get(reason) or (LOW, {"status_code": reason}, {})
        severity = max(severity, by_itself)
        event.update(said)
        # Only a denial is unauthorized, or an error of the guard, by its reason.
        if so.get("action_id") == 2:
            event.update(disposition)
    weigh(event, severity)
