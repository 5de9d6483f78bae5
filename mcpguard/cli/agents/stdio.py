"""`mcpguard stdio`: its help and its errors. Well-formed command lines are parsed faster by `quick_start`."""

import os
from typing import Annotated

import typer

from mcpguard.cli.shared.common import Config, DataDir
from mcpguard.codec.names import SEPARATORS
from mcpguard.relay.relay import USUAL, RelayCommand, RelayFace, relay


def stdio(
    config: Config = None,
    data_dir: DataDir = None,
    face: Annotated[
        RelayFace, typer.Option(help="What the agent sees: the guard's own tools, or the servers'.")
    ] = USUAL,
    only: Annotated[str | None, typer.Option(metavar="SERVER", help="The server for --face transparent.")] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="::|__|.", help="Between server and tool with --face direct and proxy; default: the setting."
        ),
    ] = None,
) -> None:
    """Connect an agent that speaks MCP over stdio with the guard, which is started if none is running.

    The agent's token is taken from MCPGUARD_TOKEN or from the file that MCPGUARD_TOKEN_FILE names.
    """
    if face is RelayFace.TRANSPARENT and only is None:
        raise typer.BadParameter("is needed with --face transparent", param_hint="--only")
    if separator not in (None, *SEPARATORS):
        raise typer.BadParameter(f"must be one of {' '.join(SEPARATORS)}", param_hint="--separator")
    raise typer.Exit(relay(RelayCommand(config, data_dir, face, only, separator), os.environ))
