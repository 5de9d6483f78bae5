"""What a schema costs is found out cheaply, and what is within the limits can be used."""

import orjson
import pytest

from mcpguard.codec.messages import dumps
from mcpguard.domain.reasons import Reason
from mcpguard.policy.arguments.schemas import LARGEST_SCHEMA, MOST_PATTERNS
from tests.policy.arguments.monstrous import Json, judged


def unverifiable(schema: Json) -> bool:
    found = judged(schema, {})
    return found is not None and found.reason is Reason.ARGUMENTS_UNVERIFIABLE


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {f"d{at}": {"$id": f"d{at}"} for at in range(4000)}, "anyOf": [{"$ref": "#/$defs/d0"}] * 4000},
        {"$defs": {f"d{at}": {"$id": f"d{at}"} for at in range(4000)}, "anyOf": [{"$ref": "#/nowhere"}] * 4000},
        {"$defs": [{"$anchor": "a"}] * 4000, "anyOf": [{"$ref": "#a"}] * 4000},
        {"anyOf": [{"not": {"$ref": "#/$defs/all"}}] * 3000, "$defs": {"all": [{}] * 20_000}},
        {"$defs": {"a": {}}, "anyOf": [{"$ref": "#/$defs/a" + "/a" * 30}] * 3000},
    ],
    ids=["ids", "nowhere", "anchors", "lists", "pointers"],
)
def test_finding_out_what_a_schema_costs_costs_little(schema: Json) -> None:
    """Each is smaller than a schema may be, and every reference in it may be looked for in very many places."""
    assert len(dumps(schema)) < LARGEST_SCHEMA
    copied = orjson.loads(dumps(schema))  # no part of it is another part
    assert unverifiable(copied)


def test_a_schema_as_large_as_may_be_can_be_used() -> None:
    words = {"type": "string", "enum": ["newest", "oldest"], "description": "Which of them come first."}
    either = {"anyOf": [{"type": "integer"}, {"type": "null"}], "title": "Some", "default": None}
    group = {"type": "object", "properties": {"order": words, "limit": either}, "required": ["order"]}
    properties: Json = {}
    while len(dumps(properties)) < LARGEST_SCHEMA - 1000:
        properties |= {f"group_{len(properties) + at}": group for at in range(4)}
    schema = orjson.loads(dumps({"type": "object", "properties": properties}))
    assert judged(schema, {"group_0": {"order": "newest", "limit": None}}) is None
    assert judged(schema, {"group_0": {"order": "best", "limit": None}}) is not None


def test_patterns_share_what_they_may_be_when_compiled() -> None:
    """One that is large can be used, and many that are large cannot: nothing goes on while they are compiled."""
    large = "^(x|yy|zzz){2000}"
    assert judged({"properties": {"a": {"pattern": large}}}, {"a": "x" * 2000}) is None
    many = {f"p{at}": {"pattern": f"{large}{at}$"} for at in range(MOST_PATTERNS)}
    assert unverifiable({"properties": many})
    usual = {f"p{at}": {"pattern": f"^[A-Za-z0-9_-]{{1,64}}{at}$"} for at in range(MOST_PATTERNS)}
    assert judged({"properties": usual}, {"p7": "a_b7"}) is None
