"""Schemas that are deep, or mean far more than they say, and what is said of arguments against a schema."""

from typing import Any

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.objections import Objection
from mcpguard.policy.arguments.schemas import schema_checks

Json = dict[str, Any]


def judged(schema: object, arguments: Json) -> Objection | None:
    made, _ = schema_checks(schema)
    return made.objection_to(arguments, len(dumps(arguments)))


def nested(levels: int, leaf: object, key: str = "a") -> Any:  # noqa: ANN401 - JSON
    for _ in range(levels):
        leaf = {key: leaf}
    return leaf


def doubling(levels: int, leaf: Json, how: str = "allOf", ref: str = "#/$defs/d{}", **each: str) -> Json:
    """Small, and means 2^levels."""
    parts = {"d0": leaf | {key: form.format(0) for key, form in each.items()}}
    for at in range(1, levels + 1):
        own = {key: form.format(at) for key, form in each.items()}
        parts[f"d{at}"] = own | {how: [{"$ref": ref.format(at - 1)}] * 2}
    return {"$defs": parts, "$ref": ref.format(levels)}
