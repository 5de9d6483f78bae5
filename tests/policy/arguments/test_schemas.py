"""Arguments against schemas: what is refused, what is said about it, and that a hostile schema is refused itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.reasons import Reason
from mcpguard.policy.arguments.argument_checks import check_prompt_arguments
from mcpguard.policy.arguments.schemas import LARGEST_SCHEMA, MOST_PATTERNS, MOST_WORK
from mcpguard.policy.arguments.weights import DEEPEST
from tests.policy.arguments.monstrous import Json, doubling, judged, nested

CANARY = "canary-4711"
INVALID, UNVERIFIABLE = Reason.ARGUMENTS_INVALID, Reason.ARGUMENTS_UNVERIFIABLE


def said(schema: object, arguments: Json) -> tuple[str, str]:
    found = judged(schema, arguments)
    assert found is not None
    assert found.reason is INVALID
    assert CANARY not in str(found)
    return found.detail.path, found.detail.expected


def chained(levels: int, last: Json | None = None) -> Json:
    """One reference leads to the next. Whoever looks at them in this order sees none that is long."""
    parts: Json = {"d0": last or {}}
    for at in range(1, levels + 1):
        parts[f"d{at}"] = {"$ref": f"#/$defs/d{at - 1}"}
    properties = {f"p{at}": {"$ref": f"#/$defs/d{at}"} for at in range(0, levels + 1, 10)}
    return {"$defs": parts, "properties": properties, "allOf": [{"$ref": f"#/$defs/d{levels}"}]}


@pytest.mark.parametrize("schema", [None, {}, True])
def test_what_asks_for_nothing_takes_every_object(schema: object) -> None:
    assert judged(schema, {}) is None
    assert judged(schema, {"anything": [1, {"x": None}]}) is None


@pytest.mark.parametrize(
    ("schema", "arguments", "path", "expected"),
    [
        ({"required": ["a"]}, {}, "$.a", "a value; it is required"),
        ({"properties": {"a": {"type": "integer"}}}, {"a": CANARY}, "$.a", "an integer"),
        ({"properties": {"a": {"type": ["integer", "null"]}}}, {"a": CANARY}, "$.a", "an integer or null"),
        (
            {"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
            {"a": CANARY},
            "$.a",
            "an integer or null",
        ),
        ({"additionalProperties": False}, {"b": CANARY}, "$", "an object without properties"),
        ({"properties": {"b": False}}, {"b": CANARY}, "$.b", "nothing"),
        (
            {"properties": {"a": {}}, "additionalProperties": False},
            {"b": CANARY},
            "$.b",
            "nothing; there is no such property",
        ),
        ({"unevaluatedProperties": False}, {"b": CANARY}, "$.b", "nothing; there is no such property"),
        (
            {"properties": {"a": {"enum": ["planted"]}}},
            {"a": CANARY},
            "$.a",
            "one of the values that the schema lists",
        ),
        ({"properties": {"a": {"const": "planted"}}}, {"a": CANARY}, "$.a", "the one value that the schema gives"),
        (
            {"properties": {"a": {"pattern": "^planted"}}},
            {"a": CANARY},
            "$.a",
            "text that matches the pattern of the schema",
        ),
        ({"properties": {"a": {"minimum": 3}}}, {"a": 2}, "$.a", "at least 3"),
        ({"properties": {"a": {"exclusiveMaximum": 1.5}}}, {"a": 2}, "$.a", "less than 1.5"),
        ({"properties": {"a": {"maxLength": 3}}}, {"a": CANARY}, "$.a", "at most 3 characters"),
        (
            {"properties": {"a": {"items": {"properties": {"b c": {"type": "string"}}}}}},
            {"a": [{}, {"b c": 1}]},
            '$.a[1]["b c"]',
            "a string",
        ),
        (
            {"anyOf": [{"properties": {"f": {"properties": {"n": {"minimum": 3}}}}}, {"type": "null"}]},
            {"f": {"n": 1}},
            "$.f.n",
            "at least 3",
        ),
        (
            {"oneOf": [{"required": []}, {"type": "object"}]},
            {},
            "$",
            "exactly one of the forms that the schema describes",
        ),
        ({"not": {"required": ["a"]}}, {"a": CANARY}, "$", "something that the schema does not exclude"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": CANARY}, "$.b", "a value; it is required"),
        ({"propertyNames": {"maxLength": 1}}, {"ab": CANARY}, "$", "names of properties that the schema allows"),
    ],
)
def test_the_place_and_what_was_expected_are_named_in_our_words(
    schema: Json, arguments: Json, path: str, expected: str
) -> None:
    assert said(schema, arguments) == (path, expected)


def test_null_counts_as_left_out_where_that_is_allowed_and_only_there() -> None:
    optional = {
        "properties": {"a": {"type": "string"}, "b": {"items": {"type": "integer"}}},
        "additionalProperties": False,
    }
    assert judged(optional, {"a": None, "b": [1]}) is None
    assert judged(optional, {"a": None, "b": [None]}) is not None, "not within another value"
    assert judged(optional, {"a": None, "b": ["x"]}) is not None, "nothing else is excused"
    assert judged({**optional, "required": ["a"]}, {"a": None}) is not None


def test_names_in_a_place_are_visible_and_cut() -> None:
    path, _ = said({"properties": {"a": {}}, "additionalProperties": False}, {"x\u202e" + "y" * 500: 1})
    assert "\u202e" not in path
    assert "⟨U+202E⟩" in path
    assert len(path) < 250
    path, _ = said(_deep(40), nested(40, 1, "k" * 50))
    assert len(path) <= 201


def _deep(levels: int) -> Json:
    schema: Json = {"type": "null"}
    for _ in range(levels):
        schema = {"properties": {"k" * 50: schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "properties": {"a": {"maximum": 3, "exclusiveMaximum": True}},
            },
            {"a": 2},
            {"a": 3},
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"items": [{"type": "null"}]}}},
            {"a": [None]},
            {"a": [1]},
        ),
        ({"properties": {"a": {"prefixItems": [{"type": "null"}]}}}, {"a": [None]}, {"a": [1]}),
        ({"$schema": "https://example.org/of-nobody", "required": ["a"]}, {"a": 1}, {}),
        ({"$schema": 7, "required": ["a"]}, {"a": 1}, {}),
        (
            {"$defs": {"p": {"$anchor": "p", "type": "null"}}, "properties": {"a": {"$ref": "#p"}}},
            {"a": None},
            {"a": 1},
        ),
        (
            {
                "$id": "https://example.org/tree",
                "$dynamicAnchor": "node",
                "type": "object",
                "additionalProperties": {"$dynamicRef": "#node"},
            },
            nested(20, {}),
            nested(20, 1),
        ),
        ({"properties": {"a": {"format": "email"}, "b": {"type": "integer"}}}, {"a": "no address"}, {"b": 1.5}),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 10**400}, {"a": "1"}),
        ({"properties": {"a": {"pattern": r"^(?!\.)(?!.*\.\.)[a-z.]+@x$"}}}, {"a": "a.b@x"}, {"a": "a..b@x"}),
    ],
)
def test_every_draft_is_understood(schema: Json, good: Json, bad: Json) -> None:
    assert judged(schema, good) is None
    found = judged(schema, bad)
    assert found is not None
    assert found.reason is INVALID


@pytest.mark.parametrize(
    "schema",
    [
        [],
        "object",
        7,
        False,
        {"type": "objct"},
        {"required": True},
        {"$ref": "https://example.org/elsewhere"},
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$dynamicRef": "#"},
        {"dependentSchemas": {"properties": {"$ref": "#"}}},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#missing"},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": {"a": {"pattern": "((a{100}){100}){100}"}}},
        {"description": "x" * LARGEST_SCHEMA},
        {"properties": {f"p{at}": {"pattern": f"^{at}$"} for at in range(MOST_PATTERNS + 1)}},
        doubling(60, {"type": "object"}),
        doubling(60, {"type": "object"}, "anyOf"),
        doubling(60, {"type": "object"}, "oneOf"),
        doubling(60, {}, ref="#x{}", **{"$anchor": "x{}"}),
        doubling(60, {}, ref="https://a.example/{}", **{"$id": "https://a.example/{}"}),
        doubling(60, {"properties": {"a": {"$ref": "#"}}}),
        {
            "$defs": {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(6000)} | {"d6000": {}},
            "$ref": "#/$defs/d0",
        },
        chained(DEEPEST + 1),
        nested(DEEPEST + 1, {}, "not"),
    ],
    ids=lambda schema: str(schema)[:40],
)
def test_what_cannot_be_checked_is_refused_and_fetches_nothing(schema: object) -> None:
    for arguments in ({}, {"a": 1}):
        found = judged(schema, arguments)
        assert found is not None
        assert (found.reason, found.detail.fields) == (UNVERIFIABLE, {})


@pytest.mark.parametrize(
    "branch",
    [
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"oneOf": [{"$ref": "#"}, {"not": {"$ref": "#"}}]},
        {"not": {"not": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}},
        {"if": {"$ref": "#"}, "then": {"$ref": "#"}, "else": {"$ref": "#"}},
    ],
)
@pytest.mark.parametrize("leaf", [{}, 1])
def test_a_schema_that_describes_itself_twice_takes_no_longer_than_its_arguments(branch: Json, leaf: object) -> None:
    """2^60 steps would never end; whether it matches is not the point."""
    found = judged({"type": "object", "properties": {"a": branch}}, nested(60, leaf))
    assert found is None or found.reason is INVALID


def test_as_deep_as_a_schema_and_arguments_can_be_is_not_too_deep_for_the_stack() -> None:
    """Each level of the arguments goes through all levels of the schema. That it ends at all is the point."""
    schema = chained(DEEPEST - 5, {"type": "object", "additionalProperties": {"$ref": f"#/$defs/d{DEEPEST - 5}"}})
    assert judged(schema, nested(200, {})) is None
    found = judged(schema, nested(200, 1))
    assert found is not None
    assert found.reason is INVALID


def test_many_kinds_that_contain_each_other_can_be_used() -> None:
    """As in the syntax tree of a language: a long way through all of them, none of it about one value."""
    kinds = {
        f"k{at}": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": f"#/$defs/k{(at + 1) % 300}"}, {"type": "null"}]}},
        }
        for at in range(300)
    }
    schema = {"$defs": kinds, "$ref": "#/$defs/k0"}
    assert judged(schema, nested(40, None, "next")) is None
    assert judged(schema, nested(40, "x", "next")) is not None


def test_what_would_take_too_long_is_not_begun() -> None:
    schema = {"properties": {"a": {"items": {"enum": [f"x{at}" for at in range(20_000)]}}}}
    assert judged(schema, {"a": ["x1"]}) is None
    found = judged(schema, {"a": ["q"] * (MOST_WORK // 20_000 + 1)})
    assert found is not None
    assert found.reason is UNVERIFIABLE


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(?=a)(a+)+$", r"^(?!b)(a|a?)+\1$"])
def test_a_pattern_that_runs_away_elsewhere_ends_here(pattern: str) -> None:
    found = judged({"properties": {"a": {"pattern": pattern}}}, {"a": "a" * 100_000 + "!"})
    assert found is not None
    assert found.reason is INVALID


PART: st.SearchStrategy[Json] = st.deferred(
    lambda: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "string", "integer", "array", "nothing"]),
            "properties": st.dictionaries(st.sampled_from("ab"), PART, max_size=2),
            "items": PART,
            "anyOf": st.lists(PART, min_size=1, max_size=2),
            "allOf": st.lists(PART, min_size=1, max_size=2),
            "$ref": st.sampled_from(["#", "#/properties/a", "#/x", "#y", "https://a.example/"]),
            "$anchor": st.just("y"),
            "$id": st.sampled_from(["https://a.example/", "b"]),
            "pattern": st.sampled_from(["a", "(?=a)", "("]),
            "required": st.lists(st.sampled_from("ab"), max_size=2, unique=True),
            "additionalProperties": st.booleans(),
        },
    )
)
VALUE = st.recursive(
    st.none() | st.integers() | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(PART, st.dictionaries(st.sampled_from("abc"), VALUE, max_size=3))
def test_any_schema_and_any_arguments_have_an_answer_and_always_the_same(schema: Json, arguments: Json) -> None:
    found = judged(schema, arguments)
    assert found == judged(schema, arguments)
    assert found is None or found.reason in (INVALID, UNVERIFIABLE)
    if found is not None and found.reason is INVALID:
        assert found.detail.path.startswith("$")
        assert found.detail.expected


@pytest.mark.parametrize(
    ("definition", "given_", "path"),
    [
        ({}, None, None),
        ({"arguments": [{"name": "a"}, {"name": "b", "required": False}]}, {}, None),
        ({"arguments": [{"name": "a", "required": True}]}, {"a": "x", "more": "y"}, None),
        ({"arguments": [{"name": "a", "required": True}]}, {"b": "x"}, "$.a"),
        ({"arguments": [{"name": "a", "required": True}]}, None, "$.a"),
        ({"arguments": "odd"}, {}, None),
        ({"arguments": [7, {"required": True}, {"name": 3, "required": True}]}, {}, None),
        ({}, [1], "$"),
    ],
)
def test_a_prompt_gets_what_it_requires(definition: Json, given_: object, path: str | None) -> None:
    found = check_prompt_arguments(given_, definition)
    assert (found.detail.path if found else None) == path
