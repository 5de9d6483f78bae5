"""What servers say on the side is kept without what is secret, a key line by line too."""

import random

import pytest

from mcpguard.policy.secrets.masking import spellings
from mcpguard.upstreams.process.hidden_secrets import KEY, LONGEST_KEY, SecretHiding
from tests.policy.secrets.made_up import PEM, TOKEN, drawing

BEGIN, END = PEM.format("BEGIN"), PEM.format("END")
some = drawing(3)
BODY = [some(64) for _ in range(5)]


@pytest.mark.parametrize("seed", range(20))
def test_a_key_is_hidden_however_its_lines_come(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - where lines are parted
    lines = ["before", BEGIN, "Proc-Type: 4,ENCRYPTED", "", *BODY, "QUJD=", END, "after all", "done"]
    hiding, kept = SecretHiding(), ""
    while lines:
        some_of, lines = lines[: (size := dice.randrange(1, 6))], lines[size:]
        kept += hiding("\n".join(some_of) + "\n")
    assert kept == f"before\n{KEY}\nafter all\ndone\n"


def test_what_only_speaks_of_keys_hides_no_more_than_its_line() -> None:
    hiding = SecretHiding()
    assert (
        hiding(f"a key begins with {BEGIN} and so on\nthe next line\n") == f"a key begins with {KEY}\nthe next line\n"
    )
    assert hiding("another line\n") == "another line\n"


def test_what_has_no_end_is_no_key_for_ever() -> None:
    hiding = SecretHiding()
    assert hiding(f"{BEGIN}\n") == f"{KEY}\n"
    kept = "".join(hiding(f"{some(64)}\n") for _ in range(LONGEST_KEY + 3))
    assert kept.count("\n") == 3


def test_what_was_given_in_confidence_is_hidden_and_lines_are_looked_at_alone_too() -> None:
    hiding = SecretHiding(spellings(["correct horse"]))
    assert hiding("a correct horse\n") == "a (hidden)\n"
    assert hiding.line(f"{TOKEN} correct%20horse") == "(hidden: github-pat) (hidden)"
    hiding(f"{BEGIN}\n")
    assert hiding.hide_alone(f"{BODY[0]}\nlast words") == f"{BODY[0]}\nlast words"
    assert hiding(f"{BODY[0]}\nlast words") == "last words"
