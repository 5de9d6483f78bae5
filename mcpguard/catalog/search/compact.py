"""Describes a tool in two lines: what it does, and how it is called.

Rules kept here:
1. Whatever a definition contains, both are single lines of bounded length, with nothing hidden in them.
2. Types are named in mcpguard's own words. Names and choices are the tool's, cut where they are long.
3. A mark shows what is left out, so that no part is taken for the whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from mcpguard.catalog.search.fields import first_sentence
from mcpguard.text.visible import visible

LONGEST_SUMMARY: Final = 200
LONGEST_SIGNATURE: Final = 320
_LONGEST_NAME: Final = 64
_MOST_PARAMETERS: Final = 12
_MOST_RESULTS: Final = 6
_MOST_CHOICES: Final = 5
_LONGEST_CHOICE: Final = 20
_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_DEEPEST: Final = 3
_MORE: Final = "…"


def summary(tool: Mapping[str, Any]) -> str:
    """Return the first sentence of a tool's description."""
    description = tool.get("description")
    return _line(first_sentence(description), LONGEST_SUMMARY) if isinstance(description, str) else ""


def signature(tool: Mapping[str, Any]) -> str:
    """Return how a tool is called: `read(path: string, head?: integer) -> {text}`. A `?` marks optional parameters."""
    parameters = ", ".join(_parameters(tool.get("inputSchema")))
    return _cut(f"{_name(tool.get('name'))}({parameters}){_returned(tool.get('outputSchema'))}", LONGEST_SIGNATURE)


def _parameters(schema: object) -> Iterator[str]:
    properties = _properties(schema)
    listed = schema.get("required") if isinstance(schema, Mapping) else None
    required = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    ordered = sorted(islice(properties.items(), 10 * _MOST_PARAMETERS), key=lambda each: each[0] not in required)
    for name, parameter in ordered[:_MOST_PARAMETERS]:
        yield f"{_name(name)}{'' if name in required else '?'}: {_type(parameter, _DEEPEST)}"
    if len(properties) > _MOST_PARAMETERS:
        yield _MORE


def _returned(schema: object) -> str:
    """Return the type of the result, by the names of its members where it has any."""
    if not isinstance(schema, Mapping):
        return ""
    properties = _properties(schema)
    names = [_name(name) for name in islice(properties, _MOST_RESULTS)]
    if len(properties) > _MOST_RESULTS:
        names.append(_MORE)
    return f" -> {{{', '.join(names)}}}" if names else f" -> {_type(schema, _DEEPEST)}"


def _type(schema: object, depth: int) -> str:
    if not isinstance(schema, Mapping) or not depth:
        return "any"
    choices, kind = schema.get("enum"), schema.get("type")
    if isinstance(choices, list) and choices and all(isinstance(choice, str) for choice in choices[:_MOST_CHOICES]):
        shown = [f'"{_line(choice, _LONGEST_CHOICE)}"' for choice in choices[:_MOST_CHOICES]]
        return _either([*shown, _MORE] if len(choices) > _MOST_CHOICES else shown)
    if kind == "array":
        of = _type(schema.get("items"), depth - 1)
        return f"({of})[]" if "|" in of else f"{of}[]"
    several = schema.get("anyOf") or schema.get("oneOf")
    if kind is None and isinstance(several, list):
        return _either(_type(each, depth - 1) for each in several[:_MOST_CHOICES])
    kinds = kind if isinstance(kind, list) else [kind]
    return _either(each for each in kinds[: len(_TYPES)] if isinstance(each, str) and each in _TYPES)


def _either(types: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(types)) or "any"


def _properties(schema: object) -> Mapping[str, Any]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _name(name: object) -> str:
    return _line(name, _LONGEST_NAME) if isinstance(name, str) else ""


def _line(text: str, longest: int) -> str:
    return _cut(visible(" ".join(text[: 4 * longest].split())), longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + _MORE
