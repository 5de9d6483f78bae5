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
