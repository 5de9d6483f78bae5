"""The facts that the audit log records.

docs/ledger-format.md describes the format of each.
"""

from dataclasses import dataclass
from enum import StrEnum

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.bodies import Body
from mcpguard.domain.calls.calls import Face, Intent
from mcpguard.domain.calls.verdicts import Verdict
from mcpguard.domain.capabilities import Capability, Effect, Fingerprint
from mcpguard.domain.peers import THIS_HOST, NetworkPeer


class RecordKind(StrEnum):
    """The kinds of record."""

    STARTED = "started"
    STOPPED = "stopped"
    OPENED = "opened"
    RELEASED = "released"
    ASKED = "asked"
    HEARD = "heard"
    CLOSED = "closed"
    RESUMED = "resumed"
    ADMITTED = "admitted"
    DECIDED = "decided"
    MOVED = "moved"
    LISTED = "listed"
    INSPECTED = "inspected"
    INSPECTION_FAILED = "inspection_failed"
    CONFIGURED = "configured"
    GRANTED = "granted"
    REVOKED = "revoked"
    PERSON = "person"
    OPERATOR = "operator"
    SIGNED_IN = "signed_in"
    SIGNED_OUT = "signed_out"
    SIGN_IN_REFUSED = "sign_in_refused"
    DISCLOSED = "disclosed"
    TURNED_AWAY = "turned_away"
    LOST = "lost"
    ROLLED_BACK = "rolled_back"
    ROTATED = "rotated"
    RETIRED = "retired"
    PRUNED = "pruned"
    EXPORTED = "exported"
    RAN = "ran"
    ENDED_RUN = "ended_run"
    SCRIPT = "script"
    ALLOWANCE = "allowance"
    SEARCH_USED = "search_used"
    SEARCH_FORGOTTEN = "search_forgotten"


@dataclass(frozen=True, slots=True)
class Opening:
    """A call and its verdict, with everything that the verdict rests on; the arguments only as a body.

    `secrets`: the rules that found what looks like a secret in the arguments. `by`: the user who makes the call in the
    caller's name; empty where the caller makes it. `parent`: the run of a program that makes the call. `allowance`: the
    id of the one that lets the call through.
    """

    entry: str
    caller: Caller
    capability: Capability
    intent: Intent
    face: Face
    verdict: Verdict
    method: str = ""
    effect: Effect | None = None
    fingerprint: Fingerprint | None = None
    rules: tuple[str, ...] = ()
    settings: str = ""
    client: str = ""
    trace: str = ""
    continues: str = ""
    ticket: str = ""
    secrets: tuple[str, ...] = ()
    by: str = ""
    parent: str = ""
    arguments: Body | None = None
    allowance: str = ""
    peer: NetworkPeer = THIS_HOST


@dataclass(frozen=True, slots=True)
class Permit:
    """Proof that the verdict which allows this call is stored. Nothing is sent to a server without one."""

    entry: str
