"""Phrases for the type and the default of a setting."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, get_args, get_origin

from pydantic import SecretStr

from mcpguard.settings.fields import Leaf

_PLAIN: Final[Mapping[object, str]] = MappingProxyType(
    {str: "a string", bool: "true or false", Path: "a path", SecretStr: "a secret string"}
)


def kind_phrase(leaf: Leaf) -> str:
    """Return the type of the setting as a phrase that fits after "must be"."""
    annotation = leaf.field.annotation
    if type(None) in get_args(annotation):
        annotation = next(each for each in get_args(annotation) if each is not type(None))
    if get_origin(annotation) is Literal:
        return "one of " + ", ".join(get_args(annotation))
    if leaf.many:
        each = get_args(annotation)[0]
        return "a list of " + (", ".join(get_args(each)) if get_origin(each) is Literal else "strings")
    if annotation is int:
        return "a whole number" + _range(leaf)
    if annotation is float:
        return "a number" + _range(leaf)
    return _PLAIN[annotation]


def default_phrase(leaf: Leaf) -> str:
    """Return the default as a phrase that is the same on every host."""
    if leaf.default_words is not None:
        return leaf.default_words
    value = leaf.field.default
    if isinstance(value, tuple):
        return ", ".join(f"`{each}`" for each in value) or "none"
    if isinstance(value, bool):
        return f"`{value}`".lower()
    return "none" if value is None else "`" + str(value).removesuffix(".0") + "`"


def _range(leaf: Leaf) -> str:
    bounds = {
        name: getattr(each, name) for each in leaf.field.metadata for name in ("ge", "gt", "le") if hasattr(each, name)
    }
    match bounds:
        case {"ge": low, "le": high}:
            return f" from {low} to {high}"
        case {"gt": low, "le": high}:
            return f" above {low}, at most {high}"
        case {"gt": low}:
            return f" above {low}"
        case _:
            return ""
