"""Reads the arguments of `upstream_servers`, in all their forms.

Rules kept here:
1. The operation is named by `operation`, or by `action` as older clients do; not by both.
2. A server's entry is given as `config`, or member by member as other programs do, also as JSON or its text
   (`args_json`); never in two forms at once. A null member is removed by a patch.
3. What only people may do is known by name, so that an agent that tries it is told so; its arguments are not read.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import Field, StrictInt

from mcpguard.codec.strict import StrictError, parse
from mcpguard.gateway.tools.arguments import MOST_ARGUMENT_BYTES, ArgumentModel, Name, UnusableArguments, read
from mcpguard.guard.review.requests import REQUESTED

MOST_LINES: Final = 200
MEMBERS: Final = (
    *("command", "args", "env", "cwd", "working_dir", "framing", "sandbox", "mounts"),
    *("url", "headers", "type", "transport", "protocol", "timeout", "era", "enabled", "disabled"),
    *REQUESTED,
)
"""Of an entry, as they may be given by themselves."""
TEXTS: Final = MappingProxyType({f"{name}_json": name for name in ("args", "env", "headers", "mounts", *REQUESTED)})


class ServerOperation(StrEnum):
    """What an agent may ask for."""

    LIST = "list"
    REQUEST = "request"
    TAIL_LOG = "tail_log"
    ADD = "add"
    UPDATE = "update"
    PATCH = "patch"
    REMOVE = "remove"
    DISABLE = "disable"
    ENABLE = "enable"


MANAGING: Final = frozenset(
    {*ServerOperation} - {ServerOperation.LIST, ServerOperation.REQUEST, ServerOperation.TAIL_LOG}
)
"""What a caller may do to whom a person has granted `manage`; everybody else may not."""
COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{each.value: each.value for each in MANAGING},
        "update": "patch",
        **dict.fromkeys(("approve", "unquarantine", "trust", "allow"), "approve"),
        **dict.fromkeys(("quarantine", "unblock"), "quarantine"),
        **dict.fromkeys(("block", "deny"), "block"),
        "inspect": "inspect",
        "permit": "permit",
        "revoke": "quarantine",
        "reject": "block",
    }
)
"""The command of `mcpguard server` by which a person does what an agent may not."""


class ServersArguments(ArgumentModel):
    operation: ServerOperation
    name: Name | None = None
    config: dict[str, Any] | None = None
    lines: Annotated[StrictInt, Field(ge=1, le=MOST_LINES)] = 50


def named_operation(arguments: object) -> str:
    """Return the operation that is named, if it is a known one, or an empty text."""
    said = arguments.get("operation", arguments.get("action")) if isinstance(arguments, dict) else None
    return said.lower() if isinstance(said, str) and said.lower() in COMMANDS else ""


def read_servers_arguments(arguments: object) -> ServersArguments:
    """Read the arguments. Raises UnusableArguments."""
    if not isinstance(arguments, dict):
        return read(ServersArguments, arguments)
    rest = {name: value for name, value in arguments.items() if name not in MEMBERS and name not in TEXTS}
    if "action" in rest:
        if "operation" in rest:
            raise UnusableArguments("operation and action mean the same; give only one of them")
        rest["operation"] = rest.pop("action")
    members = {name: arguments[name] for name in MEMBERS if name in arguments}
    for name, member in TEXTS.items():
        if name in arguments:
            if member in members:
                raise UnusableArguments(f"{member} and {name} mean the same; give only one of them")
            members[member] = _parsed(name, arguments[name])
    if members:
        if rest.get("config") is not None:
            raise UnusableArguments("give either config or the server's single members, not both")
        rest["config"] = members
    return read(ServersArguments, rest)


def _parsed(name: str, text: object) -> object:
    if isinstance(text, dict | list):  # some clients read the text before they send it
        return text
    if isinstance(text, str):
        try:
            return parse(text.encode(), max_bytes=MOST_ARGUMENT_BYTES)
        except (StrictError, UnicodeError):
            pass
    raise UnusableArguments(f"{name} must be JSON as text")
