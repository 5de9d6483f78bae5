"""The records about servers, capabilities, callers and holds: additions, decisions, and changes by the guard itself.

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
from mcpguard.domain.findings import InspectionFindings
from mcpguard.domain.grants import Grant
from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.launches import Profile
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityMove, CapabilityStanding, UpstreamMove, UpstreamStanding
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.servers.listed_findings import NOTHING, rule_fields
from mcpguard.policy.pin_changes import PinChange

Fields = Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class Fact:
    """A record that is about to be written."""

    kind: RecordKind
    fields: Fields


def admission(
    upstream: Upstream,
    change: str,
    by: Actor,
    before: UpstreamStanding | None = None,
    launched: InspectionFindings = NOTHING,
    requested: str = "",
) -> Fact:
    """A server was added, or its declaration changed. `change`: `added`, `changed`, `removed`, `withdrawn`, `confined`,
    `unconfined`. `requested`: what callers request of reviewers beside that, as JSON."""
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
            **rule_fields([launched]),
            **_by(by),
        ),
    )


def inspection(
    upstream: Upstream, decision: Decision, profile: Profile | None, given: Iterable[str], *, started: bool
) -> Fact:
    """A reviewer has a server inspected. `started`: whether it is started or contacted for that."""
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


def failed_inspection(
    upstream: Upstream, failed: Inspection, launch: Fingerprint | None, by: Actor, *, late: bool
) -> Fact:
    """An inspection failed. `launch`: of what was inspected; `late`: recorded only when the guard started again."""
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


def server_decision(
    upstream: Upstream,
    answer: Answer,
    decision: Decision,
    id_: str,
    before: UpstreamStanding,
    **more: Scalar,
) -> Fact:
    """A reviewer's answer about a server. All records of one decision carry its id."""
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


def capability_decision(
    upstream: Upstream,
    answer: Answer,
    decision: Decision,
    id_: str,
    before: Pin,
    after: Pin,
    *,
    given: bool = True,
    found: InspectionFindings = NOTHING,
    read: str = "",
) -> Fact:
    """A reviewer's answer about one capability. `given`: whether they named the effect themselves.

    `found`: what inspection found in it. What is approved is approved in spite of that, and the record says so; `read`:
    the rules of the grave findings in it that they say to have read.
    """
    approves = answer is Answer.APPROVE
    in_spite = {"risk": found.risk, **rule_fields([found])} if approves and found.findings else {}
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


def server_move(upstream: Upstream, move: UpstreamMove, before: Upstream) -> Fact:
    """The guard itself changed the status of a server."""
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


def capability_move(upstream: Upstream, move: CapabilityMove, before: Pin, after: Pin) -> Fact:
    """The guard itself changed the status of a capability."""
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


def new_listing(upstream: Upstream, found: Fields, by: Actor | None = None, **counts: int) -> Fact:
    """A server listed something else than before, or other findings were `found` in it."""
    said = {**_given(artifact=upstream.artifact), **counts, **found, **(_by(by) if by else {})}
    return Fact(RecordKind.LISTED, {**_upstream(upstream), **said})


def capability_moves(upstream: Upstream, moves: Iterable[tuple[Pin, PinChange]]) -> list[Fact]:
    """The records of those moves of capabilities that are worth one; each with the pin before it."""
    return [
        capability_move(upstream, now.move, before, now.pin)
        for before, now in moves
        if now.move is not None and is_worth_a_record(before, now.pin)
    ]


def grant_fact(grant: Grant, decision: Decision) -> Fact:
    """A caller was created with this scope. The token is not in the record."""
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
            known_by=grant.certificate,
            why=decision.why,
            **_by(decision.by),
        ),
    )


def revocation(grant: Grant, decision: Decision) -> Fact:
    """A caller was revoked."""
    return Fact(RecordKind.REVOKED, _given(**_caller(grant.caller), why=decision.why, **_by(decision.by)))


def hold_answer(hold: HeldCall, before: HoldState, answer: Answer, decision: Decision, id_: str) -> Fact:
    """A reviewer's answer to a held call."""
    said = {"decision": id_, "answer": answer.value, "why": decision.why}
    return Fact(RecordKind.DECIDED, _given(**said, **_hold(hold, before), **_by(decision.by)))


def hold_move(hold: HeldCall, before: HoldState, move: HoldMove) -> Fact:
    """A held call ended without an answer."""
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
    """Tell whether a move of a capability is recorded by itself: where something approved is lost or comes back.

    What never was approved is only counted, so that no server can fill the audit log by listing new tools.
    """
    return CapabilityStanding.APPROVED in (before.standing, after.standing)


def pruning_fields(decision: Decision) -> Fields:
    """The fields that say who asked for pruning, and why."""
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
