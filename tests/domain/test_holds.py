"""The table of held calls: what it lists is all there is."""

import itertools

import pytest

from mcpguard.domain.calls.holds import HOLD_MOVES, HoldMove, HoldState, state_after
from mcpguard.domain.errors import IllegalMove

LISTED = {
    "waiting": {"allow": "allowed", "deny": "denied", "expire": "expired", "void": "expired", "withdraw": "withdrawn"},
    "allowed": {"deny": "denied", "expire": "expired", "void": "expired", "consume": "consumed"},
}


@pytest.mark.parametrize(("state", "move"), list(itertools.product(HoldState, HoldMove)))
def test_held_calls_move_as_listed_and_in_no_other_way(state: HoldState, move: HoldMove) -> None:
    to = LISTED.get(state, {}).get(move)
    if to is None:
        with pytest.raises(IllegalMove, match=f"{state}; {move} is not possible"):
            state_after(state, move)
    else:
        assert state_after(state, move) == to


def test_nothing_leads_to_allowed_but_a_persons_answer_and_nothing_leaves_what_is_over() -> None:
    leading = {move for moves in HOLD_MOVES.values() for move, to in moves.items() if to is HoldState.ALLOWED}
    assert leading == {HoldMove.ALLOW}
    over = {HoldState.DENIED, HoldState.EXPIRED, HoldState.WITHDRAWN, HoldState.CONSUMED}
    assert {state for state, moves in HOLD_MOVES.items() if not moves} == over
