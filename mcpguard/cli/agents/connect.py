"""`mcpguard connect`: adds the guard to the configuration file of a program that runs agents.

Rules kept here:
1. Nothing is written before a user has seen the change and confirmed it; `--yes` confirms it without a terminal.
2. The output shows what is added to a file and which members are removed, but no value of any other entry.
3. A file that cannot be parsed stays unchanged; the entry that it would need is printed instead.
"""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from mcpguard.agents.backups import Backups
from mcpguard.agents.candidates import Candidate, GuardedServers
from mcpguard.agents.editing.edit import Edit
from mcpguard.agents.file_changes import carry_out, plan_change, plan_undo, refuse_modified
from mcpguard.agents.guard_entry import ProgramStatus, each_edit, guard_edit, program_status
from mcpguard.agents.programs import PROGRAMS
from mcpguard.app.places import agent_backups
from mcpguard.cli.agents.client_entry import ConnectOver, ShownFace, WantedEntry, reach
from mcpguard.cli.agents.config_homes import HomeFolder, Project, home_of, named_program
from mcpguard.cli.agents.connect_dialogue import (
    asks_to_replace,
    print_standings,
    run_or_exit,
    show_change,
    show_taking_back,
    tell_left,
    tell_snippet,
)
from mcpguard.cli.shared.common import As, Config, DataDir, Output, load_settings
from mcpguard.cli.shared.confirmation import is_confirmed
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.cli.shared.known_servers import guarded_by

Which = Annotated[
    str | None, typer.Argument(metavar="PROGRAM", help="The program; without one, the status of each is printed.")
]
Face = Annotated[ShownFace, typer.Option(help="What the agent sees: the guard's own tools, or those of the servers.")]
Way = Annotated[ConnectOver, typer.Option(help="A command that the program starts, or the guard's address.")]
Token = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The file with the agent's token; without one, the agent is anonymous."),
]
Replace = Annotated[
    bool | None,
    typer.Option("--replace/--keep", help="Whether servers that the guard has too are removed from the file."),
]


def connect(
    program: Which = None,
    face: Face = ShownFace.GUARD,
    over: Way = ConnectOver.STDIO,
    token_file: Token = None,
    replace: Replace = None,
    *,
    name: Annotated[str, typer.Option(metavar="NAME", help="The name of the guard in the file.")] = "mcpguard",
    each: Annotated[
        bool, typer.Option("--each", help="One entry for each approved server, under its own name, not one for all.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last change.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change, and do nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Make the change without asking.")] = False,
    project: Project = Path(),
    home: HomeFolder = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Connect Claude Code, Claude Desktop, Cursor, VS Code, Windsurf or Codex with the guard, in its own file.

    It shows the change, asks, and keeps a copy, which --undo restores. Everything else in the file stays.
    """
    found = load_settings(config, data_dir=data_dir)
    guard = GuardClient(found.settings.data_dir)
    guarded = guarded_by(found.settings, guard if guard.is_running() else None)
    if program is None:
        print_standings([program_status(each, home_of(home), project.resolve(), guarded) for each in PROGRAMS], output)
        return
    which = named_program(program)
    backups = Backups(agent_backups(found.settings), which.name)
    if undo:
        change = run_or_exit(lambda: plan_undo(backups))
        show_taking_back(which, change, output)
    else:
        at = program_status(which, home_of(home), project.resolve(), guarded)
        wanted = WantedEntry(over, face, token_file, config)
        some = _approved(guard, guarded) if each else ("",)
        reaches = {server: reach(which, dataclasses.replace(wanted, only=server), found, guard) for server in some}
        replaced = _replaced(at, replace, asking=not (yes or dry_run))

        def edit_of(at: ProgramStatus) -> Edit:
            return each_edit(at, reaches, replaced) if each else guard_edit(at, reaches[""], name, replaced)

        edit = run_or_exit(lambda: edit_of(at))
        change = run_or_exit(lambda: plan_change(at.place, edit), lambda: tell_snippet(at, edit))
        # The edit was made up from an earlier look at the file than the change was planned from.
        now = program_status(which, home_of(home), project.resolve(), guarded)
        if run_or_exit(lambda: edit_of(now)) != edit:
            run_or_exit(lambda: refuse_modified(change.path))
        show_change(at, change, edit, output)
    if dry_run or change.after == change.before:
        return
    if not is_confirmed(yes=yes):
        raise typer.Exit(1)
    run_or_exit(lambda: carry_out(change, backups))
    tell_left(which, change, backups)


def _approved(guard: GuardClient, guarded: GuardedServers) -> tuple[str, ...]:
    """The names of the approved servers. Exits with 1 if there are none, or no guard to ask."""
    guard.get(f"{API}/status")  # says what to do where no guard runs
    names = tuple(name for name, standing in guarded.standings.items() if standing == "approved")
    if not names:
        typer.echo("mcpguard: no server is approved, so there is no entry to write; nothing was changed", err=True)
        raise typer.Exit(1)
    return names


def _replaced(at: ProgramStatus, replace: bool | None, *, asking: bool) -> tuple[Candidate, ...]:
    """The servers that are removed from the file: as the option says, or as a person answers now."""
    if replace is None:
        return at.replaceable if asking and at.replaceable and asks_to_replace(at) else ()
    return at.replaceable if replace else ()
