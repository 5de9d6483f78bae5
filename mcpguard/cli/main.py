"""`mcpguard`: all commands. Only the requested one is imported, so that each starts as fast as possible."""

from collections.abc import Sequence
from importlib import import_module

import typer

from mcpguard import __version__

COMMANDS = {
    "call": "agents.call:call",
    "connect": "agents.connect:connect",
    "doctor": "doctor.doctor:doctor",
    "import": "agents.import_servers:importing",
    "scan": "servers.scan:scan",
    "search": "agents.search:search",
    "serve": "serve:serve",
    "status": "status:status",
    "stdio": "agents.stdio:stdio",
    "tour": "agents.tour:tour",
}
"""The function of each, in which module of this package."""
GROUPS = {
    "audit": "audit.audit",
    "caller": "agents.caller",
    "config": "config",
    "db": "db",
    "held": "people.held_calls",
    "operator": "people.operator",
    "server": "servers.server",
    "tool": "servers.tool",
    "user": "people.user",
}
"""The module of each, which has its commands in `app`."""


def build(arguments: Sequence[str]) -> typer.Typer:
    """The command line for these arguments: the command they begin with, or all, for help and for errors."""
    app = typer.Typer(
        name="mcpguard",
        no_args_is_help=True,
        pretty_exceptions_show_locals=False,  # local variables may hold what must not be shown
    )
    app.callback()(_root)
    first = "status" if [*arguments] == ["--version"] else next(iter(arguments), None)
    wanted = first if first in (*COMMANDS, *GROUPS) else None
    for name, place in COMMANDS.items():
        if wanted in (None, name):
            module, function = place.split(":")
            app.command(name)(getattr(import_module(f"mcpguard.cli.{module}"), function))
    for name, module in GROUPS.items():
        if wanted in (None, name):
            app.add_typer(import_module(f"mcpguard.cli.{module}").app, name=name)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mcpguard {__version__}")
        raise typer.Exit


def _root(
    _version: bool = typer.Option(
        False, "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
    ),
) -> None:
    """A firewall between AI agents and the MCP servers they use."""
