"""Schemas of all kinds, and objects that they accept."""

from typing import Any, Final

from hypothesis import strategies as st

NAMES: Final = st.sampled_from(["a", "b-c", "class", "", "ü", "a'b", 'q"', "\\", "x" * 30, "self", "\n"])
TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
SCALARS: Final = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXTS
FRACTIONS: Final = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
ANYTHING: Final = st.recursive(
    SCALARS | FRACTIONS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
Schema = dict[str, Any]
_DEFS: Final = {
    "text": {"type": "string"},
    "tree": {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
    "a/b~c": {"type": ["integer", "null"]},
}
_KINDS: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
_LEAVES: Final = st.one_of(
    st.sampled_from([{"type": kind} for kind in _KINDS]),
    st.sampled_from([{"type": kind} for kind in ("number", "integer", "string")]),
    st.sampled_from([{}, {"minLength": 2}, {"type": "string", "maxLength": 3}]),
    st.sampled_from([{"$ref": "#/$defs/text"}, {"$ref": "#/$defs/tree"}, {"$ref": "#/$defs/a~1b~0c"}]),
    st.builds(lambda values: {"enum": values}, st.lists(SCALARS, min_size=1, max_size=4)),
    st.builds(lambda value: {"const": value}, SCALARS | FRACTIONS),
)


def _composed(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        objects(inner),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda items: {"type": "array", "prefixItems": items}, several),
        st.builds(lambda how, members: {how: members}, st.sampled_from(["anyOf", "oneOf", "allOf"]), several),
        st.builds(lambda one, other: {**one, "anyOf": [other, {}]}, inner, inner),
        st.builds(lambda one, other: {**one, "not": other}, inner, inner),
        st.builds(lambda one: {**one, "type": ["object", "string", "null"]}, objects(inner)),
    )


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    """Schemas of objects, most of whose properties are required: what is left out shows nothing."""
    properties = draw(st.dictionaries(NAMES, inner, min_size=1, max_size=4))
    needed = [key for key in properties if draw(st.integers(0, 3))]
    more = draw(st.none() | st.booleans() | inner)
    schema: Schema = {"type": "object", "properties": properties}
    schema |= {"required": needed} if needed else {}
    schema |= {"additionalProperties": more} if more is not None else {}
    return schema | ({"patternProperties": {"^b": draw(inner)}} if draw(st.integers(0, 3)) == 3 else {})


_SCALARS: Final[dict[object, st.SearchStrategy[Any]]] = {
    "string": TEXTS,
    "integer": st.integers(-(2**60), 2**60),
    "number": FRACTIONS | st.integers(-(2**60), 2**60),
}
SCHEMAS: Final = objects(_LEAVES | st.recursive(_LEAVES, _composed, max_leaves=4)).map(
    lambda found: {**found, "$defs": _DEFS}
)


def fitting(schema: Any, root: Schema) -> st.SearchStrategy[Any]:  # noqa: ANN401, PLR0911 - JSON; a line for each kind
    """Values that fit a schema, mostly."""
    if not isinstance(schema, dict):
        return ANYTHING
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        return ANYTHING if name == "tree" else fitting(root["$defs"][name], root)
    if members := next((schema[how] for how in ("anyOf", "oneOf", "allOf") if how in schema), None):
        return st.one_of([fitting(each, root) for each in members])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    kinds = schema.get("type")
    if kinds == "object" or isinstance(kinds, list):
        return _fitting_object(schema, root)
    if kinds == "array":
        return st.lists(fitting(schema.get("items"), root), max_size=3)
    return _SCALARS.get(kinds, ANYTHING)


def _fitting_object(schema: Schema, root: Schema) -> st.SearchStrategy[Any]:
    of = {key: fitting(each, root) for key, each in schema.get("properties", {}).items()}
    needed = set(schema.get("required", ()))
    return st.builds(
        lambda known, more: {**more, **known},
        st.fixed_dictionaries(
            {key: of.get(key, ANYTHING) for key in sorted(needed)},
            optional={key: each for key, each in of.items() if key not in needed},
        ),
        st.just({}) | st.dictionaries(NAMES, fitting(schema.get("additionalProperties"), root), max_size=2),
    )
