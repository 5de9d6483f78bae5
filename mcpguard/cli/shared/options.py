"""Arguments and options that several commands have, and how they are parsed."""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from mcpguard.codec.names import is_server_name, parse_reference
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.people import NAME
from mcpguard.domain.servers.launches import Mount, Profile

LARGEST_JSON: Final = 4 * 1024 * 1024


def server_name(given: str | None) -> str | None:
    """The name as it was given, if a server can have it."""
    if given is not None and not is_server_name(given):
        raise typer.BadParameter("not a server name; mcpguard server list shows them")
    return given


def account_name(given: str) -> str:
    """The name as it was given, if a user, a caller or an API token can have it."""
    if NAME.fullmatch(given) is None:
        raise typer.BadParameter("a name has 1 to 63 of a to z, 0 to 9, -, _ and ., and begins with a letter or digit")
    return given


def tool_reference(given: str | None) -> str | None:
    """The tool as it was given, if it is one of a server."""
    try:
        if given is not None:
            parse_reference(given)
    except InvalidName:
        raise typer.BadParameter("give it as SERVER:TOOL; mcpguard tool list shows them") from None
    return given


def json_value(text: str, option: str) -> object:
    """Parse an option that is JSON. No error repeats it: it may hold a secret."""
    try:
        return parse(text.encode(errors="surrogateescape"), max_bytes=LARGEST_JSON)
    except StrictError as error:
        raise typer.BadParameter(f"this is not strict JSON: {error.message}", param_hint=option) from None


def json_object(text: str, option: str) -> dict[str, Any]:
    """Parse an option that is a JSON object."""
    read = json_value(text, option)
    if not isinstance(read, dict):
        raise typer.BadParameter("must be an object", param_hint=option)
    return read


Name = Annotated[str, typer.Argument(metavar="NAME", help="The server.", callback=server_name)]
Tool = Annotated[
    str,
    typer.Argument(
        metavar="SERVER:TOOL", help="The server and the tool, or the capability of --kind.", callback=tool_reference
    ),
]
Kind = Annotated[
    CapabilityKind, typer.Option("--kind", help="The kind of capability; the name of instructions is `instructions`.")
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="The reason, which goes into the audit log.")]
"""Required, unless the command gives it a default."""

Sandbox = Annotated[
    Profile | None,
    typer.Option(
        metavar="PROFILE", help="strict: no network (the default); contained: with network; none: no sandbox."
    ),
]


class Confining(StrEnum):
    """The sandbox profiles that an approval can choose."""

    STRICT = Profile.STRICT.value
    CONTAINED = Profile.CONTAINED.value


Confined = Annotated[
    Confining | None,
    typer.Option(
        "--sandbox",
        metavar="PROFILE",
        help="Change the sandbox. strict: no network; contained: with network; default: unchanged.",
    ),
]
Mounts = Annotated[
    list[str] | None,
    typer.Option(
        "--mount", metavar="PATH[:rw]", help="A folder that is visible in the sandbox; :rw makes it writable."
    ),
]


def mounts(given: Iterable[str]) -> list[str]:
    """The mounts of an entry, each with an absolute path."""
    found = []
    for each in given:
        mount = Mount.parse(each)
        if not mount.path:
            raise typer.BadParameter("give it as PATH or PATH:rw", param_hint="--mount")
        found.append(str(replace(mount, path=str(Path(mount.path).resolve()))))
    return found


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """Parse NAME=VALUE options. No error repeats a value: it may be a secret."""
    found: dict[str, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not name or not equals:
            raise typer.BadParameter("give it as NAME=VALUE", param_hint=option)
        if name in found:
            raise typer.BadParameter(f"{name} is given twice", param_hint=option)
        found[name] = value
    return found
