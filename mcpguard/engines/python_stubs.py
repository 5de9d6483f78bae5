"""Writes the signature of a tool as a Python stub, from its input schema.

Rules kept here:
1. A stub accepts every object that the schema accepts, with one exception: where a schema wants an integer, 2.0 is one
   to JSON and none to Python. What a type cannot say (patterns, ranges, lengths, conditions) is left out, and what
   cannot be followed is `Any`.
2. Nothing of a schema is written but as a string literal: a name or a value cannot become code.
3. The length of a stub and the work of writing it are bounded, whatever the schema is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

MOST_VISITS: Final = 1000
"""Parts of a schema that are looked at; what is referred to counts each time."""
MOST_MEMBERS: Final = 100
"""Properties of an object, values of an enumeration, or members of a union, that are named."""
DEEPEST: Final = 12
LONGEST: Final = 200
"""Characters of a string that is written down."""
MOST_LITERALS: Final = 2000
"""Characters of an enumeration."""
MOST_TEXT: Final = 64 * 1024
"""Characters of the types of one tool."""
MOST_STUBS: Final = 256 * 1024
"""Characters of the stubs of one program."""
HEAD: Final = """\
from typing import Any, Literal, NotRequired, TypedDict
ToolAnswer = dict[str, Any]
anything: Any
"""
"""What stubs rest on. `anything` is a value of which nothing is known."""
OPEN: Final = "dict[str, Any]"
_SIMPLE: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_UNIONS: Final = ("anyOf", "oneOf")
_EXACT: Final = 2**53


def program_stubs(schemas: Mapping[int, object]) -> tuple[str, Sequence[int]]:
    """Return the stubs of a program, and the places of the tools that have one: `call_tool__PLACE`.

    Calls of the others are compared with their schemas when they are made.
    """
    text, places = HEAD, list[int]()
    for place, schema in schemas.items():
        written = stub(f"call_tool__{place}", f"Arguments{place}", schema)
        if len(text) + len(written) > MOST_STUBS:
            break
        text += written
        places.append(place)
    return text, places


def stub(function: str, arguments: str, schema: object) -> str:
    """Return the types and the signature of `function(server, tool, args)`. `arguments` names the type of `args`.

    Both names have to be identifiers.
    """
    types = _Types(arguments, schema)
    wanted = types.of(schema, 0)
    text = "".join(types.written)
    if len(text) + len(wanted) > MOST_TEXT:
        text, wanted = "", OPEN
    optional = "" if _required(schema) else " | None = None"
    return f"{text}def {function}(server: str, tool: str, args: {wanted}{optional}) -> ToolAnswer: ...\n"


class _Types:
    """The types of one tool, as they are written down: each after those on which it rests."""

    def __init__(self, name: str, root: object) -> None:
        self.written: list[str] = []
        self._name = name
        self._root = root
        self._left = MOST_VISITS
        self._length = 0

    def of(self, schema: object, depth: int) -> str:
        """Return the expression for the type of what a schema accepts."""
        self._left -= 1
        # Below an `$id`, references lead elsewhere.
        if not isinstance(schema, Mapping) or depth > DEEPEST or self._left < 0 or (depth and "$id" in schema):
            return "Any"
        # All that a schema says holds at once, so what is left out here only makes the type wider.
        if "$ref" in schema:
            return self.of(self._referred(schema["$ref"]), depth + 1)
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(values, list):
            return _literals(values)
        members = next((schema[each] for each in _UNIONS if isinstance(schema.get(each), list)), None)
        return self._of_kind(schema, depth) if members is None else self._union(members, depth)

    def _of_kind(self, schema: Mapping[str, Any], depth: int) -> str:
        match schema.get("type"):
            case list(kinds):
                return self._union([{**schema, "type": kind} for kind in kinds[: MOST_MEMBERS + 1]], depth)
            case "object":
                return self._object(schema, depth)
            case "array":
                return f"list[{'Any' if 'prefixItems' in schema else self.of(schema.get('items'), depth + 1)}]"
            case str(kind):
                return _SIMPLE.get(kind, "Any")
            case _:
                return "Any"

    def _union(self, members: Sequence[object], depth: int) -> str:
        if len(members) > MOST_MEMBERS:
            return "Any"
        found = list(dict.fromkeys(self.of(member, depth + 1) for member in members))
        if not found or "Any" in found:
            return "Any"
        # Checkers disagree on which of several objects a display was meant to be.
        objects = [each for each in found if not each.startswith(("Literal[", *_SIMPLE.values()))]
        return "Any" if len(objects) > 1 else " | ".join(found)

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        properties, more = schema.get("properties"), schema.get("additionalProperties", True)
        if "patternProperties" in schema:
            more = True
        rest = self.of(more, depth + 1) if isinstance(more, Mapping) else "Any"
        if not isinstance(properties, Mapping) or not properties:
            return f"dict[str, {rest}]"
        if len(properties) > MOST_MEMBERS or max(map(len, properties)) > LONGEST:
            return OPEN
        needed = _required(schema)
        members = [(key, self.of(member, depth + 1)) for key, member in properties.items()]
        said = ", ".join(f"{key!a}: {kind if key in needed else f'NotRequired[{kind}]'}" for key, kind in members)
        self._length += len(said)
        if self._length > MOST_TEXT:
            return OPEN
        name = f"{self._name}_{len(self.written)}"
        closed = "" if more is False else f", extra_items={rest}"
        self.written.append(f"{name} = TypedDict({name!r}, {{{said}}}{closed})\n")
        return name

    def _referred(self, reference: object) -> object:
        """Return what a reference within the same schema is to; nothing for any other."""
        if not isinstance(reference, str) or not reference.startswith("#") or "%" in reference:
            return None
        found: object = self._root
        for part in reference[1:].split("/")[1:]:
            if not isinstance(found, Mapping) or (found is not self._root and "$id" in found):
                return None
            found = found.get(part.replace("~1", "/").replace("~0", "~"))
        return found if reference == "#" or reference.startswith("#/") else None


def _required(schema: object) -> frozenset[str]:
    needed = schema.get("required") if isinstance(schema, Mapping) else None
    return frozenset(each for each in needed if isinstance(each, str)) if isinstance(needed, list) else frozenset()


def _literals(values: Sequence[object]) -> str:
    """Return the type of a few values; numbers with a fraction have no literal type."""
    if not values or len(values) > MOST_MEMBERS:
        return "Any"
    usable = all(
        value is None
        or isinstance(value, bool)
        or (isinstance(value, int) and abs(value) < _EXACT)
        or (isinstance(value, str) and len(value) <= LONGEST)
        for value in values
    )
    said = ", ".join(f"{value!a}" for value in values) if usable else ""
    if usable and len(said) <= MOST_LITERALS:
        return f"Literal[{said}]"
    return "str" if all(isinstance(value, str) for value in values) else "Any"
