"""What `mcpguard connect` shows and asks. Of a program's file it shows what is put there, and names."""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

import typer

from mcpguard.agents.backups import Backups
from mcpguard.agents.candidates import Candidate, CandidateWay
from mcpguard.agents.changing import FileChange, NotChanged
from mcpguard.agents.editing.edit import Edit, edited
from mcpguard.agents.joining import ProgramStanding
from mcpguard.agents.program import AgentProgram, ConfigFile
from mcpguard.cli.shared.common import Output, print_json, print_table, this_program
from mcpguard.settings.entries.entry import enumerated
from mcpguard.text.visible import visible

HEAD: Final = ("program", "file", "stands", "walks around the guard", "what to type")
Result = TypeVar("Result")


def tried(work: Callable[[], Result], otherwise: Callable[[], None] | None = None) -> Result:
    """What came of it. What keeps a file from being changed is told, and ends the command with 1."""
    try:
        return work()
    except NotChanged as error:
        typer.echo(f"mcpguard: {visible(str(error))}; nothing was changed", err=True)
        if otherwise is not None:
            otherwise()
        raise typer.Exit(1) from None


def listed(every: Iterable[ProgramStanding], output: Output) -> None:
    """How each program stands to the guard."""
    shown = [_shown(each) for each in every]
    if output is Output.JSON:
        print_json(shown)
    else:
        print_table(HEAD, map(_row, shown))


def _shown(at: ProgramStanding) -> dict[str, Any]:
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
    loose = enumerated(each["name"] for each in direct)
    if shown["problem"]:
        return shown["title"], shown["file"], f"not understood: {shown['problem']}", loose, ""
    if not shown["installed"]:
        return shown["title"], shown["file"], "not found", "", ""
    missing = any(not each["guarded"] for each in direct)
    word = "import" if missing else "connect"
    again = " --replace" if direct and not missing else ""
    todo = f"{program} {word} {shown['program']}{again}" if direct or not shown["connected"] else ""
    return shown["title"], shown["file"], "connected" if shown["connected"] else "not connected", loose, todo


def show_change(at: ProgramStanding, change: FileChange, edit: Edit, output: Output) -> None:
    """What would be done, before anything is."""
    if output is Output.JSON:
        print_json(
            _shown(at) | {"put": dict(edit.put), "take": sorted(edit.take), "changes": change.after != change.before}
        )
        return
    if change.after == change.before:
        typer.echo(f"{at.program.title} is connected already: {visible(str(change.path))}")
        return
    typer.echo(f"{visible(str(change.path))}{'' if change.before is not None else ' (new)'}")
    for line in snippet(at.place, Edit(edit.put)):
        typer.echo(f"  + {visible(line)}")
    if any(each.item.place == at.place for each in at.ours):
        typer.echo("  in the place of the entry for the guard that stands there")
    taken = [each for each in at.replaceable if each.item.label in edit.take]
    for each in taken:
        typer.echo(f"  - {visible(each.item.label)}  (the guard has it: {each.why})")
    if any(each.why != "approved" for each in taken):
        typer.echo("What is not approved no agent can use: approve it first, or leave it where it is.", err=True)
    typer.echo("Everything else in it stays as it is.")
    _tell_loose(at, edit)


def show_taking_back(program: AgentProgram, change: FileChange, output: Output) -> None:
    """What would be taken back, before anything is."""
    removed = change.after is None
    if output is Output.JSON:
        print_json({"program": program.name, "file": str(change.path), "whole": change.whole, "removed": removed})
    elif removed:
        typer.echo(f"{visible(str(change.path))} was not there before, and is removed.")
    elif change.whole:
        typer.echo(f"{visible(str(change.path))} becomes what it was before, byte for byte.")
    else:
        typer.echo(
            f"{visible(str(change.path))} was written to since. The guard is taken out again, and what it replaced is "
            "put back; everything else stays as it is now."
        )


def snippet(place: ConfigFile, edit: Edit) -> Iterator[str]:
    """What would have to stand in a file that has nothing else."""
    yield from edited(b"", place, edit).decode().rstrip("\n").split("\n")


def tell_snippet(at: ProgramStanding, edit: Edit) -> None:
    """For a person to put there."""
    typer.echo(f"To connect {at.program.title}, have this in {visible(str(at.place.path))}:", err=True)
    for line in snippet(at.place, Edit(edit.put)):
        typer.echo(visible(line))


def asks_to_replace(at: ProgramStanding) -> bool:
    """Whether a person wants nothing to walk around the guard that it has itself."""
    names = enumerated(each.item.label for each in at.replaceable)
    return sys.stdin.isatty() and typer.confirm(
        f"{at.program.title} also reaches {visible(names)} directly, which the guard has. Take that out?", err=True
    )


def agreed(*, yes: bool) -> bool:
    """Whether it is to be done."""
    if yes:
        return True
    if not sys.stdin.isatty():
        typer.echo("mcpguard: nobody is here to be asked; --yes does it, --dry-run only shows it", err=True)
        raise typer.Exit(2)
    return typer.confirm("Do it?", err=True)


def tell_left(program: AgentProgram, change: FileChange, backups: Backups) -> None:
    """What was done, and what a person does next."""
    if change.number is not None:
        typer.echo(f"Taken back. If {program.title} runs, start it again: it goes by what it read before.", err=True)
        return
    back = f"{this_program()} connect {program.name} --undo"
    typer.echo(f"Done. What it was is kept in {backups.folder}; take it back: {back}", err=True)
    typer.echo(f"Next: {program.after}.", err=True)


def _tell_loose(at: ProgramStanding, edit: Edit) -> None:
    left = [each for each in at.direct if each.item.place != at.place or each.item.label not in edit.take]
    if not left:
        return
    typer.echo(f"Around the guard it reaches still: {_named(left)}.", err=True)
    missing = any(each.way is not CandidateWay.HERE for each in left)
    first = f"{this_program()} import {at.program.name}, approve them, then " if missing else ""
    if any(each.item.place == at.place for each in left):
        typer.echo(f"Bring them behind it: {first}{this_program()} connect {at.program.name} --replace", err=True)
    if apart := [each for each in left if each.item.place != at.place]:
        where = enumerated(dict.fromkeys(visible(str(each.item.place.path)) for each in apart))
        typer.echo(f"By hand, as no command does: take {_named(apart)} out of {where}.", err=True)


def _named(some: Iterable[Candidate]) -> str:
    return enumerated(f"{visible(each.name)} ({visible(each.item.scope)})" for each in some)
