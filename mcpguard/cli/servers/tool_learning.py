"""`mcpguard tool learned` and `forget`: the words of earlier searches for which a tool is found more often."""

from typing import Annotated, Final
from urllib.parse import urlencode

import typer

from mcpguard.cli.servers.choices import split_reference
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_table
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.cli.shared.options import Reason, Tool, tool_reference
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.text.visible import visible

LEARNED: Final = f"{API}/search/learned"
HEAD: Final = ("word", "callers")
OFF: Final = "Nothing is learned while search.learn is false."
WHICH: Final = "give the tool as SERVER:TOOL, or --all"


def show_learned(tool: Tool, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Show the words of earlier searches for which a tool is found more often, and how many callers taught each."""
    server, (_, name) = split_reference(tool, CapabilityKind.TOOL)
    query = urlencode({"server": server, "name": name})
    answer = GuardClient.from_options(config, data_dir).get(f"{LEARNED}?{query}")
    if output is Output.JSON:
        print_json(answer)
    elif answer["words"]:
        print_table(HEAD, ((each["word"], str(each["callers"])) for each in answer["words"]))
        typer.echo(f"To forget them: mcpguard tool forget {visible(tool)} --reason TEXT", err=True)
    else:
        typer.echo(f"Nothing has been learned of {visible(tool)}." if answer["enabled"] else OFF, err=True)


def forget(
    reason: Reason,
    tool: Annotated[
        str | None, typer.Argument(metavar="[SERVER:TOOL]", help="The tool, in every version.", callback=tool_reference)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Forget what was learned of all tools.")] = False,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Forget what search has learned of a tool, or of all; it is learned again from later calls."""
    if every == (tool is not None):
        raise typer.BadParameter(WHICH, param_hint="SERVER:TOOL")
    guard = GuardClient.from_options(config, data_dir)
    if tool is None:
        guard.send("POST", f"{LEARNED}/forget-all", {"why": reason})
    else:
        guard.send("POST", f"{LEARNED}/forget", {"why": reason, "name": tool})
    typer.echo(f"Forgot what search had learned of {visible(tool or 'all tools')}.")
