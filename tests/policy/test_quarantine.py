"""An approved server is the one that a person saw, whoever declares what and however often."""

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Forbidden, Stale, Undecidable
from mcpguard.domain.errors import IllegalMove
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.standing import UPSTREAM_MOVES, UpstreamMove, UpstreamStanding
from mcpguard.domain.servers.upstreams import Identity, Transport, Upstream
from mcpguard.policy import quarantine
from mcpguard.policy.quarantine import NotInspected, UpstreamChange
from tests.tiers import examples

A, B, C, D = (Fingerprint(f"v1:{letter * 64}") for letter in "abcd")
PRINTS = st.sampled_from([A, B, C, D])
SEEN = Identity(A, B)
NEW = Upstream("id", "server", Transport.STDIO, identity=Identity(A))
INSPECTED = replace(NEW, identity=SEEN)
APPROVED = quarantine.approve(INSPECTED, SEEN).upstream


def test_whatever_is_new_is_quarantined_whatever_it_says_of_itself() -> None:
    claims = replace(NEW, standing=UpstreamStanding.APPROVED, approved=SEEN, generation=7)
    made = quarantine.admit(claims, [])
    assert (made.standing, made.approved, made.generation) == (UpstreamStanding.QUARANTINED, None, 0)


@pytest.mark.parametrize(
    ("earlier", "standing"),
    [
        (replace(NEW, id="x", identity=Identity(C)), UpstreamStanding.BLOCKED),
        (replace(NEW, id="x", name="other"), UpstreamStanding.BLOCKED),
        (replace(NEW, id="x", name="other", identity=Identity(C)), UpstreamStanding.QUARANTINED),
        (replace(NEW, id="x", name="other", identity=None), UpstreamStanding.QUARANTINED),
    ],
)
@pytest.mark.parametrize("gone", [True, False])
def test_a_name_or_a_launch_that_was_blocked_comes_back_blocked(
    earlier: Upstream, standing: UpstreamStanding, *, gone: bool
) -> None:
    blocked = quarantine.block(earlier).upstream
    known = [quarantine.remove(blocked) if gone else blocked]
    assert quarantine.admit(NEW, known).standing is standing


def test_what_a_person_sends_out_of_the_inbox_waits_again_once_it_is_another() -> None:
    assert INSPECTED.waits
    sent_away = quarantine.reject(INSPECTED, SEEN)
    assert not sent_away.waits
    assert replace(sent_away, rejected=None) == INSPECTED, "and stands where it stood"
    assert quarantine.relaunch(sent_away, C).upstream.waits
    assert quarantine.observe(sent_away, D).upstream.waits
    back = quarantine.quarantine(quarantine.approve(sent_away, SEEN).upstream).upstream
    assert back.waits, "an approval takes it back"


@pytest.mark.parametrize("seen", [Identity(A), Identity(A, C), Identity(C, B)])
def test_nobody_sends_away_what_they_have_not_seen(seen: Identity) -> None:
    with pytest.raises(Stale):
        quarantine.reject(INSPECTED, seen)


def test_only_what_is_in_quarantine_is_left_there() -> None:
    for upstream in (APPROVED, quarantine.block(INSPECTED).upstream):
        with pytest.raises(Undecidable, match="only a server in quarantine"):
            quarantine.reject(upstream, SEEN)


def test_one_that_was_never_inspected_cannot_be_approved() -> None:
    for upstream in (NEW, replace(NEW, identity=None)):
        with pytest.raises(NotInspected):
            quarantine.approve(upstream, SEEN)


@pytest.mark.parametrize("seen", [Identity(A), Identity(A, C), Identity(B, B), Identity(C, B)])
def test_an_approval_of_another_changes_nothing_and_says_what_moved(seen: Identity) -> None:
    with pytest.raises(Stale) as outdated:
        quarantine.approve(INSPECTED, seen)
    (said,) = outdated.value.moved
    assert str(seen) in said
    assert str(INSPECTED.identity) in said


