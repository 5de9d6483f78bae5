"""What is recorded of servers, their capabilities and callers: how they came, what was decided, what moved by itself.

docs/ledger-format.md lists the fields of each kind.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.holds import HeldCall, HoldMove, HoldState
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Actor, Answer, Decision
from mcpguard.domain.findings import Inspected
from mcpguard.domain.grants import Grant
from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.launches import Profile
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityMove, CapabilityStanding, UpstreamMove, UpstreamStanding
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.servers.listed_findings import NOTHING, rules
from mcpguard.policy.pinning import PinChange

Fields = Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is about to be recorded."""

    kind: RecordKind
    fields: Fields


def admitted(
    upstream: Upstream,
    change: str,
    by: Actor,
    before: UpstreamStanding | None = None,
    launched: Inspected = NOTHING,
    requested: str = "",
) -> Fact:
    """A server came, or is declared otherwise. `change`: `added`, `changed`, `removed`, `withdrawn`. `requested`: what
    callers ask of people beside that, as JSON."""
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
            requested=requested,
            **rules([launched]),
            **_by(by),
        ),
    )


def inspected(
    upstream: Upstream, decision: Decision, profile: Profile | None, given: Iterable[str], *, started: bool
) -> Fact:
    """A person has a server looked at. `started`: whether it is started or contacted for that."""
    return Fact(
        RecordKind.INSPECTED,
        _given(
            **_upstream(upstream),
            started=started,
            profile=profile.value if profile else None,
            given=" ".join(sorted(given)),
            fingerprint=_text(upstream.identity.launch if upstream.identity else None),
            why=decision.why,
            **_by(decision.by),
        ),
    )


def inspection_failed(
    upstream: Upstream, failed: Inspection, launch: Fingerprint | None, by: Actor, *, late: bool
) -> Fact:
    """An inspection did not come to a listing. `launch`: what was looked at; `late`: found by a later start."""
    return Fact(
        RecordKind.INSPECTION_FAILED,
        _given(
            **_upstream(upstream),
            started=failed.started,
            fingerprint=_text(launch),
            since=failed.began,
            why=failed.why,
            late=late or None,
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
    upstream: Upstream,
    answer: Answer,
    decision: Decision,
    id_: str,
    before: Pin,
    after: Pin,
    *,
    given: bool = True,
    found: Inspected = NOTHING,
    read: str = "",
) -> Fact:
    """A person's answer about one capability. `given`: whether they named the effect themselves.

    `found`: what inspection found in it. What is approved is approved in spite of that, and the record says so; `read`:
    the rules of the grave findings in it that they say to have read.
    """
    approves = answer is Answer.APPROVE
    in_spite = {"risk": found.risk, **rules([found])} if approves and found.findings else {}
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
            **in_spite,
            read=read,
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


def listed(upstream: Upstream, found: Fields, by: Actor | None = None, **counts: int) -> Fact:
    """What a server listed was not what it had listed before, or something else was `found` in it."""
    said = _by(by) if by else {}
    ran = _given(artifact=upstream.artifact)
    return Fact(RecordKind.LISTED, {**_upstream(upstream), **ran, **counts, **found, **said})


def of_moves(upstream: Upstream, moves: Iterable[tuple[Pin, PinChange]]) -> list[Fact]:
    """Each move that is worth a record, of capabilities that stood so before."""
    return [
        capability_moved(upstream, now.move, before, now.pin)
        for before, now in moves
        if now.move is not None and is_worth_a_record(before, now.pin)
    ]


def granted(grant: Grant, decision: Decision) -> Fact:
    """A caller was let in, and how far it may reach. Nothing here tells its token."""
    caller, scope = grant.caller, grant.caller.scope
    return Fact(
        RecordKind.GRANTED,
        _given(
            **_caller(caller),
            servers="\n".join(scope.servers),
            tools="\n".join(scope.tools),
            effects=" ".join(sorted(scope.effects)),
            expires=grant.expires_at,
            must_declare=caller.must_declare,
            manage=caller.manage,
            why=decision.why,
            **_by(decision.by),
        ),
    )


def revoked(grant: Grant, decision: Decision) -> Fact:
    """A caller is none any more."""
    return Fact(RecordKind.REVOKED, _given(**_caller(grant.caller), why=decision.why, **_by(decision.by)))


def answered(hold: HeldCall, before: HoldState, answer: Answer, decision: Decision, id_: str) -> Fact:
    """A person's answer to a held call."""
    said = {"decision": id_, "answer": answer.value, "why": decision.why}
    return Fact(RecordKind.DECIDED, _given(**said, **_hold(hold, before), **_by(decision.by)))


def held_over(hold: HeldCall, before: HoldState, move: HoldMove) -> Fact:
    """A held call ended by itself."""
    return Fact(RecordKind.MOVED, _given(move=move.value, **_hold(hold, before)))


def _hold(hold: HeldCall, before: HoldState) -> dict[str, Scalar]:
    asking = hold.asking
    return _given(
        ticket=hold.id,
        caller=hold.caller,
        caller_label=asking.caller_label,
        server=hold.capability.server,
        upstream=hold.rests.upstream[0],
        capability=hold.capability.kind.value,
        name=hold.capability.name,
        effect=asking.effect,
        fingerprint=asking.fingerprint,
        before=before.value,
        after=hold.state.value,
    )


def is_worth_a_record(before: Pin, after: Pin) -> bool:
    """Whether a move of a capability is recorded by itself: where something approved is lost or comes back.

    What never was approved is counted, so that no server can fill the ledger with it.
    """
    return CapabilityStanding.APPROVED in (before.standing, after.standing)


def pruning(decision: Decision) -> Fields:
    """Who wants something pruned, and what they say of it."""
    return _given(words=decision.why, **_by(decision.by))


def _upstream(upstream: Upstream) -> dict[str, Scalar]:
    return {"server": upstream.name, "upstream": upstream.id}


def _caller(caller: Caller) -> dict[str, Scalar]:
    return {"caller": caller.id, "caller_label": caller.label}


def _by(actor: Actor) -> dict[str, Scalar]:
    return _given(by=actor.id, via=actor.via, process=actor.process)


def _text(fingerprint: Fingerprint | None) -> str | None:
    return None if fingerprint is None else fingerprint.text


def _given(**fields: Scalar | None) -> dict[str, Scalar]:
    return {name: value for name, value in fields.items() if value is not None and value != ""}
