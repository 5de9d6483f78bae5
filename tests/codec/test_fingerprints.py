"""What an approval binds to: all of a definition and of an identity, in a form that never changes."""

import dataclasses
import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.exact import MOST_DEPTH
from mcpguard.codec.fingerprints import (
    KEY_BYTES,
    definition_fingerprint,
    launch_fingerprint,
    literal_digest,
    observed_fingerprint,
)
from mcpguard.codec.strict import parse
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import Unreadable
from mcpguard.domain.servers.identity import GivenVariable, LaunchIdentity, ObservedIdentity, PartKind, TemplatePart
from mcpguard.domain.servers.launches import Mount, Profile, StdioFraming
from mcpguard.domain.servers.upstreams import Transport

TOOL = CapabilityKind.TOOL
KEY = bytes(range(KEY_BYTES))
DEFINITION: dict[str, Any] = {
    "name": "lend_book",
    "title": "Lend",
    "description": "Lends a book to a reader.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "book": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "days": {"type": "integer", "minimum": 1, "maximum": 9007199254740993, "examples": [7, 7.5]},
        },
        "required": ["book", "days"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": False, "destructiveHint": None},
    "icons": [{"src": "data:,", "sizes": ["48x48"]}],
    "_meta": {"shop.example/etag": "x1", "shop.example/rank": 1.0},
}
LAUNCH = LaunchIdentity(
    Transport.STDIO,
    "uvx",
    ("library-server", "--port", "1"),
    "/srv",
    StdioFraming.LINES,
    (
        GivenVariable("TOKEN", (TemplatePart(PartKind.ENV, "T"),)),
        GivenVariable("MODE", (TemplatePart(PartKind.LITERAL, "hmac-sha256:00"),)),
    ),
)
REMOTE = LaunchIdentity(
    Transport.HTTP,
    url="https://library.example/mcp",
    headers=(GivenVariable("Authorization", (TemplatePart(PartKind.FILE, "/t"),)),),
)
OBSERVED = ObservedIdentity({"name": "library", "version": "1.0"}, {"tools": {"listChanged": True}})


def single_changes(value: object) -> Iterator[object]:
    """The value with one thing changed, for each thing in it: removed, repeated, renamed, or something near it."""
    match value:
        case dict():
            for key, each in value.items():
                rest = {other: value[other] for other in value if other != key}
                yield from (rest, {**rest, f"{key} ": each}, {**rest, key: False if each is None else None})
                yield from ({**rest, key: changed} for changed in single_changes(each))
            yield {**value, "new": None}
        case list():
            for at, each in enumerate(value):
                before, after = value[:at], value[at + 1 :]
                yield from ([*before, *after], [*before, each, each, *after])
                yield from ([*before, changed, *after] for changed in single_changes(each))
            yield from ([value], dict(enumerate_texts(value)), *([value[::-1]] if len(value) > 1 else []))
        case _:
            yield from near(value)


def enumerate_texts(items: list[object]) -> Iterator[tuple[str, object]]:
    return ((str(at), each) for at, each in enumerate(items))


def near(scalar: object) -> tuple[object, ...]:
    match scalar:
        case bool():
            return not scalar, int(scalar), str(scalar).lower()
        case int():
            return scalar + 1, scalar - 1, float(scalar), str(scalar), [scalar]
        case float():
            return -scalar, str(scalar), int(scalar), scalar + 0.5
        case str():
            return f"{scalar} ", f"{scalar}\u200b", f"{scalar.upper()}!", [scalar]
        case _:
            return False, 0, "", "null", {}


def test_any_single_change_of_a_definition_is_another_fingerprint() -> None:
    changes = list(single_changes(DEFINITION))
    prints = {definition_fingerprint(TOOL, each) for each in changes}
    assert len(changes) > 200
    assert definition_fingerprint(TOOL, DEFINITION) not in prints
    assert len(prints) == len({json.dumps(each, sort_keys=True) for each in changes}), "nor are two changes the same"


def test_how_the_document_was_written_does_not_matter() -> None:
    written = (
        json.dumps(DEFINITION),
        json.dumps(DEFINITION, indent=3, sort_keys=True),
        json.dumps(dict(reversed(DEFINITION.items()))).replace("lend_book", "l\\u0065nd_book"),
    )
    assert {definition_fingerprint(TOOL, parse(each.encode(), max_bytes=10**5)) for each in written} == {
        definition_fingerprint(TOOL, DEFINITION)
    }


