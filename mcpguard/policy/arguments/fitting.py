"""Whether what a call carries is what the approved definition describes, for each kind of thing that can be called."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.arguments.expected import path
from mcpguard.policy.arguments.schemas import Checks

CALL: Final = "tools/call"
GET: Final = "prompts/get"
_NO_OBJECT: Final = Objection(Reason.ARGUMENTS_INVALID, Detail(path="$", expected="an object"))


def of_tool(given: object, checks: Checks, size: int) -> Objection | None:
    """What a tool is given. None at all is an empty object."""
    arguments = {} if given is None else given
    return checks.unfit(arguments, size) if isinstance(arguments, dict) else _NO_OBJECT


def of_prompt(given: object, definition: Mapping[str, Any]) -> Objection | None:
    """What a prompt is given: everything that it requires."""
    arguments = {} if given is None else given
    if not isinstance(arguments, dict):
        return _NO_OBJECT
    for name in _required(definition.get("arguments")):
        if name not in arguments:
            return Objection(Reason.ARGUMENTS_INVALID, Detail(path=path([name]), expected="a value; it is required"))
    return None


def _required(listed: object) -> Iterator[str]:
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and each.get("required") is True and isinstance(name := each.get("name"), str):
            yield name
