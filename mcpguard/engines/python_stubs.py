"""Writes the signature of a tool as a Python stub, from its input schema.

Rules kept here:
1. A stub accepts every object that the schema accepts. What a Python type cannot say (patterns, ranges, lengths,
   conditions) it leaves out; what it cannot follow is `Any`.
2. Nothing of a schema is written but as a string literal: a name or a default cannot become code.
3. The length of a stub is bounded, whatever the schema is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

MOST_TYPES: Final = 64
"""Objects of one tool that get a type of their own."""
MOST_MEMBERS: Final = 64
"""Properties of an object, values of an enumeration, or members of a union, that are named."""
DEEPEST: Final = 12
LONGEST: Final = 200
"""Characters of a string that is written down."""
HEAD: Final = """\
from typing import Any, Literal, NotRequired, TypedDict
ToolAnswer = dict[str, Any]
input: Any
def log(*values: Any) -> None: ...
def call_tool(server: str, tool: str, args: dict[str, Any] | None = None) -> ToolAnswer: ...
def call_tools(calls: list[dict[str, Any]], *, max_parallel: int = 1) -> list[ToolAnswer]: ...
"""
"""What every program can use."""
_SIMPLE: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_UNIONS: Final = ("anyOf", "oneOf")
_BEYOND: Final = frozenset({"allOf", "not", "if", "patternProperties", "dependentSchemas", "unevaluatedProperties"})
"""What a schema may say that a type cannot; where it does, nothing is said of its members."""


def program_stubs(schemas: Mapping[int, object]) -> str:
    """Return the stubs of a program: of what every program can use, and of the typed form of each of these tools."""
    typed = (stub(f"call_tool__{place}", f"Arguments{place}", schema) for place, schema in schemas.items())
    return HEAD + "".join(typed)


def stub(function: str, arguments: str, schema: object) -> str:
    """Return the types and the signature of `function(server, tool, args)`. `arguments` names the type of `args`.

    Both names have to be identifiers.
    """
    types = _Types(arguments, schema)
    wanted = types.of(schema, 0)
    optional = "" if _required(schema) else " | None = None"
    signature = f"def {function}(server: str, tool: str, args: {wanted}{optional}) -> ToolAnswer: ...\n"
    return "".join(types.written) + signature


class _Types:
    """The types of one tool, as they are written down."""

    def __init__(self, name: str, root: object) -> None:
        self.written: list[str] = []
        self._name = name
        self._root = root

    def of(self, schema: object, depth: int) -> str:
        """Return the expression for the type of what a schema accepts."""
        if not isinstance(schema, Mapping) or depth > DEEPEST or schema.keys() & _BEYOND:
            return "Any"
        if "$ref" in schema:
            return self.of(self._referred(schema["$ref"]), depth + 1)
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(values, list):
            return _literals(values)
        members = next((schema[union] for union in _UNIONS if isinstance(schema.get(union), list)), None)
        kinds = schema.get("type")
        if members is None and isinstance(kinds, list):
            members = [{**schema, "type": kind} for kind in kinds]
        return self._union(members, depth) if members is not None else self._of_kind(schema, kinds, depth)

    def _of_kind(self, schema: Mapping[str, Any], kind: object, depth: int) -> str:
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            of = "Any" if "prefixItems" in schema else self.of(schema.get("items"), depth + 1)
            return f"list[{of}]"
        return _SIMPLE.get(kind, "Any") if isinstance(kind, str) else "Any"

    def _union(self, members: Sequence[object], depth: int) -> str:
        if len(members) > MOST_MEMBERS:
            return "Any"
        found = dict.fromkeys(self.of(member, depth + 1) for member in members)
        return "Any" if not found or "Any" in found else " | ".join(found)

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        properties, more = schema.get("properties"), schema.get("additionalProperties", True)
        if not isinstance(properties, Mapping) or not properties:
            return f"dict[str, {self.of(more, depth + 1) if isinstance(more, Mapping) else 'Any'}]"
        if len(properties) > MOST_MEMBERS or len(self.written) >= MOST_TYPES or max(map(len, properties)) > LONGEST:
            return "dict[str, Any]"
        name = f"{self._name}_{len(self.written)}"
        self.written.append("")  # counts against the limit while its members are written
        place = len(self.written) - 1
        needed = _required(schema)
        said = ", ".join(
            f"{key!a}: {of if key in needed else f'NotRequired[{of}]'}"
            for key, of in ((key, self.of(member, depth + 1)) for key, member in properties.items())
        )
        rest = (
            "" if more is False else f", extra_items={self.of(more, depth + 1) if isinstance(more, Mapping) else 'Any'}"
        )
        self.written[place] = f"{name} = TypedDict({name!r}, {{{said}}}{rest})\n"
        return name

    def _referred(self, reference: object) -> object:
        """Return what a reference within the same schema is to; nothing for any other."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        found: object = self._root
        for part in reference[2:].split("/"):
            if not isinstance(found, Mapping):
                return None
            found = found.get(part.replace("~1", "/").replace("~0", "~"))
        return found


def _required(schema: object) -> frozenset[str]:
    needed = schema.get("required") if isinstance(schema, Mapping) else None
    return frozenset(each for each in needed if isinstance(each, str)) if isinstance(needed, list) else frozenset()


def _literals(values: Sequence[object]) -> str:
    """Return the type of a few values; numbers with a fraction have no literal type."""
    usable = all(
        value is None or isinstance(value, bool | int) or (isinstance(value, str) and len(value) <= LONGEST)
        for value in values
    )
    if not usable or not values or len(values) > MOST_MEMBERS:
        return "Any"
    return f"Literal[{', '.join(f'{value!a}' for value in values)}]"
