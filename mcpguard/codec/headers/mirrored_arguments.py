"""The arguments that a call repeats in HTTP headers from revision 2026-07-28 on, so that proxies can route by them.

Rules kept here:
1. A tool says in its input schema, with `x-mcp-header`, which arguments are repeated. Where one such annotation is
   invalid, none of the schema counts.
2. Everything agrees with the MCP SDK, which is too slow to load for this (tests compare the two).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.codec.headers.header_values import decode_header, encode_header

HeaderMap = Mapping[tuple[str, ...], str]
"""The end of the header for each argument that is repeated, by its path in the arguments."""
PREFIX: Final = "Mcp-Param-"
_ANNOTATION: Final = "x-mcp-header"
_TYPES: Final = ("string", "integer", "boolean")
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_DECIMAL: Final = re.compile(r"(-?[0-9]+)(?:\.([0-9]+))?")
_ONE: Final = frozenset(
    {
        "items",
        "contains",
        "unevaluatedItems",
        "additionalProperties",
        "propertyNames",
        "unevaluatedProperties",
        "not",
        "if",
        "then",
        "else",
        "contentSchema",
    }
)
_LIST: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_TABLE: Final = frozenset({"patternProperties", "dependentSchemas", "$defs", "definitions"})
"""Keywords of JSON Schema whose value is a schema, a list of schemas, or schemas by name."""


def mirrored_arguments(schema: object) -> HeaderMap | None:
    """Return which arguments are repeated in headers, by a tool's input schema; None where an annotation is invalid."""
    found: dict[tuple[str, ...], str] = {}
    for path, part in _parts(schema):
        if _ANNOTATION not in part:
            continue
        token, kind = part[_ANNOTATION], part.get("type")
        if not path or not isinstance(token, str) or not _TOKEN.fullmatch(token) or kind not in _TYPES:
            return None
        found[path] = token
    return found if len({token.lower() for token in found.values()}) == len(found) else None


def argument_headers(mirrored: HeaderMap, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that repeat these arguments."""
    values = ((token, _rendered(_value_at(arguments, path))) for path, token in mirrored.items())
    return {f"{PREFIX}{token}": encode_header(value) for token, value in values if value is not None}


def disagreement(schema: object, arguments: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    """Say what differs between the arguments of a call and the headers that repeat them; None where nothing does.

    `headers` are those that begin with the prefix, by their names in lower case.
    """
    for path, token in (mirrored_arguments(schema) or {}).items():
        name, argument = f"{PREFIX}{token}", ".".join(path)
        sent, value = headers.get(name.lower()), _value_at(arguments, path)
        expected = _rendered(value)
        if sent is None and expected is None:
            continue
        if value is None:
            return f"the header {name} was sent, but the call has no argument {argument!r}"
        if sent is None:
            return f"the call has an argument {argument!r}, which the header {name} has to repeat"
        decoded = decode_header(sent)
        if expected is not None and decoded is None:
            return f"the header {name} is not valid base64"
        if (
            expected is None
            or decoded is None
            or not (decoded == expected or _is_same_integer(schema, path, value, decoded))
        ):
            return f"the header {name} differs from the argument {argument!r}"
    return None


def _parts(root: object) -> Iterator[tuple[tuple[str, ...] | None, Mapping[str, Any]]]:
    """Yield each schema within a schema, with its path through `properties`; None where it is elsewhere."""
    waiting: list[tuple[tuple[str, ...] | None, object]] = [((), root)]
    while waiting:
        path, part = waiting.pop()
        if not isinstance(part, dict):
            continue
        yield path, part
        for keyword, value in part.items():
            if keyword == "properties" and isinstance(value, dict):
                waiting += [((*path, name) if path is not None else None, each) for name, each in value.items()]
            elif keyword in _ONE:
                waiting.append((None, value))
            elif (keyword in _LIST and isinstance(value, list)) or (keyword in _TABLE and isinstance(value, dict)):
                waiting += [(None, each) for each in (value if isinstance(value, list) else value.values())]


def _rendered(value: object) -> str | None:
    """Return a value as it is repeated in a header; None where it is not."""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(value) if isinstance(value, str | int | float) else None
    except ValueError:  # an integer with more digits than Python writes
        return None


def _value_at(arguments: object, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, Mapping) else None
    return arguments


def _is_same_integer(schema: object, path: tuple[str, ...], value: object, sent: str) -> bool:
    """Tell whether a header has the same number as an argument that is declared an integer: 42 is 42.0."""
    declared: Any = schema
    for name in path:
        declared = declared["properties"][name]
    if declared.get("type") != "integer" or isinstance(value, bool) or not isinstance(value, int | float):
        return False
    number = _DECIMAL.fullmatch(sent)
    if number is None or (number[2] or "0").strip("0") or (isinstance(value, float) and not value.is_integer()):
        return False
    try:
        return int(number[1]) == int(value)
    except ValueError:
        return False
