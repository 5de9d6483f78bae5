"""What is recorded of people and of operators' tokens. docs/ledger-format.md lists the fields of each kind."""

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.people import OperatorToken, Session, User
from mcpguard.guard.servers.facts import Fact


def changed(change: str, user: User, decision: Decision, before: str = "", **more: Scalar) -> Fact:
    """Somebody was let in, or what they may do was changed. Nothing here tells their password."""
    fields = {"change": change, **_user(user), "role": user.role.value, "before": before, **more}
    return _fact(RecordKind.PERSON, fields, decision)


def offered(decision: Decision) -> Fact:
    """A link by which the first user can be made was told to somebody."""
    return _fact(RecordKind.PERSON, {"change": "offered"}, decision)


def signed_in(user: User, session: Session, method: str) -> Fact:
    """Somebody has shown who they are."""
    fields = {**_user(user), "role": user.role.value, "session": session.id, "method": method, "peer": session.peer}
    return Fact(RecordKind.SIGNED_IN, fields | {"by": f"user:{user.id} ({user.name})"})


def signed_out(user: User, session: Session, why: str, by: Actor | None = None) -> Fact:
    """A session ended before its time."""
    said = {} if by is None else _by(by)
    return Fact(RecordKind.SIGNED_OUT, _given({**_user(user), "session": session.id, "why": why, **said}))


def operator(change: str, token: OperatorToken, decision: Decision) -> Fact:
    """An operator's token was made, or is worth nothing any more. Nothing here tells it."""
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
