"""Carries out what reviewers decide about servers and their capabilities.

Rules kept here:
1. A decision names its actor, its reason, and the state it rests on. If that state has changed, the decision is stale
   and changes nothing.
2. An actor that may only tighten protection is refused a loosening answer before anything is looked up.
3. An approval approves exactly what was chosen, as it was seen, and revokes exactly what it leaves out by name, which
   then leaves the inbox until it changes; everything else keeps its status. All of it is one transaction, with a record
   for each.
4. A capability with unconfirmed grave findings is left out of an approval, keeps its status, and is named in the
   result.
5. Permissions and sandbox of the server stay as they are unless the approval names them.
6. Keeping a server in quarantine permits nothing new: the server only leaves the inbox, unchanged.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import Effect, Fingerprint
from mcpguard.domain.clock import Ids
from mcpguard.domain.decisions import (
    Answer,
    Approval,
    CapabilityKey,
    ConfirmedFindings,
    Decision,
    ReviewedVersions,
    Undecidable,
    Unread,
)
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Identity, Upstream
from mcpguard.guard.review.approval import (
    ANSWERS,
    ApprovalResult,
    ApprovedCapability,
    accepted_findings,
    chosen_keys,
    confinement_fields,
    effect_of,
    listed_version,
    steps_of_leaving_out,
    with_confinement,
    with_declared_confinement,
    with_permissions,
)
from mcpguard.guard.review.authority import check_authority
from mcpguard.guard.review.confirmations import (
    check_launch_confirmed,
    confirmed_field,
    confirmed_rules,
    missing_confirmations,
)
from mcpguard.guard.review.launch_fingerprints import Fingerprints
from mcpguard.guard.review.staleness import check_as_seen
from mcpguard.guard.servers import facts
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.standings import ServerChange, Standings
from mcpguard.guard.servers.tool_effects import EffectReader
from mcpguard.policy import pin_changes, quarantine
from mcpguard.policy.prefixes import check_prefixes


class Decisions:
    """Carries out decisions about servers and capabilities, each with its records."""

    def __init__(
        self, standings: Standings, effects: EffectReader, new_id: Ids, screening: Screening, fingerprints: Fingerprints
    ) -> None:
        """`screening`: the mode of servers for which no other was decided."""
        self._standings = standings
        self._registry = standings.registry
        self._effects = effects
        self._new_id = new_id
        self._default = screening
        self._fingerprints = fingerprints

    async def approve(self, name: str, approval: Approval, decision: Decision) -> ApprovalResult:
        """Approve a server as it was seen.

        Raises Unknown, Stale, Undecidable, IllegalMove, Forbidden or LedgerUnavailable; then nothing has changed.
        """
        check_authority(Answer.APPROVE, decision)
        known = self._registry.get(name)
        prefixes = None if approval.prefixes is None else check_prefixes(approval.prefixes)
        told = await self._effects.by_fingerprint(known.pins.values())
        made: list[ApprovedCapability] = []
        unread: dict[str, tuple[str, ...]] = {}

        def approved(known: ServerState) -> ServerChange:
            decision.by.check()
            # Under the server's lock, so that nothing changes between this comparison and the transaction.
            check_as_seen(known, approval.seen)
            check_launch_confirmed(known, approval.read)
            before = known.upstream
            seen = Identity(approval.seen.launch, approval.seen.observed)
            itself = confirmed_rules(known.launch_findings.grave, approval.read.get(None))
            declared = with_confinement(known.declared, approval)
            others = (each for each in self._registry.ever() if each.id != before.id)
            moved = quarantine.approve(before, seen, itself, self._other_launch(known, declared), others).upstream
            upstream = with_permissions(moved, prefixes, approval.may_ask)
            # Other permissions are another generation: verdicts that rest on the old ones are not stored any more.
            if upstream != moved and moved.generation == before.generation:
                upstream = replace(upstream, generation=before.generation + 1)
            wanted, id_ = chosen_keys(known, approval), self._new_id()
            said = {
                "prefixes": "\n".join(upstream.prefixes),
                "may_ask": " ".join(sorted(upstream.may_ask)),
                "read": confirmed_field(known.launch_findings.grave, approval.read.get(None)),
                **confinement_fields(declared.launch),
            }
            recorded = [facts.server_decision(upstream, Answer.APPROVE, decision, id_, before.standing, **said)]
            pins = list[Pin]()
            for key, pin in known.pins.items():
                if key in wanted:
                    effect, given = effect_of(pin, approval.effects, told)
                    if left := missing_confirmations(known, pin, effect, approval.read):
                        unread[f"{pin.kind}:{pin.name}"] = tuple(sorted(left))
                        continue
                    read = confirmed_rules(known.findings_in(key).grave, approval.read.get(key))
                    outcome = pin_changes.approve(pin, approval.seen.capabilities.get(key), effect, read)
                    made.append(ApprovedCapability(pin.kind, pin.name, listed_version(pin), effect, given))
                    said_of = decision, id_, pin, outcome.pin
                    about = accepted_findings(known, key, approval.read)
                    recorded.append(facts.capability_decision(upstream, Answer.APPROVE, *said_of, given=given, **about))
                    if outcome.pin != pin:
                        pins.append(outcome.pin)
                elif key in approval.left_out:
                    is_unread = bool(known.findings_in(key).grave - approval.read.get(key, frozenset()))
                    for answer, before_it, after in (steps := [*steps_of_leaving_out(pin, quiet=not is_unread)]):
                        recorded.append(facts.capability_decision(upstream, answer, decision, id_, before_it, after))
                    pins += [after for _, _, after in steps[-1:]]
            return ServerChange(upstream, declared, tuple(pins), facts=tuple(recorded))

        await self._standings.change(known, approved)
        waiting = [f"{pin.kind}:{pin.name}" for pin in known.pins.values() if pin.present and not pin.callable]
        return ApprovalResult(tuple(made), tuple(waiting), unread)

    async def reject(self, name: str, seen: ReviewedVersions, decision: Decision) -> None:
        """Keep a server in quarantine, and remove it from the inbox with all that waits of it. Raises as `approve`.

        It comes back as soon as it is another, or lists anything else.
        """
        check_authority(Answer.REJECT, decision)

        def rejected(known: ServerState) -> ServerChange:
            decision.by.check()
            check_as_seen(known, seen)
            before, id_ = known.upstream, self._new_id()
            upstream = quarantine.reject(before, Identity(seen.launch, seen.observed))
            recorded = [facts.server_decision(upstream, Answer.REJECT, decision, id_, before.standing)]
            pins = list[Pin]()
            for key, pin in known.pins.items():
                if pin.waits and pin.listed is not None:
                    after = pin_changes.reject(pin, seen.capabilities.get(key)).pin
                    recorded.append(facts.capability_decision(upstream, Answer.REJECT, decision, id_, pin, after))
                    pins.append(after)
            return ServerChange(upstream, known.declared, tuple(pins), facts=tuple(recorded))

        await self._standings.change(self._registry.get(name), rejected)

    async def quarantine(self, name: str, decision: Decision) -> None:
        """Quarantine a server: its approval, or its block, is revoked. Raises as `approve`."""
        widens = self._registry.get(name).upstream.standing is UpstreamStanding.BLOCKED
        answer = Answer.UNBLOCK if widens else Answer.QUARANTINE

        def quarantined(upstream: Upstream) -> Upstream:
            # Asked again under the lock: it may have been blocked since, and lifting a block is the wider right.
            if upstream.standing is UpstreamStanding.BLOCKED:
                check_authority(Answer.UNBLOCK, decision)
            return quarantine.quarantine(upstream).upstream

        await self._about(name, answer, decision, quarantined)

    async def block(self, name: str, decision: Decision) -> None:
        """Block a server, with its launch. A reviewer's choice of sandbox is forgotten with the approval."""
        check_authority(Answer.BLOCK, decision)

        def blocked(known: ServerState) -> ServerChange:
            decision.by.check()
            before, declared = known.upstream, with_declared_confinement(known.declared)
            upstream = quarantine.block(before, self._other_launch(known, declared)).upstream
            fact = facts.server_decision(upstream, Answer.BLOCK, decision, self._new_id(), before.standing)
            return ServerChange(upstream, declared, facts=(fact,))

        await self._standings.change(self._registry.get(name), blocked)

    async def enable(self, name: str, decision: Decision) -> None:
        """Enable a server that was disabled."""
        await self._about(name, Answer.ENABLE, decision, quarantine.enable)

    async def disable(self, name: str, decision: Decision, caller: str = "") -> None:
        """Stop a server without changing its status. `caller`: the agent that decides so, if it is one."""
        await self._about(name, Answer.DISABLE, decision, partial(quarantine.disable, caller=caller))

    async def restart(self, name: str, decision: Decision) -> None:
        """Stop a server and start it again; calls under way end with it. Raises Undecidable where it does not run."""
        check_authority(Answer.RESTART, decision)

        def restarted(known: ServerState) -> ServerChange:
            decision.by.check()
            if not known.runs:
                why = "disabled" if known.upstream.standing is UpstreamStanding.APPROVED else known.upstream.standing
                raise Undecidable(f"{name} is {why}, so it does not run")
            said = known.upstream, Answer.RESTART, decision, self._new_id(), known.upstream.standing
            return ServerChange(known.upstream, known.declared, facts=(facts.server_decision(*said),), restarts=True)

        await self._standings.change(self._registry.get(name), restarted)

    async def enable_again(self, name: str, decision: Decision, caller: str) -> None:
        """Let a caller undo its own `disable`, which allows no more than before."""
        await self._carry_out(name, Answer.ENABLE, decision, partial(quarantine.enable_as_caller, caller=caller))

    async def permit(self, name: str, kinds: frozenset[AskKind], decision: Decision) -> None:
        """Permit a server these requests to clients, and no others."""

        def permitted(upstream: Upstream) -> Upstream:
            if kinds - upstream.may_ask:
                decision.by.check_widening()
            if kinds and upstream.standing is not UpstreamStanding.APPROVED:
                raise Undecidable(f"{name} is {upstream.standing}; approve it first")
            return replace(upstream, may_ask=kinds, generation=upstream.generation + 1)

        await self._about(name, Answer.PERMIT, decision, permitted, may_ask=" ".join(sorted(kinds)))

    async def screen(self, name: str, mode: Screening | None, decision: Decision) -> None:
        """Set the screening mode of a server; None: the one in the settings."""

        def screened(upstream: Upstream) -> Upstream:
            before, after = (each or self._default for each in (upstream.screening, mode))
            if after.is_looser_than(before):
                decision.by.check_widening()
            return replace(upstream, screening=mode, generation=upstream.generation + 1)

        await self._about(name, Answer.SCREEN, decision, screened, screening=mode.value if mode else "default")

    async def decide(
        self,
        name: str,
        key: CapabilityKey,
        answer: Answer,
        seen: Fingerprint | None,
        decision: Decision,
        effect: Effect | None = None,
        read: Collection[str] = (),
    ) -> Effect | None:
        """Decide about one capability; return the effect that it has then. Raises as `approve`.

        `read`: the rules of the grave findings in it that were read.
        """
        said: ConfirmedFindings = {key: frozenset(read)}
        check_authority(answer, decision)
        known = self._registry.get(name)
        told = await self._effects.by_fingerprint([pin for pin in [known.pins.get(key)] if pin])
        result = list[Pin]()

        def decided(known: ServerState) -> ServerChange:
            decision.by.check()
            pin = known.pin(key)
            given = {} if effect is None else {pin.name: effect}
            which, named = effect_of(pin, given, told) if answer is Answer.APPROVE else (Effect.READ, True)
            found = confirmed_rules(known.findings_in(key).grave, said[key])
            outcome = ANSWERS[answer](pin, seen, which, found)
            if answer is Answer.APPROVE and (left := missing_confirmations(known, pin, which, said)):
                raise Unread(f"{pin.kind} {pin.name}", left)
            result[:] = [outcome.pin]
            id_ = self._new_id()
            said_of = known.upstream, answer, decision, id_, pin, outcome.pin
            about = accepted_findings(known, key, said if answer is Answer.APPROVE else {})
            fact = facts.capability_decision(*said_of, given=named, **about)
            return ServerChange(known.upstream, known.declared, (outcome.pin,), facts=(fact,))

        await self._standings.change(known, decided)
        return result[0].effect

    def _other_launch(self, known: ServerState, declared: DeclaredServer) -> Fingerprint | None:
        """The fingerprint of a changed launch; None where the launch stays the same."""
        return None if declared.launch == known.declared.launch else self._fingerprints(declared.launch)

    async def _about(
        self, name: str, answer: Answer, decision: Decision, move: Callable[[Upstream], Upstream], **said: str
    ) -> None:
        check_authority(answer, decision)
        await self._carry_out(name, answer, decision, move, **said)

    async def _carry_out(
        self, name: str, answer: Answer, decision: Decision, move: Callable[[Upstream], Upstream], **said: str
    ) -> None:
        def moved(known: ServerState) -> ServerChange:
            decision.by.check()
            upstream, before = move(known.upstream), known.upstream.standing
            fact = facts.server_decision(upstream, answer, decision, self._new_id(), before, **said)
            return ServerChange(upstream, known.declared, facts=(fact,))

        await self._standings.change(self._registry.get(name), moved)
