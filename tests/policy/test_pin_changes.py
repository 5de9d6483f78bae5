"""What may be called is what a person approved as it stands, whatever the server lists and whoever decides when."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import Stale, Undecidable
from mcpguard.domain.errors import IllegalMove
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CAPABILITY_MOVES, CapabilityMove, CapabilityStanding
from mcpguard.policy import pin_changes
from mcpguard.policy.pin_changes import PinChange
from tests.tiers import examples

A, B, C = (Fingerprint(f"v1:{letter * 64}") for letter in "abc")
PRINTS = st.sampled_from([A, B, C])
NEW = Pin("id", "upstream", CapabilityKind.TOOL, "tool", A)
APPROVED = replace(NEW, standing=CapabilityStanding.APPROVED, approved=A, effect=Effect.WRITE, generation=1)


def test_what_is_new_waits_for_a_person() -> None:
    assert (NEW.standing, NEW.waits, NEW.callable) == (CapabilityStanding.PENDING, True, False)
    done = pin_changes.approve(NEW, A, Effect.READ)
    assert done.move is CapabilityMove.APPROVE
    assert done.pin.callable
    assert (done.pin.effect, done.pin.waits) == (Effect.READ, False)


def test_what_differs_cannot_be_called_and_waits() -> None:
    done = pin_changes.mark_listed(APPROVED, B)
    assert done.move is CapabilityMove.DIFFERS
    assert (done.pin.standing, done.pin.callable, done.pin.waits) == (CapabilityStanding.CHANGED, False, True)
    assert done.pin.effect is Effect.WRITE, "shown to the reviewer, and worth nothing"


def test_an_effect_is_assigned_to_exactly_one_definition() -> None:
    changed = pin_changes.mark_listed(APPROVED, B).pin
    again = pin_changes.approve(changed, B, Effect.READ).pin
    assert (again.approved, again.effect, again.callable) == (B, Effect.READ, True)


def test_the_server_may_come_back_once() -> None:
    back = pin_changes.mark_listed(pin_changes.mark_listed(APPROVED, B).pin, A)
    assert back.move is CapabilityMove.RETURNED
    assert back.pin.callable
    twice = pin_changes.mark_listed(pin_changes.mark_listed(back.pin, B).pin, A)
    assert twice.pin.standing is CapabilityStanding.CHANGED
    assert not twice.pin.callable
    approved = pin_changes.approve(twice.pin, A, Effect.WRITE).pin
    assert pin_changes.mark_listed(pin_changes.mark_listed(approved, B).pin, A).pin.callable, "once for each approval"


def test_nothing_comes_back_after_something_grave_was_found() -> None:
    """Neither in what was listed in between, nor in what is listed now."""
    assert not pin_changes.mark_listed(pin_changes.mark_listed(APPROVED, B, grave=True).pin, A).pin.callable
    assert not pin_changes.mark_listed(pin_changes.mark_listed(APPROVED, B).pin, A, grave=True).pin.callable
    later = pin_changes.mark_listed(pin_changes.mark_listed(APPROVED, B).pin, B, grave=True).pin
    assert not pin_changes.mark_listed(later, A).pin.callable, "it was found hard only when it was listed again"
    via = pin_changes.mark_listed(pin_changes.mark_listed(APPROVED, B).pin, C, grave=True).pin
    assert not pin_changes.mark_listed(via, A).pin.callable


def test_what_cannot_be_read_cannot_be_called_or_approved() -> None:
    unreadable = pin_changes.mark_listed(APPROVED, None).pin
    assert (unreadable.standing, unreadable.callable, unreadable.waits) == (CapabilityStanding.CHANGED, False, True)
    for seen in (None, A):
        with pytest.raises(Undecidable):
            pin_changes.approve(unreadable, seen, Effect.READ)


def test_what_is_not_listed_stands_where_it_stood() -> None:
    away = pin_changes.mark_gone(APPROVED)
    assert away.move is None
    assert (away.pin.standing, away.pin.callable) == (CapabilityStanding.APPROVED, False)
    assert pin_changes.mark_listed(away.pin, A).pin.callable
    assert pin_changes.mark_listed(away.pin, B).pin.standing is CapabilityStanding.CHANGED
    with pytest.raises(Undecidable):
        pin_changes.approve(pin_changes.mark_gone(NEW).pin, A, Effect.READ)


@pytest.mark.parametrize("seen", [B, None])
def test_a_stale_decision_changes_nothing_and_says_what_moved(seen: Fingerprint | None) -> None:
    for pin, decide in (
        (NEW, partial(pin_changes.approve, seen=seen, effect=Effect.READ)),
        (NEW, partial(pin_changes.reject, seen=seen)),
        (APPROVED, partial(pin_changes.revoke, seen=seen)),
    ):
        with pytest.raises(Stale) as stale:
            decide(pin)
        (said,) = stale.value.moved
        assert f"reviewed {seen}, now {pin.listed}" in said


def test_what_was_rejected_comes_back_with_another_definition_only() -> None:
    rejected = pin_changes.reject(NEW, A)
    assert rejected.move is None
    assert (rejected.pin.standing, rejected.pin.waits) == (CapabilityStanding.PENDING, False)
    assert not pin_changes.mark_listed(rejected.pin, A).pin.waits
    assert pin_changes.mark_listed(rejected.pin, B).pin.waits
    with pytest.raises(Undecidable):
        pin_changes.reject(APPROVED, A)


def test_what_is_blocked_stays_blocked_whatever_the_server_does() -> None:
    blocked = pin_changes.block(APPROVED).pin
    for print_ in (A, B, None):
        assert pin_changes.mark_listed(blocked, print_).pin.standing is CapabilityStanding.BLOCKED
    assert pin_changes.mark_identity_changed(blocked).pin.standing is CapabilityStanding.BLOCKED
    with pytest.raises(IllegalMove):
        pin_changes.approve(blocked, A, Effect.READ)
    waiting = pin_changes.unblock(blocked).pin
    assert (waiting.standing, waiting.approved, waiting.effect) == (CapabilityStanding.PENDING, None, None)


def test_another_server_under_the_name_begins_anew() -> None:
    done = pin_changes.mark_identity_changed(APPROVED)
    assert done.move is CapabilityMove.IDENTITY_CHANGED
    assert (done.pin.standing, done.pin.approved, done.pin.callable) == (CapabilityStanding.PENDING, None, False)
    assert pin_changes.mark_listed(done.pin, A).pin.standing is CapabilityStanding.PENDING, (
        "the old approval is forgotten"
    )
    assert pin_changes.mark_identity_changed(NEW).move is None


class Life(RuleBasedStateMachine):
    """Anything may happen, in any order. The model knows what a person approved last, and whether that still holds."""

    def __init__(self) -> None:
        super().__init__()
        self.pin = NEW
        self.holds: tuple[Fingerprint, Effect] | None = None
        self.returns = 0

    def _take(self, outcome: PinChange) -> None:
        before, self.pin = self.pin, outcome.pin
        if outcome.move is None:
            assert self.pin.generation == before.generation
            assert self.pin.standing is before.standing
        else:
            assert self.pin.generation == before.generation + 1
            assert CAPABILITY_MOVES[before.standing][outcome.move] is self.pin.standing
        self.returns += outcome.move is CapabilityMove.RETURNED

    @rule(print_=PRINTS | st.none(), grave=st.booleans())
    def lists(self, print_: Fingerprint | None, grave: bool) -> None:
        self._take(pin_changes.mark_listed(self.pin, print_, grave=grave))

    @rule()
    def goes_away(self) -> None:
        self._take(pin_changes.mark_gone(self.pin))

    @rule()
    def becomes_another(self) -> None:
        self._take(pin_changes.mark_identity_changed(self.pin))
        if self.pin.standing is not CapabilityStanding.BLOCKED:
            self.holds = None

    @rule(seen=PRINTS, effect=st.sampled_from(Effect))
    def is_approved(self, seen: Fingerprint, effect: Effect) -> None:
        try:
            outcome = pin_changes.approve(self.pin, seen, effect)
        except (Stale, Undecidable, IllegalMove):
            return
        assert seen == self.pin.listed
        self._take(outcome)
        self.returns = 0 if outcome.move is not None else self.returns
        self.holds = seen, effect

    @rule(seen=PRINTS | st.none())
    def is_revoked(self, seen: Fingerprint | None) -> None:
        try:
            outcome = pin_changes.revoke(self.pin, seen)
        except (Stale, IllegalMove):
            return
        self._take(outcome)
        self.holds = None

    @rule(seen=PRINTS | st.none())
    def is_rejected(self, seen: Fingerprint | None) -> None:
        try:
            self._take(pin_changes.reject(self.pin, seen))
        except (Stale, Undecidable):
            return

    @rule(decide=st.sampled_from([pin_changes.block, pin_changes.unblock]))
    def is_blocked_or_unblocked(self, decide: object) -> None:
        try:
            outcome = pin_changes.block(self.pin) if decide is pin_changes.block else pin_changes.unblock(self.pin)
        except IllegalMove:
            return
        self._take(outcome)
        self.holds = None

    @invariant()
    def what_can_be_called_is_what_a_person_approved(self) -> None:
        if self.pin.callable:
            assert self.holds == (self.pin.listed, self.pin.effect)
        assert (self.pin.approved is None) == (self.pin.effect is None)
        assert self.returns <= 1, "by itself it comes back once for each approval"
        if self.pin.standing is CapabilityStanding.APPROVED:
            assert self.pin.approved is not None


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=examples(300), stateful_step_count=30, deadline=None)
