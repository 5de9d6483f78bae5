"""What the commands about servers and their capabilities share: arguments, options, and how they are read."""

from collections.abc import Iterable
from typing import Annotated

import typer

from mcpguard.codec.names import is_server_name, reference
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import InvalidName


def server_name(given: str | None) -> str | None:
    """The name as it was given, if it can be one."""
    if given is not None and not is_server_name(given):
        raise typer.BadParameter("this is no server's name; mcpguard server list shows them")
    return given


def _reference(given: str) -> str:
    try:
        reference(given)
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
