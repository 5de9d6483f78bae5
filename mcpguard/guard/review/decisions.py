"""What people decide about servers and their capabilities, carried out.

Rules kept here:
1. A decision says who, why, and on what it rests. Where something else stands now it is stale and changes nothing.
2. Whoever may only tighten is refused before anything is looked at.
3. Approving a server approves exactly what was chosen, as it was seen, and takes back exactly what was left out by
   name, which then waits for nobody until it changes; what is not named stands as it stood. All of it is one
   transaction, with a record for each.
4. What has grave findings which nobody says to have read is left out of an approval, stands where it stood, and is
   named.
5. Of an approval, what it does not say of the server's permissions and of its sandbox stays as it is.
6. Leaving a server in quarantine lets nothing happen that could not happen before: it only leaves the inbox, as it is.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import Effect, Fingerprint
from mcpguard.domain.clock import Ids
from mcpguard.domain.decisions import (
    LONGEST_WHY,
    WIDENING,
    Answer,
    Approval,
    Decision,
    Key,
    Read,
    Seen,
    Undecidable,
    Unread,
)
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.launches import Declared
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Identity, Upstream
from mcpguard.guard.review.approval import Approved, ApprovedOne, confinement_said, in_spite, left_out, permitted
from mcpguard.guard.review.choices import chosen, effect_of, pin_of
from mcpguard.guard.review.confinement import confined, without_choice
from mcpguard.guard.review.launch_fingerprints import Fingerprints
from mcpguard.guard.review.staleness import as_seen
from mcpguard.guard.servers import facts
from mcpguard.guard.servers.grave_findings import check_itself, now_read, said_read, unread_of
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.standings import ServerChange, Standings
from mcpguard.guard.servers.tool_effects import Effects
from mcpguard.policy import pinning, quarantine
from mcpguard.policy.pinning import PinChange
from mcpguard.policy.prefixes import checked


class Decisions:
    """Carries out what people decide."""

    def __init__(
        self, standings: Standings, effects: Effects, new_id: Ids, screening: Screening, fingerprints: Fingerprints
    ) -> None:
        """`screening`: how replies are screened where nobody decided otherwise."""
        self._standings = standings
        self._registry = standings.registry
        self._effects = effects
        self._new_id = new_id
        self._default = screening
        self._fingerprints = fingerprints

    async def approve(self, name: str, approval: Approval, decision: Decision) -> Approved:
        """Approve a server as it was seen.

        Raises Unknown, Stale, Undecidable, IllegalMove, Forbidden or LedgerUnavailable, and has changed nothing then.
        """
        authorised(Answer.APPROVE, decision)
        known = self._registry.get(name)
        prefixes = None if approval.prefixes is None else checked(approval.prefixes)
        told = await self._effects.of(known.pins.values())
        made: list[ApprovedOne] = []
        unread: dict[str, tuple[str, ...]] = {}

        def approved(known: ServerState) -> ServerChange:
            decision.by.check()
            made.clear()
            unread.clear()
            as_seen(known, approval.seen)
            check_itself(known, approval.read)
            before = known.upstream
            seen = Identity(approval.seen.launch, approval.seen.observed)
            itself = now_read(known.launched.grave, approval.read.get(None))
            declared = confined(known.declared, approval)
            others = (each for each in self._registry.ever() if each.id != before.id)
            moved = quarantine.approve(before, seen, itself, self._other_launch(known, declared), others).upstream
            upstream = permitted(moved, prefixes, approval.may_ask)
            if upstream != moved and moved.generation == before.generation:
                upstream = replace(upstream, generation=before.generation + 1)
            wanted, id_ = chosen(known, approval), self._new_id()
            said = {
                "prefixes": "\n".join(upstream.prefixes),
                "may_ask": " ".join(sorted(upstream.may_ask)),
                "read": said_read(known.launched.grave, approval.read.get(None)),
                **confinement_said(declared.launch),
            }
            recorded = [facts.decided(upstream, Answer.APPROVE, decision, id_, before.standing, **_given(said))]
            pins: list[Pin] = []
            for key, pin in known.pins.items():
                if key in wanted:
                    effect, given = effect_of(pin, approval.effects, told)
                    if left := unread_of(known, pin, effect, approval.read):
                        unread[f"{pin.kind}:{pin.name}"] = tuple(sorted(left))
                        continue
                    read = now_read(known.inspected(key).grave, approval.read.get(key))
                    outcome = pinning.approve(pin, approval.seen.capabilities.get(key), effect, read)
                    made.append(ApprovedOne(pin.kind, pin.name, _listed(pin), effect, given))
                    said_of = upstream, Answer.APPROVE, decision, id_, pin, outcome.pin
                    recorded.append(facts.decided_about(*said_of, given=given, **in_spite(known, key, approval.read)))
                    if outcome.pin != pin:
                        pins.append(outcome.pin)
                elif key in approval.left_out:
                    is_unread = bool(known.inspected(key).grave - approval.read.get(key, frozenset()))
                    steps = [*left_out(pin, quiet=not is_unread)]
                    for answer, before_it, after in steps:
                        recorded.append(facts.decided_about(upstream, answer, decision, id_, before_it, after))
                    pins += [after for _, _, after in steps[-1:]]
            return ServerChange(upstream, declared, tuple(pins), facts=tuple(recorded))

        await self._standings.change(known, approved)
        waiting = [f"{pin.kind}:{pin.name}" for pin in known.pins.values() if pin.present and not pin.callable]
        return Approved(tuple(made), tuple(waiting), unread)

    async def reject(self, name: str, seen: Seen, decision: Decision) -> None:
        """Leave a server in quarantine, and send it out of the inbox with all that waits of it. Raises as `approve`.

        It comes back as soon as it is another, or lists anything else.
        """
        authorised(Answer.REJECT, decision)

        def rejected(known: ServerState) -> ServerChange:
            decision.by.check()
            as_seen(known, seen)
            before, id_ = known.upstream, self._new_id()
            upstream = quarantine.reject(before, Identity(seen.launch, seen.observed))
            recorded = [facts.decided(upstream, Answer.REJECT, decision, id_, before.standing)]
            pins: list[Pin] = []
            for key, pin in known.pins.items():
                if pin.waits and pin.listed is not None:
                    after = pinning.reject(pin, seen.capabilities.get(key)).pin
                    recorded.append(facts.decided_about(upstream, Answer.REJECT, decision, id_, pin, after))
                    pins.append(after)
            return ServerChange(upstream, known.declared, tuple(pins), facts=tuple(recorded))

        await self._standings.change(self._registry.get(name), rejected)

    async def quarantine(self, name: str, decision: Decision) -> None:
        """Take the approval, or the block, of a server back. Raises as `approve`."""
        widens = self._registry.get(name).upstream.standing is UpstreamStanding.BLOCKED
        answer = Answer.UNBLOCK if widens else Answer.QUARANTINE

        def quarantined(upstream: Upstream) -> Upstream:
            if upstream.standing is UpstreamStanding.BLOCKED:  # perhaps only since a moment ago
                authorised(Answer.UNBLOCK, decision)
            return quarantine.quarantine(upstream).upstream

        await self._about(name, answer, decision, quarantined)

    async def block(self, name: str, decision: Decision) -> None:
        """It runs no more, whoever it is. How a person had it confined is forgotten with its approval."""
        authorised(Answer.BLOCK, decision)

        def blocked(known: ServerState) -> ServerChange:
            decision.by.check()
            before, declared = known.upstream, without_choice(known.declared)
            upstream = quarantine.block(before, self._other_launch(known, declared)).upstream
            fact = facts.decided(upstream, Answer.BLOCK, decision, self._new_id(), before.standing)
            return ServerChange(upstream, declared, facts=(fact,))

        await self._standings.change(self._registry.get(name), blocked)

    async def enable(self, name: str, decision: Decision) -> None:
        """Undo a `disable`."""
        await self._about(name, Answer.ENABLE, decision, quarantine.enabled)

    async def disable(self, name: str, decision: Decision, caller: str = "") -> None:
        """Stop a server, and leave where it stands. `caller`: who decides that, where it is no person."""
        await self._about(name, Answer.DISABLE, decision, partial(quarantine.disabled, caller=caller))

    async def enable_again(self, name: str, decision: Decision, caller: str) -> None:
        """A caller takes back its own `disable`: then no more may happen than before that."""
        await self._carry_out(name, Answer.ENABLE, decision, partial(quarantine.enabled_again, caller=caller))

    async def permit(self, name: str, kinds: frozenset[AskKind], decision: Decision) -> None:
        """From now on the server may ask this, and nothing else, of clients."""

        def permitted(upstream: Upstream) -> Upstream:
            if kinds - upstream.may_ask:
                decision.by.check_widening()
            if kinds and upstream.standing is not UpstreamStanding.APPROVED:
                raise Undecidable(f"{name} is {upstream.standing}; approve it first")
            return replace(upstream, may_ask=kinds, generation=upstream.generation + 1)

        await self._about(name, Answer.PERMIT, decision, permitted, may_ask=" ".join(sorted(kinds)))

    async def screen(self, name: str, mode: Screening | None, decision: Decision) -> None:
        """From now on what the server says is screened so; None: as the setting says."""

        def screened(upstream: Upstream) -> Upstream:
            before, after = (each or self._default for each in (upstream.screening, mode))
            if after.is_looser_than(before):
                decision.by.check_widening()
            return replace(upstream, screening=mode, generation=upstream.generation + 1)

        await self._about(name, Answer.SCREEN, decision, screened, screening=mode.value if mode else "default")

    async def decide(
        self,
        name: str,
        key: Key,
        answer: Answer,
        seen: Fingerprint | None,
        decision: Decision,
        effect: Effect | None = None,
        read: Collection[str] = (),
    ) -> Effect | None:
        """Answer about one capability; the effect that it has then. Raises as `approve`.

        `read`: the rules of the grave findings in it that were read.
        """
        said: Read = {key: frozenset(read)}
        authorised(answer, decision)
        known = self._registry.get(name)
        told = await self._effects.of([pin for pin in [known.pins.get(key)] if pin])
        result: list[Pin] = []

        def decided(known: ServerState) -> ServerChange:
            decision.by.check()
            pin = pin_of(known, key)
            given = {} if effect is None else {pin.name: effect}
            which, named = effect_of(pin, given, told) if answer is Answer.APPROVE else (Effect.READ, True)
            found = now_read(known.inspected(key).grave, said[key])
            outcome = _ANSWERS[answer](pin, seen, which, found)
            if answer is Answer.APPROVE and (left := unread_of(known, pin, which, said)):
                raise Unread(f"{pin.kind} {pin.name}", left)
            result[:] = [outcome.pin]
            id_ = self._new_id()
            said_of = known.upstream, answer, decision, id_, pin, outcome.pin
            about = in_spite(known, key, said if answer is Answer.APPROVE else {})
            fact = facts.decided_about(*said_of, given=named, **about)
            return ServerChange(known.upstream, known.declared, (outcome.pin,), facts=(fact,))

        await self._standings.change(known, decided)
        return result[0].effect

    def _other_launch(self, known: ServerState, declared: Declared) -> Fingerprint | None:
        """How it would be launched; None where that is as it is launched now."""
        return None if declared.launch == known.declared.launch else self._fingerprints(declared.launch)

    async def _about(
        self, name: str, answer: Answer, decision: Decision, move: Callable[[Upstream], Upstream], **said: str
    ) -> None:
        authorised(answer, decision)
        await self._carry_out(name, answer, decision, move, **said)

    async def _carry_out(
        self, name: str, answer: Answer, decision: Decision, move: Callable[[Upstream], Upstream], **said: str
    ) -> None:
        def moved(known: ServerState) -> ServerChange:
            decision.by.check()
            upstream = move(known.upstream)
            before = known.upstream.standing
            fact = facts.decided(upstream, answer, decision, self._new_id(), before, **_given(said))
            return ServerChange(upstream, known.declared, facts=(fact,))

        await self._standings.change(self._registry.get(name), moved)


def authorised(answer: Answer, decision: Decision) -> None:
    """Raises Forbidden for who may not decide so, and Undecidable where no reason is given."""
    if answer in WIDENING:
        decision.by.check_widening()
    if answer is not Answer.INSPECT and not decision.why.strip():
        raise Undecidable("a decision needs a reason")
    if len(decision.why) > LONGEST_WHY:
        raise Undecidable(f"the reason is longer than {LONGEST_WHY} characters")


def _listed(pin: Pin) -> Fingerprint:
    assert pin.listed is not None  # noqa: S101 - `pinning.approve` has refused everything else
    return pin.listed


def _given(said: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in said.items() if value}


_ANSWERS: Mapping[Answer, Callable[[Pin, Fingerprint | None, Effect, frozenset[str]], PinChange]] = {
    Answer.APPROVE: pinning.approve,
    Answer.REVOKE: lambda pin, seen, _effect, _read: pinning.revoke(pin, seen),
    Answer.REJECT: lambda pin, seen, _effect, _read: pinning.reject(pin, seen),
    Answer.BLOCK: lambda pin, _seen, _effect, _read: pinning.block(pin),
    Answer.UNBLOCK: lambda pin, _seen, _effect, _read: pinning.unblock(pin),
}
