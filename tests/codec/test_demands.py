"""Phrases that name calls: what each is about, and what is none."""

import pytest

from mcpguard.codec.demands import demand
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.errors import InvalidName
from mcpguard.policy.demands import matching_demand

READ, WRITE, WORST = Effect
DESK = Caller("1", "desk")


@pytest.mark.parametrize(
    ("text", "effect", "server", "name", "caller", "about"),
    [
        ("destructive", WORST, "files", "rm", "desk", True),
        ("destructive", WRITE, "files", "rm", "desk", False),
        ("any", READ, "files", "ls", "anonymous", True),
        ("any of prod-*", READ, "prod-db", "ls", "desk", True),
        ("any of prod-*", READ, "dev-db", "ls", "desk", False),
        ("any of files:move_*", READ, "files", "move_all", "desk", True),
        ("any of files:move_*", READ, "files", "remove_all", "desk", False),
        ("any of notes:note://a/*", READ, "notes", "note://a/b", "desk", True),
        ("write by desk", WRITE, "files", "touch", "desk", True),
        ("write by desk", WRITE, "files", "touch", "lab", False),
        ("write of files:touch by d?sk", WRITE, "files", "touch", "desk", True),
    ],
)
def test_a_phrase_is_about_these_calls(
    text: str, effect: Effect, server: str, name: str, caller: str, about: bool
) -> None:
    capability = Capability(server, CapabilityKind.TOOL, name)
    assert demand(text).covers(Caller("1", caller), capability, effect) is about
    assert matching_demand((demand(text),), Caller("1", caller), capability, effect) == (text if about else "")


def test_one_phrase_that_fits_is_enough_and_what_cannot_be_called_needs_nobody() -> None:
    demands = tuple(map(demand, ("write", "any of web", "read")))
    echo = Capability("web", CapabilityKind.TOOL, "echo")
    assert matching_demand(demands, DESK, echo, WORST) == "any of web"
    assert matching_demand(demands, DESK, echo, None) == ""
    assert matching_demand((), DESK, echo, WORST) == ""


NO_PHRASES = ["", " ", "delete", "any ", " any", "any  of web", "any of", "any by", "any of web by", "any of :echo"]
NO_PHRASES += ["any of web:", "ANY", "any of [a]", "any by desk of web", "any of a\nb", "any of web by desk by lab"]
NO_PHRASES += [f"any of {'a' * 201}", "any\n", "any of web\u00a0by desk"]


@pytest.mark.parametrize("text", NO_PHRASES)
def test_what_has_another_form_is_no_phrase(text: str) -> None:
    with pytest.raises(InvalidName):
        demand(text)
