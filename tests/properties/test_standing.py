"""The standing tables: what they list is all there is."""

import itertools

import pytest

from mcpguard.domain.errors import IllegalMove
from mcpguard.domain.servers.standing import (
    CAPABILITY_MOVES,
    UPSTREAM_MOVES,
    CapabilityMove,
    CapabilityStanding,
    Mover,
    UpstreamMove,
    UpstreamStanding,
    standing_after,
)

UPSTREAM = {
    "quarantined": {"approve": "approved", "block": "blocked"},
    "approved": {"quarantine": "quarantined", "identity_changed": "quarantined", "block": "blocked"},
    "blocked": {"quarantine": "quarantined"},
}
CAPABILITY = {
    "pending": {"approve": "approved", "block": "blocked"},
    "approved": {
        "assign_effect": "approved",
        "differs": "changed",
        "revoke": "pending",
        "identity_changed": "pending",
        "block": "blocked",
    },
    "changed": {
        "differs": "changed",
        "revoke": "pending",
        "identity_changed": "pending",
        "approve": "approved",
        "returned": "approved",
        "block": "blocked",
    },
    "blocked": {"unblock": "pending"},
}


@pytest.mark.parametrize(("standing", "move"), list(itertools.product(UpstreamStanding, UpstreamMove)))
def test_upstreams_move_as_listed_and_in_no_other_way(standing: UpstreamStanding, move: UpstreamMove) -> None:
    to = UPSTREAM[standing].get(move)
    if to is None:
        with pytest.raises(IllegalMove, match=f"{move} is not possible while the status is {standing}"):
            standing_after(UPSTREAM_MOVES, standing, move)
    else:
        assert standing_after(UPSTREAM_MOVES, standing, move) == to


@pytest.mark.parametrize(("standing", "move"), list(itertools.product(CapabilityStanding, CapabilityMove)))
def test_capabilities_move_as_listed_and_in_no_other_way(standing: CapabilityStanding, move: CapabilityMove) -> None:
    to = CAPABILITY[standing].get(move)
    if to is None:
        with pytest.raises(IllegalMove, match=f"{move} is not possible while the status is {standing}"):
            standing_after(CAPABILITY_MOVES, standing, move)
    else:
        assert standing_after(CAPABILITY_MOVES, standing, move) == to


def test_the_guard_moves_nothing_towards_approved_but_back() -> None:
    by_itself = [
        (standing, move)
        for standing, moves in CAPABILITY_MOVES.items()
        for move, to in moves.items()
        if move.by is Mover.GUARD and to is CapabilityStanding.APPROVED
    ]
    assert by_itself == [(CapabilityStanding.CHANGED, CapabilityMove.RETURNED)]
    assert not any(
        move.by is Mover.GUARD and to is UpstreamStanding.APPROVED
        for moves in UPSTREAM_MOVES.values()
        for move, to in moves.items()
    )


def test_the_tables_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        UPSTREAM_MOVES[UpstreamStanding.BLOCKED][UpstreamMove.APPROVE] = UpstreamStanding.APPROVED  # type: ignore[index]
