"""A stub accepts whatever its schema accepts, says what is wrong with what it can tell, and stays small."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mcpguard.engines.python_stubs import MOST_TEXT, stub
from tests.engines.schemas_to_type import SCHEMAS, Schema, fitting
from tests.engines.type_checks import TypeChecks, type_checks
from tests.tiers import examples

REAL = json.loads((Path(__file__).parent / "real_schemas.json").read_text())
"""Schemas of well-known servers, with calls that are right and calls that are wrong."""


@pytest.fixture(scope="module")
def checks() -> Iterator[TypeChecks]:
    with type_checks() as found:
        yield found


@settings(max_examples=examples(400), deadline=None)
@given(data=st.data(), schema=SCHEMAS)
def test_what_a_schema_accepts_its_stub_accepts(data: st.DataObject, schema: Schema, checks: TypeChecks) -> None:
    fits = jsonschema_rs.validator_for(schema).is_valid
    values = [each for each in data.draw(st.lists(fitting(schema, schema), min_size=1, max_size=4)) if fits(each)]
    assume(values)
    assert checks.remarks(schema, *values) == "", (stub("tool", "Arguments", schema), values)


@pytest.mark.parametrize("name", REAL)
def test_calls_of_real_tools_are_told_apart(name: str, checks: TypeChecks) -> None:
    real: dict[str, Any] = REAL[name]
    fits = jsonschema_rs.validator_for(real["schema"]).is_valid
    assert all(map(fits, real["right"]))
    assert not any(map(fits, real["wrong"]))
    assert checks.remarks(real["schema"], *real["right"]) == ""
    assert [each for each in real["wrong"] if not checks.remarks(real["schema"], each)] == []


def wide(number: int) -> Schema:
    return {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(number)}}


def deep(levels: int) -> Schema:
    return {"type": "object", "properties": {"of": deep(levels - 1)}} if levels else {"type": "string"}


HUGE: dict[str, Schema] = {
    "many_properties": wide(100_000),
    "many_wide_objects": {"type": "object", "properties": {f"o{n}": wide(90) for n in range(90)}},
    "many_levels": deep(300),
    "a_long_name": {"type": "object", "properties": {"a" * 100_000: {"type": "string"}}},
    "a_long_enumeration": {"type": "object", "properties": {"a": {"enum": [f"{n}" for n in range(100_000)]}}},
    "long_values": {"type": "object", "properties": {f"p{n}": {"enum": ["x" * 150] * 90} for n in range(90)}},
    "what_refers_to_itself": {"type": "object", "properties": {f"p{n}": {"$ref": "#"} for n in range(90)}},
    "unions_of_itself": {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}] * 90}}},
    "references_in_a_circle": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {}},
    "many_kinds": {"type": "object", "properties": {"a": {"type": ["object", "array"] * 50_000}}},
}


@pytest.mark.parametrize("name", HUGE)
def test_however_large_a_schema_is_its_stub_is_small(name: str, checks: TypeChecks) -> None:
    written = stub("tool", "Arguments", HUGE[name])
    assert len(written) < MOST_TEXT + 1000
    assert checks.remarks(HUGE[name], {}) == ""


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        [],
        {},
        {"type": []},
        {"type": "object", "properties": []},
        {"$ref": 1},
        {"enum": []},
        {"$ref": "x#/a"},
    ],
)
def test_what_is_no_schema_accepts_everything(schema: object, checks: TypeChecks) -> None:
    assert checks.remarks(schema, {"a": 1}) == ""


def test_a_schema_under_another_identity_is_not_followed(checks: TypeChecks) -> None:
    """There, the same reference leads elsewhere than from the root."""
    schema = {
        "type": "object",
        "$defs": {"x": {"type": "string"}},
        "properties": {
            "a": {
                "$id": "https://other.example/",
                "type": "object",
                "properties": {"b": {"$ref": "#/$defs/x"}},
                "$defs": {"x": {"type": "integer"}},
            }
        },
    }
    assert jsonschema_rs.validator_for(schema).is_valid({"a": {"b": 1}})
    assert checks.remarks(schema, {"a": {"b": 1}}) == ""


def test_what_fits_a_pattern_is_not_held_to_the_rest(checks: TypeChecks) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "patternProperties": {"^b": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    }
    assert checks.remarks(schema, {"b": 1}, {"a": "x", "b": 2, "c": "y"}) == ""


def test_nothing_in_a_schema_becomes_code() -> None:
    evil = '"}); import os #\n\u2028'
    written = stub("tool", "Arguments", {"type": "object", "properties": {evil: {"enum": [evil]}}, "required": [evil]})
    assert "import os" in written
    assert len(written.splitlines()) == 2
    compile(written, "stub", "exec")
    assert written.isascii()