def test_another_launch_returns_it_and_has_to_be_inspected_again() -> None:
    done = quarantine.relaunch(APPROVED, C)
    assert done.move is UpstreamMove.IDENTITY_CHANGED
    assert (done.upstream.standing, done.upstream.identity) == (UpstreamStanding.QUARANTINED, Identity(C))
    with pytest.raises(NotInspected):
        quarantine.approve(done.upstream, SEEN)
    back = quarantine.relaunch(done.upstream, A)
    assert back.upstream.standing is UpstreamStanding.QUARANTINED, "coming back is not being approved"


def test_another_observation_returns_it() -> None:
    done = quarantine.observe(APPROVED, C)
    assert done.move is UpstreamMove.IDENTITY_CHANGED
    assert done.upstream.standing is UpstreamStanding.QUARANTINED
    assert quarantine.observe(APPROVED, B).move is None


def test_what_was_switched_off_is_switched_on_by_a_person_or_by_the_caller_who_did_it() -> None:
    off = quarantine.disable(APPROVED, "caller")
    assert (off.enabled, off.disabled_by, off.generation) == (False, "caller", APPROVED.generation + 1)
    for again in quarantine.enable(off), quarantine.enable_as_caller(off, "caller"):
        assert again == replace(APPROVED, generation=APPROVED.generation + 2)
    for other in "", "other":
        with pytest.raises(Forbidden):
            quarantine.enable_as_caller(off, other)
    theirs = quarantine.disable(off)
    for caller in "", "caller", "other":
        with pytest.raises(Forbidden):
            quarantine.enable_as_caller(theirs, caller)
    for caller in "caller", "other":
        for switched_off in off, theirs:
            with pytest.raises(IllegalMove):
                quarantine.disable(switched_off, caller)
    with pytest.raises(IllegalMove):
        quarantine.disable(theirs)


@pytest.mark.parametrize("mode", [None, *Screening])
def test_when_it_becomes_another_it_is_not_screened_more_loosely_for_that(mode: Screening | None) -> None:
    before = replace(APPROVED, screening=mode)
    after = quarantine.relaunch(before, C).upstream
    assert after.screening is (mode if mode in (Screening.MASK, Screening.REFUSE) else None)


def test_the_same_again_changes_nothing() -> None:
    assert quarantine.relaunch(APPROVED, A) == UpstreamChange(APPROVED)
    assert quarantine.approve(APPROVED, SEEN) == UpstreamChange(APPROVED)


class Life(RuleBasedStateMachine):
    """Anything may happen, in any order. The model knows who a person approved last, and whether that still holds."""

    def __init__(self) -> None:
        super().__init__()
        self.upstream = NEW
        self.holds: Identity | None = None

    def _take(self, done: UpstreamChange) -> None:
        before, self.upstream = self.upstream, done.upstream
        if done.move is None:
            assert (self.upstream.generation, self.upstream.standing) == (before.generation, before.standing)
        else:
            assert self.upstream.generation == before.generation + 1
            assert UPSTREAM_MOVES[before.standing][done.move] is self.upstream.standing

    @rule(launch=PRINTS)
    def is_declared(self, launch: Fingerprint) -> None:
        self._take(quarantine.relaunch(self.upstream, launch))

    @rule(seen=PRINTS)
    def is_observed(self, seen: Fingerprint) -> None:
        self._take(quarantine.observe(self.upstream, seen))

    @rule(launch=PRINTS, seen=PRINTS)
    def is_approved(self, launch: Fingerprint, seen: Fingerprint) -> None:
        try:
            self._take(quarantine.approve(self.upstream, Identity(launch, seen)))
        except (Stale, NotInspected, IllegalMove):
            return
        self.holds = Identity(launch, seen)

    @rule(which=st.sampled_from(["block", "quarantine"]))
    def is_narrowed(self, which: str) -> None:
        try:
            self._take(quarantine.block(self.upstream) if which == "block" else quarantine.quarantine(self.upstream))
        except IllegalMove:
            return
        self.holds = None

    @invariant()
    def who_is_approved_is_who_a_person_saw(self) -> None:
        if self.upstream.standing is UpstreamStanding.APPROVED:
            assert self.holds == self.upstream.identity == self.upstream.approved
        else:
            assert self.upstream.approved is None


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=examples(300), stateful_step_count=30, deadline=None)
