"""What the commands about servers and their capabilities share: arguments, options, and how they are read."""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mcpguard.codec.names import is_server_name, parse_reference
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.launches import Mount, Profile


def server_name(given: str | None) -> str | None:
    """The name as it was given, if it can be one."""
    if given is not None and not is_server_name(given):
        raise typer.BadParameter("this is no server's name; mcpguard server list shows them")
    return given


def _reference(given: str) -> str:
    try:
        parse_reference(given)
    except InvalidName:
        raise typer.BadParameter("say which as SERVER:TOOL; mcpguard tool list shows them") from None
    return given


Name = Annotated[str, typer.Argument(metavar="NAME", help="The server.", callback=server_name)]
Tool = Annotated[
    str,
    typer.Argument(metavar="SERVER:TOOL", help="The server and the tool, or what --kind is.", callback=_reference),
]
Kind = Annotated[CapabilityKind, typer.Option("--kind", help="What it is; instructions are called instructions.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why. It goes into the audit log.")]

Sandbox = Annotated[
    Profile | None,
    typer.Option(
        metavar="PROFILE", help="strict: no network (the default); contained: with network; none: no sandbox."
    ),
]


class Confining(StrEnum):
    """The profiles that an approval can choose."""

    STRICT = Profile.STRICT.value
    CONTAINED = Profile.CONTAINED.value


Confined = Annotated[
    Confining | None,
    typer.Option(
        "--sandbox", metavar="PROFILE", help="From now on strict: no network; contained: with network; else as it was."
    ),
]
Mounts = Annotated[
    list[str] | None,
    typer.Option("--mount", metavar="PATH[:rw]", help="A folder that it sees in the sandbox; :rw if it may write."),
]


def mounts(given: Iterable[str]) -> list[str]:
    """Each with a whole path, as an entry names them."""
    found = []
    for each in given:
        mount = Mount.written(each)
        if not mount.path:
            raise typer.BadParameter("give it as PATH or PATH:rw", param_hint="--mount")
        found.append(str(replace(mount, path=str(Path(mount.path).resolve()))))
    return found


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """What was given as K=V, each once. The value of none is repeated: it may be a secret."""
    found: dict[str, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not name or not equals:
            raise typer.BadParameter("give it as NAME=VALUE", param_hint=option)
        if name in found:
            raise typer.BadParameter(f"{name} is given twice", param_hint=option)
        found[name] = value
    return found
