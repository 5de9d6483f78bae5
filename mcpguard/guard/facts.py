"""What is recorded of servers and their capabilities: how they came, what was decided, what moved by itself.

docs/ledger-format.md lists the fields of each kind.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Actor, Answer, Decision
from mcpguard.domain.pins import Pin
from mcpguard.domain.records import RecordKind
from mcpguard.domain.standing import CapabilityMove, CapabilityStanding, UpstreamMove, UpstreamStanding
from mcpguard.domain.upstreams import Upstream
from mcpguard.policy.pinning import Outcome

Fields = Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is about to be recorded."""

    kind: RecordKind
    fields: Fields


def admitted(upstream: Upstream, change: str, by: Actor, before: UpstreamStanding | None = None) -> Fact:
    """A server came, or is declared otherwise. `change`: `added`, `changed`, `removed`, `withdrawn`."""
    return Fact(
        RecordKind.ADMITTED,
        _given(
            change=change,
            **_upstream(upstream),
            transport=upstream.transport.value,
            origin=upstream.origin.value,
            requester=upstream.requester,
            fingerprint=_text(upstream.identity.launch if upstream.identity else None),
            revision=upstream.revision,
            before=before.value if before else None,
            after=upstream.standing.value,
            **_by(by),
        ),
    )


def decided(
    upstream: Upstream,
    answer: Answer,
    decision: Decision,
    id_: str,
    before: UpstreamStanding,
    **more: Scalar,
) -> Fact:
    """A person's answer about a server. All records of one decision carry its id."""
    identity = upstream.identity
    return Fact(
        RecordKind.DECIDED,
        _given(
            decision=id_,
            answer=answer.value,
            **_upstream(upstream),
            fingerprint=_text(identity.launch if identity else None),
            observed=_text(identity.observed if identity else None),
            before=before.value,
            after=upstream.standing.value,
            why=decision.why,
            **more,
            **_by(decision.by),
        ),
    )


def decided_about(
    upstream: Upstream, answer: Answer, decision: Decision, id_: str, before: Pin, after: Pin, *, given: bool = True
) -> Fact:
    """A person's answer about one capability. `given`: whether they named the effect themselves."""
    approves = answer is Answer.APPROVE
    return Fact(
        RecordKind.DECIDED,
        _given(
            decision=id_,
            answer=answer.value,
            **_upstream(upstream),
            capability=after.kind.value,
            name=after.name,
            fingerprint=_text(before.listed),
            effect=after.effect.value if approves and after.effect else None,
            given=given if approves else None,
            before=before.standing.value,
            after=after.standing.value,
            why=decision.why,
            **_by(decision.by),
        ),
    )


def moved(upstream: Upstream, move: UpstreamMove, before: Upstream) -> Fact:
    """A server that the guard itself moved."""
    return Fact(
        RecordKind.MOVED,
        _given(
            move=move.value,
            **_upstream(upstream),
            before=before.standing.value,
            after=upstream.standing.value,
            approved=_text(before.approved.launch if before.approved else None),
            approved_observed=_text(before.approved.observed if before.approved else None),
            fingerprint=_text(upstream.identity.launch if upstream.identity else None),
            observed=_text(upstream.identity.observed if upstream.identity else None),
        ),
    )


def capability_moved(upstream: Upstream, move: CapabilityMove, before: Pin, after: Pin) -> Fact:
    """A capability that the guard itself moved."""
    return Fact(
        RecordKind.MOVED,
        _given(
            move=move.value,
            **_upstream(upstream),
            capability=after.kind.value,
            name=after.name,
            before=before.standing.value,
            after=after.standing.value,
            approved=_text(before.approved),
            fingerprint=_text(after.listed),
        ),
    )


def listed(upstream: Upstream, by: Actor | None = None, **counts: int) -> Fact:
    """What a server listed was not what it had listed before."""
    said = _by(by) if by else {}
    return Fact(RecordKind.LISTED, {**_upstream(upstream), **counts, **said})


def of_moves(upstream: Upstream, moves: Iterable[tuple[Pin, Outcome]]) -> list[Fact]:
    """Each move that is worth a record, of capabilities that stood so before."""
    return [
        capability_moved(upstream, now.move, before, now.pin)
        for before, now in moves
        if now.move is not None and is_worth_a_record(before, now.pin)
    ]


def is_worth_a_record(before: Pin, after: Pin) -> bool:
    """Whether a move of a capability is recorded by itself: where something approved is lost or comes back.

    What never was approved is counted, so that no server can fill the ledger with it.
    """
    return CapabilityStanding.APPROVED in (before.standing, after.standing)


def _upstream(upstream: Upstream) -> dict[str, Scalar]:
    return {"server": upstream.name, "upstream": upstream.id}


def _by(actor: Actor) -> dict[str, Scalar]:
    return _given(by=actor.id, via=actor.via, process=actor.process)


def _text(fingerprint: Fingerprint | None) -> str | None:
    return None if fingerprint is None else fingerprint.text


def _given(**fields: Scalar | None) -> dict[str, Scalar]:
    return {name: value for name, value in fields.items() if value is not None and value != ""}
