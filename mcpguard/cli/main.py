"""`mcpguard`: all commands. Only the requested one is imported, so that each starts as fast as possible.

`mcpguard --help` imports none of them: it prints the sentences of the tables here, which are those of the commands.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final, NamedTuple

import typer

from mcpguard import __version__

COMPLETION: Final = "_MCPGUARD_COMPLETE"
"""Set by a shell that asks how a word goes on, which may be one of any command."""
OPTIONS: Final = ("--help", "--version")


class CommandEntry(NamedTuple):
    """Where a command is, and the sentence that says what it does."""

    place: str
    sentence: str


COMMANDS: Final = {
    "call": CommandEntry(
        "agents.call:call",
        "Call a tool as an agent does: with the token in MCPGUARD_TOKEN, or anonymously. Exit code 1 if it fails.",
    ),
    "connect": CommandEntry(
        "agents.connect:connect",
        "Connect Claude Code, Claude Desktop, Cursor, VS Code, Windsurf or Codex with the guard, in its own file.",
    ),
    "doctor": CommandEntry(
        "doctor.doctor:doctor",
        "Find problems, with the guard running or not, and say what to do. Nothing is changed.",
    ),
    "import": CommandEntry(
        "agents.import_servers:importing",
        "Find the servers that agents on this host reach directly, and add the chosen ones, in quarantine.",
    ),
    "lockdown": CommandEntry(
        "lockdown.lockdown:lockdown",
        "Make what an administrator deploys so that the guard is the only way to MCP servers for a program.",
    ),
    "scan": CommandEntry(
        "servers.scan:scan",
        'Inspect definitions, one JSON object a line: {"server": NAME, "tool": {…}} or a tool by itself.',
    ),
    "search": CommandEntry(
        "agents.search:search",
        "Find approved tools as an agent does: with the token in MCPGUARD_TOKEN, or anonymously.",
    ),
    "serve": CommandEntry(
        "serve:serve", "Start the guard and run until SIGTERM or Ctrl-C. Prints where everything is."
    ),
    "status": CommandEntry(
        "status:status",
        "Show the status of the running guard. Exit code 1 when none runs or it cannot take calls.",
    ),
    "stdio": CommandEntry(
        "agents.stdio:stdio",
        "Connect an agent that speaks MCP over stdio with the guard, which is started if none is running.",
    ),
    "tour": CommandEntry(
        "agents.tour:tour",
        "See an agent at work: it finds a tool, calls it, is refused, and is held for approval.",
    ),
}
"""The function of each, in which module of this package."""
GROUPS: Final = {
    "audit": CommandEntry("audit.audit", "Read, export, verify and prune the audit log."),
    "caller": CommandEntry("agents.caller", "Callers: the agents that have a token, and their scopes."),
    "code": CommandEntry("agents.code", "Programs that call many tools, as an agent runs them."),
    "config": CommandEntry("config", "Show, check and confirm the settings."),
    "db": CommandEntry("db", "Upgrade and back up the database."),
    "held": CommandEntry(
        "people.held_calls", "Calls held for approval: list, allow and deny them, or allow their like for a time."
    ),
    "operator": CommandEntry("people.operator", "API tokens, with which programs act for users on the guard's API."),
    "server": CommandEntry("servers.server", "The MCP servers behind the guard."),
    "service": CommandEntry("service.service", "The guard as a service of this user, which the system starts."),
    "tool": CommandEntry("servers.tool", "The tools of servers, or other capabilities with --kind."),
    "user": CommandEntry("people.user", "Users who may sign in to the console, and their sessions."),
}
"""The module of each, which has its commands in `app`."""


def command_line(arguments: Sequence[str], environ: Mapping[str, str]) -> typer.Typer:
    """The command line for what was typed: the command it begins with, or what is needed to help and to complain."""
    first = next(iter(arguments), "")
    if first in (*COMMANDS, *GROUPS) or COMPLETION in environ:
        return build(arguments)
    if not arguments:
        return _guide()
    if first.startswith("-") and first not in OPTIONS:
        return build([])  # what follows may be a command
    app = _empty()
    for name, entry in COMMANDS.items():
        app.command(name, help=entry.sentence)(_nothing)
    for name, entry in GROUPS.items():
        app.add_typer(typer.Typer(help=entry.sentence), name=name)
    return app


def build(arguments: Sequence[str]) -> typer.Typer:
    """The command that these arguments begin with, or all where they begin with none."""
    app = _empty()
    first = next(iter(arguments), None)
    wanted = first if first in (*COMMANDS, *GROUPS) else None
    for name, entry in COMMANDS.items():
        if wanted in (None, name):
            module, function = entry.place.split(":")
            app.command(name)(getattr(import_module(f"mcpguard.cli.{module}"), function))
    for name, entry in GROUPS.items():
        if wanted in (None, name):
            app.add_typer(import_module(f"mcpguard.cli.{entry.place}").app, name=name)
    return app


def _empty() -> typer.Typer:
    app = typer.Typer(
        name="mcpguard",
        no_args_is_help=True,
        pretty_exceptions_show_locals=False,  # local variables may hold what must not be shown
    )
    app.callback()(_root)
    return app


def _guide() -> typer.Typer:
    """What answers where no command is named."""
    app = typer.Typer(name="mcpguard", pretty_exceptions_show_locals=False)
    app.command()(import_module("mcpguard.cli.next_steps").show_next_steps)
    return app


def _nothing() -> None:
    """Stands for a command in the list of all."""


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