def test_the_same_definition_of_another_kind_is_another() -> None:
    assert len({definition_fingerprint(kind, DEFINITION) for kind in CapabilityKind}) == len(CapabilityKind)


def test_members_of_meta_can_be_left_out_and_that_is_part_of_it() -> None:
    volatile = frozenset({"shop.example/etag"})
    later = {**DEFINITION, "_meta": {**DEFINITION["_meta"], "shop.example/etag": "x2"}}
    gone = {**DEFINITION, "_meta": {"shop.example/rank": 1.0}}
    other = {**DEFINITION, "_meta": {**DEFINITION["_meta"], "shop.example/rank": 2.0}}
    first = definition_fingerprint(TOOL, DEFINITION, volatile)
    assert definition_fingerprint(TOOL, DEFINITION) != definition_fingerprint(TOOL, later)
    assert first == definition_fingerprint(TOOL, later, volatile) == definition_fingerprint(TOOL, gone, volatile)
    assert first not in {
        definition_fingerprint(TOOL, other, volatile),
        definition_fingerprint(TOOL, gone),
        definition_fingerprint(TOOL, DEFINITION),
    }
    plain = {"name": "a"}
    ways = [frozenset[str](), frozenset({"a"}), frozenset({"b"}), frozenset({"a", "b"}), frozenset({"a,b"}), volatile]
    assert len({definition_fingerprint(TOOL, plain, way) for way in ways}) == len(ways)


@pytest.mark.parametrize("meta", [None, [], "shop.example/etag", 1, True, ["shop.example/etag"]])
def test_nothing_but_members_of_meta_is_ever_left_out(meta: object) -> None:
    volatile = frozenset({"shop.example/etag", "name", "_meta"})
    prints = {
        definition_fingerprint(TOOL, each, volatile)
        for each in (
            {"name": "a", "_meta": meta},
            {"name": "a"},
            {"name": "b", "_meta": meta},
            {"name": "a", "_meta": {}},
            {"name": "a", "_meta": {"deeper": {"shop.example/etag": 1}}},
            {"name": "a", "_meta": {"deeper": {}}},
        )
    }
    assert len(prints) == 6


@pytest.mark.parametrize("bad", [{"name": "\ud800"}, {"a": float("nan")}, {1: 2}, object(), ("a",)])
def test_what_has_no_form_has_no_fingerprint(bad: object) -> None:
    with pytest.raises(Unreadable):
        definition_fingerprint(TOOL, bad)


def test_a_definition_of_ten_thousand_levels_is_refused() -> None:
    deep: object = {}
    for _ in range(10_000):
        deep = {"properties": deep}
    with pytest.raises(Unreadable, match=f"deeper than {MOST_DEPTH}"):
        definition_fingerprint(TOOL, deep)


def test_every_part_of_a_launch_matters() -> None:
    other: dict[str, Any] = {
        "transport": Transport.SSE,
        "command": "npx",
        "arguments": ("library-server", "1", "--port"),
        "folder": None,
        "framing": StdioFraming.HEADERS,
        "environment": LAUNCH.environment[:1],
        "url": "https://library.example/",
        "headers": LAUNCH.environment,
        "profile": Profile.STRICT,
        "mounts": (Mount("/data"),),
    }
    assert other.keys() == {field.name for field in dataclasses.fields(LaunchIdentity)}
    made = [LAUNCH, REMOTE, *(dataclasses.replace(LAUNCH, **{name: each}) for name, each in other.items())]
    made += [dataclasses.replace(LAUNCH, arguments=each) for each in [(), ("library-server --port 1",), ("",)]]
    made += [dataclasses.replace(LAUNCH, mounts=(Mount("/data", writable=True),))]
    made += [dataclasses.replace(LAUNCH, environment=(GivenVariable("A", parts),)) for parts in PARTS]
    assert len({launch_fingerprint(each) for each in made}) == len(made)


PARTS = [
    (),
    (TemplatePart(PartKind.ENV, "X"),),
    (TemplatePart(PartKind.FILE, "X"),),
    (TemplatePart(PartKind.LITERAL, "X"),),
    (TemplatePart(PartKind.ENV, "X"), TemplatePart(PartKind.ENV, "X")),
    (TemplatePart(PartKind.ENV, "X"), TemplatePart(PartKind.LITERAL, "X")),
    (TemplatePart(PartKind.LITERAL, "X"), TemplatePart(PartKind.ENV, "X")),
]


