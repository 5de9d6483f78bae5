"""What hands over from one signing key to the next is said in full and signed by both, or hands over nothing."""

import json

import pytest

from mcpguard.ledger.rotations import BadRotation, Rotation
from tests.ledger.chained import new_key

OLD, NEW = new_key(), new_key()
ROTATION = Rotation("chain", 4, 5, "ab" * 32, OLD.public, NEW.public)
SAID = {"kind": "rotated", "v": 1, "chain": "chain", "seq": 4, **ROTATION.fields(OLD, NEW)}
NEEDED = [name for name in SAID if name != "v"]
ODD = ["null", "[]", "{}", "1e999", "-0.0", "1" + "0" * 5000, '"\\ud800"', '""', "true", "NaN", "[" * 600 + "]" * 600]


def test_both_have_signed_it() -> None:
    assert Rotation.verify(json.dumps(SAID).encode()) == ROTATION


@pytest.mark.parametrize("name", NEEDED)
def test_without_any_part_of_it_nothing_follows(name: str) -> None:
    with pytest.raises(BadRotation):
        Rotation.verify(json.dumps({each: said for each, said in SAID.items() if each != name}).encode())


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd[:9])
@pytest.mark.parametrize("name", NEEDED)
def test_nor_with_anything_else_in_its_place(name: str, odd: str) -> None:
    parts = (f"{json.dumps(each)}:{odd if each == name else json.dumps(said)}" for each, said in SAID.items())
    with pytest.raises(BadRotation):
        Rotation.verify(("{" + ",".join(parts) + "}").encode())


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"3", b'"x"', b"{}", b"\xff"])
def test_nor_by_what_is_no_statement_at_all(content: bytes) -> None:
    with pytest.raises(BadRotation):
        Rotation.verify(content)


def test_no_key_follows_itself() -> None:
    same = Rotation("chain", 4, 5, "ab" * 32, OLD.public, OLD.public)
    said = SAID | same.fields(OLD, OLD)
    with pytest.raises(BadRotation, match="does not rotate"):
        Rotation.verify(json.dumps(said).encode())
