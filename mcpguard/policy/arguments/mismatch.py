"""Describes how arguments violate a schema: at which place, and what was expected there.

Rules kept here: neither argument values nor texts of the schema are repeated. Property names are, escaped and cut, and
so are numbers that the schema sets as limits.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from jsonschema_rs import ValidationError, ValidationErrorKind

from mcpguard.domain.calls.objections import Detail
from mcpguard.text.visible import visible

Step = str | int
WHATEVER: Final = "what the approved schema describes"
FORMS: Final = "one of the forms that the schema describes"
_LONGEST_NAME: Final = 60
_LONGEST_PATH: Final = 200
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TYPES: Final[Mapping[str, str]] = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
_LIMITS: Final[Mapping[str, str]] = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} properties",
    "maxProperties": "at most {} properties",
}
_OTHERS: Final[Mapping[str, str]] = {
    "additionalItems": "fewer items",
    "falseSchema": "nothing",
    "const": "the one value that the schema gives",
    "contains": "an item that the schema asks for",
    "enum": "one of the values that the schema lists",
    "not": "something that the schema does not exclude",
    "pattern": "text that matches the pattern of the schema",
    "propertyNames": "names of properties that the schema allows",
    "unevaluatedItems": "fewer items",
    "uniqueItems": "no two equal items",
}


def json_path(steps: Sequence[Step]) -> str:
    """Return the place as a JSONPath, made visible and cut."""
    path = "$" + "".join(_step(step) for step in steps)
    return path if len(path) <= _LONGEST_PATH else path[:_LONGEST_PATH] + "…"


def describe_mismatch(error: ValidationError) -> Detail:
    """Return the place of the first mismatch, and what was expected there."""
    error = _deepest(error)
    at: list[Step] = list(error.instance_path)
    match error.kind:
        case ValidationErrorKind.Required(property=name):
            return Detail(path=json_path([*at, name]), expected="a value; it is required")
        case (
            ValidationErrorKind.AdditionalProperties(unexpected=names)
            | ValidationErrorKind.UnevaluatedProperties(unexpected=names)
        ):
            return Detail(path=json_path([*at, *names[:1]]), expected="nothing; there is no such property")
        case ValidationErrorKind.FalseSchema() if error.schema_path[-1:] == ["additionalProperties"]:
            return Detail(path=json_path(at), expected="an object without properties")
        case kind:
            return Detail(path=json_path(at), expected=_expected(kind))


def _expected(kind: ValidationErrorKind) -> str:
    match kind:
        case ValidationErrorKind.Type(types=types):
            return _types(types)
        case ValidationErrorKind.AnyOf(context=branches) | ValidationErrorKind.OneOfNotValid(context=branches):
            kinds = [branch[0].kind for branch in branches if branch]
            types = [name for each in kinds if isinstance(each, ValidationErrorKind.Type) for name in each.types]
            return (
                _types(types)
                if len(kinds) == sum(isinstance(each, ValidationErrorKind.Type) for each in kinds)
                else FORMS
            )
        case ValidationErrorKind.OneOfMultipleValid():
            return "exactly " + FORMS
        case _:
            return _by_name(kind)


def _by_name(kind: ValidationErrorKind) -> str:
    if (form := _LIMITS.get(kind.name)) is not None:
        return form.format(_number(kind.value))
    return _OTHERS.get(kind.name, WHATEVER)


def _deepest(error: ValidationError) -> ValidationError:
    """Return the error of the alternative that matches furthest, which is most likely the intended one."""
    kind = error.kind
    while isinstance(kind, ValidationErrorKind.AnyOf | ValidationErrorKind.OneOfNotValid):
        first = [branch[0] for branch in kind.context if branch]
        best = max(first, key=lambda each: len(each.instance_path), default=error)
        if len(best.instance_path) <= len(error.instance_path):
            return error
        error, kind = best, best.kind
    return error


def _types(names: Sequence[str]) -> str:
    known = sorted({_TYPES[name] for name in names if name in _TYPES})
    return " or ".join(known) or WHATEVER


def _number(limit: object) -> str:
    return str(limit)[:30]


def _step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    name = visible(step if len(step) <= _LONGEST_NAME else step[:_LONGEST_NAME] + "…")
    return f".{name}" if _PLAIN.fullmatch(name) else f'["{name}"]'