def test_every_part_of_what_was_observed_matters() -> None:
    observed = [
        OBSERVED,
        ObservedIdentity({**OBSERVED.server, "version": "1.1"}, OBSERVED.capabilities),
        ObservedIdentity({**OBSERVED.server, "title": None}, OBSERVED.capabilities),
        ObservedIdentity(OBSERVED.server, {"tools": {"listChanged": 1}}),
        ObservedIdentity(OBSERVED.server, {}),
        ObservedIdentity(OBSERVED.server, OBSERVED.capabilities, "sha256:00"),
        ObservedIdentity({}, {}),
    ]
    assert len({observed_fingerprint(each) for each in observed}) == len(observed)


@given(
    st.lists(
        st.tuples(st.sampled_from(["header", "variable"]), st.text("ab"), st.integers(0, 2), st.text("ab")),
        min_size=2,
        max_size=2,
        unique=True,
    )
)
def test_a_literal_says_only_to_the_holder_of_the_key_whether_it_is_the_same(given: list[Any]) -> None:
    (one, other), key = given, KEY[::-1]
    assert literal_digest(KEY, *one) == literal_digest(KEY, *one) != literal_digest(KEY, *other)
    assert literal_digest(key, *one) != literal_digest(KEY, *one)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        literal_digest(KEY[1:], "variable", "A", 0, "x")


def test_the_form_is_a_list_that_anyone_can_hash() -> None:
    plain = {"name": "lend_book", "_meta": {"b": 1}}
    form: Any = ["mcpguard fingerprint v1", "tool", ["a"], plain]
    assert str(definition_fingerprint(TOOL, plain, frozenset({"a"}))) == f"v1:{sha256(rfc8785.dumps(form)).hexdigest()}"


@pytest.mark.parametrize(
    ("made", "known"),
    [
        (
            definition_fingerprint(TOOL, DEFINITION),
            "v1:795999dddc48f979e10a6712588e7a1fffb2bd1f4bcd3cc53fb7518a4e9051b7",
        ),
        (
            definition_fingerprint(TOOL, DEFINITION, frozenset({"shop.example/etag"})),
            "v1:ab691b1152d934d5358f8cc88c9a7ed7ee93df6325a2e71061a660a00eda7359",
        ),
        (
            definition_fingerprint(CapabilityKind.RESOURCE, {"uri": "note://1"}),
            "v1:d5423143f1bf8bec5eedb23308dcd9d77e8b545459059cfec1b957a56e09b064",
        ),
        (
            definition_fingerprint(CapabilityKind.TEMPLATE, {"uriTemplate": "note://{id}"}),
            "v1:7bdfc639abdd710f68971379fb591249e8f486722e3b05352910edb07d6c85d1",
        ),
        (
            definition_fingerprint(CapabilityKind.PROMPT, {}),
            "v1:7432c7ca50216dc3f58fd90e029c751808842520849a84dd7362f955b6f2d423",
        ),
        (
            definition_fingerprint(CapabilityKind.INSTRUCTIONS, "Be kind. \U0001f600"),
            "v1:aff80f5eb07a539ffd908bf3fba7e607a5e7bf19d3b28ba9a5d42b97f8e06ea8",
        ),
        (launch_fingerprint(LAUNCH), "v1:0c3ef7064b94415bd43c1a4d0b396e0d6d92a38296770b118bcec49585f96e54"),
        (launch_fingerprint(REMOTE), "v1:ed08a0ff2da18b19c46bd2d3fe406652b8e7815301f8c728d3789adca37e7175"),
        (observed_fingerprint(OBSERVED), "v1:13cf7b0eb12e9d9c96657743611684eb0be67b64e89afce4b5bd112d48e330cd"),
        (
            literal_digest(KEY, "variable", "TOKEN", 0, "s3cret"),
            "hmac-sha256:63f0934909616380f0b44bb243e13513601f0f10bbb13594eac98f913b1f372b",
        ),
    ],
)
def test_fingerprints_never_change(made: object, known: str) -> None:
    assert str(made) == known
