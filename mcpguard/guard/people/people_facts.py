"""The records about users, sessions and API tokens. docs/ledger-format.md lists the fields of each kind."""

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.people import OperatorToken, Session, User
from mcpguard.guard.servers.facts import Fact


def user_fact(change: str, user: User, decision: Decision, before: str = "", **more: Scalar) -> Fact:
    """A user was added or changed. The password is not in the record."""
    fields = {"change": change, **_user(user), "role": user.role.value, "before": before, **more}
    return _fact(RecordKind.PERSON, fields, decision)


def setup_link_fact(decision: Decision) -> Fact:
    """A setup link was created, by which the first user can be created."""
    return _fact(RecordKind.PERSON, {"change": "offered"}, decision)


def sign_in_fact(user: User, session: Session, method: str) -> Fact:
    """A user has signed in."""
    fields = {**_user(user), "role": user.role.value, "session": session.id, "method": method, "peer": session.peer}
    return Fact(RecordKind.SIGNED_IN, fields | {"by": f"user:{user.id} ({user.name})"})


def sign_out_fact(user: User, session: Session, why: str, by: Actor | None = None) -> Fact:
    """A session ended before it expired."""
    said = {} if by is None else _by(by)
    return Fact(RecordKind.SIGNED_OUT, _given({**_user(user), "session": session.id, "why": why, **said}))


def token_fact(change: str, token: OperatorToken, decision: Decision) -> Fact:
    """An API token was created or revoked. Its text is not in the record."""
    fields: dict[str, Scalar] = {
        "change": change,
        "token": token.id,
        "token_name": token.name,
        "role": token.role.value,
    }
    if token.expires_at is not None:
        fields["expires"] = token.expires_at
    return _fact(RecordKind.OPERATOR, fields, decision)


def _user(user: User) -> dict[str, Scalar]:
    return {"user": user.id, "user_name": user.name}


def _fact(kind: RecordKind, fields: dict[str, Scalar], decision: Decision) -> Fact:
    return Fact(kind, _given({**fields, "why": decision.why, **_by(decision.by)}))


def _by(actor: Actor) -> dict[str, Scalar]:
    return {"by": actor.id, "via": actor.via, "process": actor.process}


def _given(fields: dict[str, Scalar]) -> dict[str, Scalar]:
    return {name: value for name, value in fields.items() if value != ""}
