"""What is meant by the words on the command line, and what an approval says before it is sent."""

from typing import Any

import pytest
import typer

from mcpguard.cli.servers.approval_plan import plan
from mcpguard.cli.servers.choices import choose_capabilities, default_effect, parse_effects
from mcpguard.cli.shared.options import pairs
from mcpguard.domain.capabilities import CapabilityKind, Effect
from tests.cli.command import HOSTILE, inert

A, B = "v1:" + "a" * 64, "v1:" + "b" * 64


def capability(kind: str, name: str, **more: object) -> dict[str, Any]:
    """One as the guard answers it."""
    tool = kind == "tool"
    return {
        "kind": kind,
        "name": name,
        "standing": "pending",
        "present": True,
        "waits": True,
        "fingerprint": A,
        "approved": None,
        "declared": "read" if tool else None,
        "suggested": "write" if tool else None,
        "because": "",
        "assigned": None,
        "findings": [],
        "needs_tasks": False,
        **more,
    }


OFFERED = [
    capability("tool", "echo"),
    capability("prompt", "echo"),
    capability("tool", "a=b"),
    capability("resource", "file:///x"),
    capability("resource", "tool:echo"),
    capability("instructions", "instructions"),
]


@pytest.mark.parametrize(
    ("word", "kind", "name"),
    [
        ("prompt:echo", CapabilityKind.PROMPT, "echo"),
        ("a=b", CapabilityKind.TOOL, "a=b"),
        ("tool:a=b", CapabilityKind.TOOL, "a=b"),
        ("file:///x", CapabilityKind.RESOURCE, "file:///x"),
        ("resource:file:///x", CapabilityKind.RESOURCE, "file:///x"),
        ("resource:tool:echo", CapabilityKind.RESOURCE, "tool:echo"),
        ("instructions", CapabilityKind.INSTRUCTIONS, "instructions"),
        ("instructions:instructions", CapabilityKind.INSTRUCTIONS, "instructions"),
    ],
)
def test_one_is_chosen_by_its_key_or_by_a_name_of_its_own(word: str, kind: CapabilityKind, name: str) -> None:
    assert choose_capabilities([word, word], OFFERED) == {(kind, name)}


@pytest.mark.parametrize(
    ("word", "candidates"),
    [
        ("echo", ["prompt:echo", "tool:echo"]),
        ("tool:echo", ["resource:tool:echo", "tool:echo"]),  # a resource may be called that
        ("ech", ["prompt:echo", "resource:file:///x", "tool:a=b"]),
        ("", ["prompt:echo", "tool:echo"]),
        ("prompt:a=b", ["tool:a=b"]),
    ],
)
def test_what_is_meant_is_never_guessed(word: str, candidates: list[str]) -> None:
    with pytest.raises(typer.BadParameter) as refused:
        choose_capabilities([word], OFFERED)
    for candidate in candidates:
        assert candidate in refused.value.message.replace(",", " ").split()


def test_candidates_do_nothing_to_the_terminal_and_end_somewhere() -> None:
    many = [capability("tool", f"{HOSTILE}{number}") for number in range(200)]
    with pytest.raises(typer.BadParameter) as refused:
        choose_capabilities([HOSTILE], many)
    assert inert(refused.value.message)
    assert refused.value.message.endswith(" and 180 more")


def test_nothing_can_be_chosen_of_nothing() -> None:
    with pytest.raises(typer.BadParameter, match="it has listed none"):
        choose_capabilities(["echo"], [])


def test_an_effect_stands_after_the_last_equals_sign() -> None:
    words = ["a=b=read", "tool:echo=destructive", "echo=destructive"]
    assert parse_effects(words, OFFERED) == {"a=b": Effect.READ, "echo": Effect.DESTRUCTIVE}


