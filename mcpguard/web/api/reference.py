"""The OpenAPI document prepared for human readers, as the source of the API's page and of docs/rest.md."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.web.api.openapi import REF


@dataclass(frozen=True, slots=True)
class RouteMember:
    """A parameter, or a member of a body or an answer: its name, type and description."""

    name: str
    form: str
    needed: bool
    said: str = ""


@dataclass(frozen=True, slots=True)
class RouteAnswer:
    """A status with the members of its answer."""

    status: str
    said: str
    members: tuple[RouteMember, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `right`: empty for an open route."""

    method: str
    path: str
    said: str
    right: str
    parameters: tuple[RouteMember, ...]
    body: tuple[RouteMember, ...]
    answers: tuple[RouteAnswer, ...]
    example: object = None

    @property
    def refusals(self) -> str:
        """The statuses of its problems."""
        return ", ".join(each.status for each in self.answers if each.status >= "400")


@dataclass(frozen=True, slots=True)
class RouteGroup:
    """Routes about one subject."""

    name: str
    routes: tuple[Route, ...]


def groups(document: Mapping[str, Any]) -> list[RouteGroup]:
    """List all routes of the document, by subject."""
    schemas = document["components"]["schemas"]
    found: defaultdict[str, list[Route]] = defaultdict(list)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            found[operation["tags"][0]].append(_route(method, path, operation, schemas))
    return [RouteGroup(name, tuple(routes)) for name, routes in found.items()]


def _route(method: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Route:
    sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    whole = _resolved(sent, schemas)
    return Route(
        method.upper(),
        path,
        _line(operation.get("description", "")),
        operation["x-right"] or "",
        tuple(
            RouteMember(
                f"{each['name']} ({each['in']})", form(each["schema"]), each["required"], each.get("description", "")
            )
            for each in operation["parameters"]
        ),
        tuple(_members(whole, schemas)),
        tuple(_answers(operation["responses"], schemas)),
        next(iter(whole.get("examples", ())), None),
    )


def _answers(responses: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[RouteAnswer]:
    for status, answer in responses.items():
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        if schema.get("type") == "array":
            yield RouteAnswer(status, f"a list of {form(schema['items'])}", tuple(_members(schema["items"], schemas)))
        else:
            yield RouteAnswer(status, answer["description"], tuple(_members(schema, schemas)))


def _members(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[RouteMember]:
    whole = _resolved(schema, schemas)
    needed = whole.get("required", ())
    for name, one in whole.get("properties", {}).items():
        yield RouteMember(name, form(one), name in needed, _line(one.get("description", "")))


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    ref = schema.get("$ref")
    return schema if ref is None else schemas[ref.removeprefix(REF)]


def form(schema: Mapping[str, Any]) -> str:
    """Describe the type of a value in a few words."""
    some = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    inside = schema.get("items") or schema.get("additionalProperties")
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REF)
    if some:
        return " or ".join(map(form, some))
    if "const" in schema or "enum" in schema:
        return ", ".join(map(str, schema.get("enum", [schema.get("const")])))
    if isinstance(inside, dict):
        return f"{'list' if 'items' in schema else 'object'} of {form(inside)}"
    return str(schema.get("type", "anything"))


def _line(text: str) -> str:
    return " ".join(text.split())
