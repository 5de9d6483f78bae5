"""A record in a few words."""

import pytest

from mcpguard.ledger.words import who

ID = "01a20a66-f888-7698-95f9-2ca237a095f6"


@pytest.mark.parametrize(
    ("by", "told"),
    [
        (f"user:{ID} (ada)", "ada"),
        ("uid:0 (root)", "uid:0 (root)"),
        (f"operator:{ID} (build)", f"operator:{ID} (build)"),
        (f"user:{ID} (ada) (root)", f"user:{ID} (ada) (root)"),
        (f"x user:{ID} (ada)", f"x user:{ID} (ada)"),
        (7, 7),
    ],
)
def test_a_person_is_told_by_their_name_and_nobody_else_passes_for_one(by: object, told: object) -> None:
    assert who({"by": by}) == told


def test_a_decision_is_whoever_s_who_made_it_and_a_call_its_caller_s() -> None:
    grace = f"user:{ID} (grace)"
    assert who({"kind": "decided", "ticket": "e-1", "caller_label": "robot", "by": grace}) == "grace"
    assert who({"kind": "granted", "caller_label": "robot", "by": grace}) == "grace"
    assert who({"kind": "opened", "entry": "e-1", "caller_label": "robot", "by": grace}) == "robot"
    assert who({"kind": "signed_in", "user_name": "ada", "peer": "192.0.2.7"}) == "ada"
    assert who({"kind": "sign_in_refused", "peer": "192.0.2.7"}) == "192.0.2.7"
