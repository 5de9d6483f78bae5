"""What `upstream_servers` is given, in the forms that there are.

Rules kept here:
1. What is to be done is said by `operation`, or by `action` as older clients do; not by both.
2. A server's entry is given as `config`, or member by member as other programs do, also as JSON or its text
   (`args_json`); never in two forms at once. A member that is null is removed by a patch.
3. What only a person does is known by its name, so that whoever tries it is told that, and no form of it is read.
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


def wanted(arguments: object) -> str:
    """The operation that is named, if it is one that we know; otherwise nothing."""
    said = arguments.get("operation", arguments.get("action")) if isinstance(arguments, dict) else None
    return said.lower() if isinstance(said, str) and said.lower() in COMMANDS else ""


def servers(arguments: object) -> ServersArguments:
    """Raises UnusableArguments."""
    if not isinstance(arguments, dict):
        return read(ServersArguments, arguments)
    rest = {name: value for name, value in arguments.items() if name not in MEMBERS and name not in TEXTS}
    if "action" in rest:
        if "operation" in rest:
            raise UnusableArguments("operation and action say the same thing; give one of them")
        rest["operation"] = rest.pop("action")
    members = {name: arguments[name] for name in MEMBERS if name in arguments}
    for name, member in TEXTS.items():
        if name in arguments:
            if member in members:
                raise UnusableArguments(f"{member} and {name} say the same thing; give one of them")
            members[member] = _parsed(name, arguments[name])
    if members:
        if rest.get("config") is not None:
            raise UnusableArguments("config says what the server's single members say; give one of the two forms")
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
    raise UnusableArguments(f"{name} is not the text of JSON")
