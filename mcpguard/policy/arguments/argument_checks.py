"""Checks the arguments of prompts against their definitions, and all parameters against the limit of depth."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.arguments.mismatch import json_path

CALL: Final = "tools/call"
GET: Final = "prompts/get"
NO_OBJECT: Final = Objection(Reason.ARGUMENTS_INVALID, Detail(path="$", expected="an object"))


def check_prompt_arguments(given: object, definition: Mapping[str, Any]) -> Objection | None:
    """Return the objection to the arguments of a prompt, which must have everything that it requires."""
    arguments = {} if given is None else given
    if not isinstance(arguments, dict):
        return NO_OBJECT
    for name in _required(definition.get("arguments")):
        if name not in arguments:
            return Objection(
                Reason.ARGUMENTS_INVALID, Detail(path=json_path([name]), expected="a value; it is required")
            )
    return None


def _required(listed: object) -> Iterator[str]:
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and each.get("required") is True and isinstance(name := each.get("name"), str):
            yield name


def nested_too_deeply(params: Mapping[str, Any], most: int) -> Detail | None:
    """Return how the parameters exceed the limit of depth; None if they do not."""
    return None if depth(params) <= most else Detail(path="$", expected=f"at most {most} levels")


def depth(value: object) -> int:
    """Return the nesting depth of objects and arrays."""
    deepest, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        deepest += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return deepest
