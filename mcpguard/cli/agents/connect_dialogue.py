"""The output and the prompts of `mcpguard connect`. Of a program's file, they show only names and what is added."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import typer

from mcpguard.agents.backups import Backups
from mcpguard.agents.candidates import Candidate, CandidateWay
from mcpguard.agents.editing.edit import Edit, apply_edit
from mcpguard.agents.file_changes import FileChange, NotChanged
from mcpguard.agents.guard_entry import ProgramStatus
from mcpguard.agents.program import AgentProgram, ConfigFile
from mcpguard.cli.shared.common import Output, print_json, print_table, this_program
from mcpguard.settings.address import TLS
from mcpguard.settings.entries.entry import list_names
from mcpguard.text.visible import visible

HEAD: Final = ("program", "file", "status", "bypasses the guard", "command")
Result = TypeVar("Result")


def run_or_exit(work: Callable[[], Result], otherwise: Callable[[], None] | None = None) -> Result:
    """Do `work`. What keeps a file from being changed is printed, and ends the command with 1."""
    try:
        return work()
    except NotChanged as error:
        typer.echo(f"mcpguard: {visible(str(error))}; nothing was changed", err=True)
        if otherwise is not None:
            otherwise()
        raise typer.Exit(1) from None


def print_standings(every: Iterable[ProgramStatus], output: Output) -> None:
    """Print whether each program is connected with the guard."""
    shown = [_shown(each) for each in every]
    if output is Output.JSON:
        print_json(shown)
    else:
        print_table(HEAD, map(_row, shown))


def _shown(at: ProgramStatus) -> dict[str, Any]:
    return {
        "program": at.program.name,
        "title": at.program.title,
        "file": str(at.place.path),
        "installed": at.installed,
        "connected": bool(at.ours),
        "problem": at.problem,
        "direct": [
            {"name": each.name, "scope": each.item.scope, "guarded": each.way is CandidateWay.HERE}
            for each in at.direct
        ],
    }


def _row(shown: dict[str, Any]) -> tuple[str, ...]:
    program, direct = this_program(), shown["direct"]
    loose = list_names(each["name"] for each in direct)
    if shown["problem"]:
        return shown["title"], shown["file"], f"not understood: {shown['problem']}", loose, ""
    if not shown["installed"]:
        return shown["title"], shown["file"], "not found", "", ""
    missing = any(not each["guarded"] for each in direct)
    word = "import" if missing else "connect"
    again = " --replace" if direct and not missing else ""
    todo = f"{program} {word} {shown['program']}{again}" if direct or not shown["connected"] else ""
    return shown["title"], shown["file"], "connected" if shown["connected"] else "not connected", loose, todo


def show_change(at: ProgramStatus, change: FileChange, edit: Edit, output: Output) -> None:
    """Print the change before it is made."""
    if output is Output.JSON:
        print_json(
            _shown(at) | {"put": dict(edit.put), "take": sorted(edit.take), "changes": change.after != change.before}
        )
        return
    if change.after == change.before:
        typer.echo(f"{at.program.title} is already connected: {visible(str(change.path))}")
        return
    typer.echo(f"{visible(str(change.path))}{'' if change.before is not None else ' (new)'}")
    for line in snippet(at.place, Edit(edit.put)):
        typer.echo(f"  + {visible(line)}")
    if any(each.item.place == at.place for each in at.ours):
        typer.echo("  replaces the present entry of the guard")
    taken = [each for each in at.replaceable if each.item.label in edit.take]
    for each in taken:
        typer.echo(f"  - {visible(each.item.label)}  (the guard has it: {each.why})")
    if any(each.why != "approved" for each in taken):
        typer.echo("Agents cannot use what is not approved: approve it first, or leave it where it is.", err=True)
    typer.echo("Everything else in the file stays as it is.")
    _tell_trust(at, edit)
    _tell_loose(at, edit)


def show_taking_back(program: AgentProgram, change: FileChange, output: Output) -> None:
    """Print what undoing would change, before anything is changed."""
    removed = change.after is None
    if output is Output.JSON:
        print_json({"program": program.name, "file": str(change.path), "whole": change.whole, "removed": removed})
    elif removed:
        typer.echo(f"{visible(str(change.path))} did not exist before, and is removed.")
    elif change.whole:
        typer.echo(f"{visible(str(change.path))} is restored, byte for byte.")
    else:
        typer.echo(
            f"{visible(str(change.path))} was changed since. The guard is removed, and what it replaced is "
            "put back; everything else stays as it is now."
        )


def snippet(place: ConfigFile, edit: Edit) -> Iterator[str]:
    """The lines of a file that contains nothing but this entry."""
    yield from apply_edit(b"", place, edit).decode().rstrip("\n").split("\n")


def tell_snippet(at: ProgramStatus, edit: Edit) -> None:
    """Print the entry for a person to put into the file."""
    typer.echo(f"To connect {at.program.title}, put this into {visible(str(at.place.path))}:", err=True)
    for line in snippet(at.place, Edit(edit.put)):
        typer.echo(visible(line))


def asks_to_replace(at: ProgramStatus) -> bool:
    """Tell whether a person wants to remove servers from the file that the guard has too."""
    names = list_names(each.item.label for each in at.replaceable)
    return sys.stdin.isatty() and typer.confirm(
        f"{at.program.title} also reaches {visible(names)} directly, and the guard has them too. Remove them there?",
        err=True,
    )


def tell_left(program: AgentProgram, change: FileChange, backups: Backups) -> None:
    """Print what was done, and what a person does next."""
    if change.number is not None:
        typer.echo(f"Undone. If {program.title} is running, restart it: it still uses what it read before.", err=True)
        return
    back = f"{this_program()} connect {program.name} --undo"
    typer.echo(f"Done. The previous file is kept in {backups.folder}; undo: {back}", err=True)
    typer.echo(f"Next: {program.after}.", err=True)


def _tell_trust(at: ProgramStatus, edit: Edit) -> None:
    values = (value for entry in edit.put.values() if isinstance(entry, Mapping) for value in entry.values())
    if any(isinstance(each, str) and each.startswith(TLS) for each in values):
        typer.echo(
            f"{at.program.title} must trust the guard's certificate; one of a private authority is made known to "
            "programs on Node by NODE_EXTRA_CA_CERTS.",
            err=True,
        )


def _tell_loose(at: ProgramStatus, edit: Edit) -> None:
    left = [each for each in at.direct if each.item.place != at.place or each.item.label not in edit.take]
    if not left:
        return
    typer.echo(f"Still bypasses the guard: {_named(left)}.", err=True)
    missing = any(each.way is not CandidateWay.HERE for each in left)
    first = f"{this_program()} import {at.program.name}, approve them, then " if missing else ""
    if any(each.item.place == at.place for each in left):
        typer.echo(f"Put them behind the guard: {first}{this_program()} connect {at.program.name} --replace", err=True)
    if apart := [each for each in left if each.item.place != at.place]:
        where = list_names(dict.fromkeys(visible(str(each.item.place.path)) for each in apart))
        typer.echo(f"Remove by hand, as no command does: {_named(apart)} from {where}.", err=True)


def _named(some: Iterable[Candidate]) -> str:
    return list_names(f"{visible(each.name)} ({visible(each.item.scope)})" for each in some)
