"""`mcpguard`: all commands. Only the one that is asked for is imported, so that each starts as fast as it can."""

from collections.abc import Sequence
from importlib import import_module

import typer

from mcpguard import __version__

COMMANDS = ("call", "connect", "doctor", "import", "scan", "search", "serve", "status", "stdio", "tour")
GROUPS = ("audit", "caller", "config", "db", "held", "operator", "server", "tool", "user")
"""Each is a module of this package: a command is the function of its name, a group the `app` in it."""
ELSEWHERE = {"import": "importing", "operator": "tokens"}
"""Those whose module has another name, and a command's function with it."""


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
    for name in COMMANDS:
        if wanted in (None, name):
            module = ELSEWHERE.get(name, name)
            app.command(name)(getattr(import_module(f"mcpguard.cli.{module}"), module))
    for name in GROUPS:
        if wanted in (None, name):
            app.add_typer(import_module(f"mcpguard.cli.{ELSEWHERE.get(name, name)}").app, name=name)
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