@pytest.mark.parametrize(
    "word", ["echo", "echo=", "echo=harmless", "=read", "none=read", "file:///x=read", "echo=READ"]
)
def test_an_effect_of_nothing_or_of_no_kind_is_refused(word: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_effects([word], OFFERED)


def test_a_tool_has_one_effect() -> None:
    with pytest.raises(typer.BadParameter, match="two effects"):
        parse_effects(["echo=read", "echo=write"], OFFERED)


@pytest.mark.parametrize(
    ("declared", "suggested", "expected"),
    [
        ("read", "write", Effect.WRITE),
        ("destructive", "read", Effect.DESTRUCTIVE),
        (None, "read", Effect.READ),
        (None, None, None),
    ],
)
def test_the_default_is_the_most_careful_that_is_known(
    declared: str | None, suggested: str | None, expected: Effect | None
) -> None:
    assert default_effect(capability("tool", "x", declared=declared, suggested=suggested)) is expected


def test_what_is_no_tool_only_reads() -> None:
    assert default_effect(capability("resource", "x")) is Effect.READ


def test_the_value_of_a_pair_is_everything_after_the_first_equals_sign() -> None:
    assert pairs(["A=b=c", "D="], "--env") == {"A": "b=c", "D": ""}


def test_a_pair_that_is_none_repeats_nothing() -> None:
    with pytest.raises(typer.BadParameter) as refused:
        pairs(["hunter2"], "--env")
    assert "hunter2" not in refused.value.message


# The plan.

SERVER: dict[str, Any] = {
    "name": "notes",
    "fingerprint": B,
    "observed": None,
    "capabilities": [
        capability("tool", "new"),
        capability("tool", "other", standing="approved", assigned="read"),
        capability("tool", "stopped", standing="blocked"),
        capability("tool", "away", present=False),
        capability("tool", "odd", fingerprint=None, declared=None, suggested=None),
        capability("resource", "a:b"),
    ],
}


def shown(*only: str, effects: tuple[str, ...] = ()) -> dict[str, tuple[str, str]]:
    """For each capability what happens to it, and with which effect."""
    return {row[0]: (row[1], row[2]) for row in plan(SERVER, [*only], effects).rows()}


def test_everything_that_can_be_approved_is_planned_and_the_rest_is_said() -> None:
    assert shown() == {
        "tool:new": ("is approved", "write (careful default)"),
        "tool:other": ("is approved", "read (as it was)"),
        "tool:stopped": ("stays blocked", ""),
        "tool:away": ("is not listed any more", ""),
        "tool:odd": ("cannot be read", ""),
        "resource:a:b": ("is approved", "read"),
    }


def test_what_is_not_chosen_waits() -> None:
    said = shown("other", "a:b", effects=("other=read",))
    assert said["tool:new"] == ("stays as it is", "")
    assert said["tool:other"] == ("is approved", "read (given)")
    assert said["resource:a:b"] == ("is approved", "read")


def test_an_effect_for_what_is_not_approved_is_wrong_use() -> None:
    with pytest.raises(typer.BadParameter, match="not among what is approved"):
        plan(SERVER, ["a:b"], ["new=read"])


def test_what_is_sent_as_seen_is_what_was_printed() -> None:
    planned = plan(SERVER, ["a:b", "new"], ["new=destructive"])
    assert planned.body("why") == {
        "why": "why",
        "seen": {
            "launch": B,
            "observed": None,
            "capabilities": {
                "tool:new": A,
                "tool:other": A,
                "tool:stopped": A,
                "tool:odd": None,
                "resource:a:b": A,
            },
        },
        "only": ["resource:a:b", "tool:new"],
        "effects": {"new": "destructive"},
    }
    assert "only" not in plan(SERVER, None, ()).body("why")


def test_an_effect_that_was_not_printed_is_noticed() -> None:
    answer = [
        {"kind": "tool", "name": "new", "effect": "destructive"},
        {"kind": "tool", "name": "other", "effect": "read"},
        {"kind": "tool", "name": "late", "effect": "read"},
    ]
    assert list(plan(SERVER, None, ()).changed_effects(answer)) == [
        ("tool:new", "write", "destructive"),
        ("tool:late", "nothing", "read"),
    ]
