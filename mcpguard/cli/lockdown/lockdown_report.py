"""The output of `mcpguard lockdown`. Of a file that exists it shows names and what is added, no other value."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from mcpguard.agents.editing.edit import Edit, apply_edit
from mcpguard.agents.file_changes import FileChange
from mcpguard.agents.lockdown.deployment import LockableProgram, LockdownWish, TargetSystem
from mcpguard.agents.lockdown.lockdown_status import LockdownState
from mcpguard.agents.lockdown.system_files import PlannedFile
from mcpguard.agents.lockdown.ways_around import WayAround
from mcpguard.cli.shared.common import Output, print_json, print_table, this_program
from mcpguard.settings.entries.entry import list_names
from mcpguard.text.visible import visible

HEAD: Final = ("program", "the guard is the only way", "reaches directly", "what is wrong")


def print_deployment(which: LockableProgram, wish: LockdownWish, system: TargetSystem, output: Output) -> None:
    """Print what is deployed: files with their paths, or what is entered elsewhere."""
    files, pages = which.files(wish, system), which.pages(wish, system)
    if output is Output.JSON:
        shown = {"program": which.name, "system": system.value, "checked": which.checked}
        print_json(
            shown
            | {"files": {str(each.path): each.text() for each in files}}
            | {"pages": [{"where": each.where, "text": each.text} for each in pages]}
        )
        return
    for file in files:
        typer.echo(f"{file.path}:")
        typer.echo(file.text())
    for page in pages:
        typer.echo(f"No file of the system; enter this in {page.where}:")
        typer.echo(page.text)
    typer.echo(f"Checked against {which.checked}.", err=True)
    typer.echo(f"Then: {which.after}.", err=True)


def print_writing(which: LockableProgram, planned: Sequence[PlannedFile], output: Output) -> None:
    """Print what is about to be written where."""
    if output is Output.JSON:
        print_json({"program": which.name, "files": [_planned(each) for each in planned]})
        return
    for each in planned:
        change = each.change
        if change.after == change.before:
            typer.echo(f"{visible(str(change.path))} is as it should be already")
            continue
        typer.echo(f"{visible(str(change.path))}{'' if change.before is not None else ' (new)'}")
        for line in _added(each):
            typer.echo(f"  + {visible(line)}")
        for name in each.lost:
            typer.echo(f"  - {visible(name)}  ({'removed' if name in each.edit.take else 'replaced'})")
        if change.before is not None:
            typer.echo("Everything else in the file stays as it is.")


def _planned(each: PlannedFile) -> dict[str, Any]:
    return {
        "file": str(each.change.path),
        "new": each.change.before is None,
        "changes": each.change.after != each.change.before,
        "put": dict(each.edit.put),
        "lost": list(each.lost),
    }


def _added(each: PlannedFile) -> list[str]:
    """The lines of a file that has nothing but what is added."""
    return apply_edit(b"", each.place, Edit(each.edit.put)).decode().rstrip("\n").split("\n")


def tell_written(which: LockableProgram, planned: Sequence[PlannedFile], kept: Path) -> None:
    """Print what was done, and what is left to do."""
    if all(each.change.after == each.change.before for each in planned):
        typer.echo("Nothing was to be done.", err=True)
        return
    typer.echo(f"Done. Copies are kept in {kept}; undo: {this_program()} lockdown {which.name} --undo", err=True)
    typer.echo(f"Then: {which.after}.", err=True)


def print_undoing(which: LockableProgram, changes: Iterable[FileChange], output: Output) -> None:
    """Print which files are about to be restored."""
    if output is Output.JSON:
        files = [{"file": str(each.path), "removed": each.after is None} for each in changes]
        print_json({"program": which.name, "files": files})
        return
    for each in changes:
        what = "did not exist before, and is removed" if each.after is None else "is restored, byte for byte"
        typer.echo(f"{visible(str(each.path))} {what}.")


def tell_undone(which: LockableProgram) -> None:
    typer.echo(f"Undone. {which.title} is no longer confined by these files; restart it.", err=True)


def print_check(which: LockableProgram | None, ways: Sequence[WayAround], output: Output) -> bool:
    """Print what is deployed and what goes around the guard. Tell whether all is well."""
    well = _is_well(which, ways)
    if output is Output.JSON:
        print_json({"well": well, "programs": [_shown(each) for each in ways]})
        return well
    told = [each for each in ways if which is not None or each.installed or each.problems]
    if told:
        print_table(HEAD, (_row(each) for each in told))
    else:
        typer.echo("No program that mcpguard knows was found here.", err=True)
    blocked = [f"{each.title}: {list_names(each.direct)}" for each in ways if each.locked and each.direct]
    for line in blocked:
        typer.echo(f"Configured and kept out by lockdown: {visible(line)}.", err=True)
    return well


def _is_well(which: LockableProgram | None, ways: Sequence[WayAround]) -> bool:
    if any(each.problems or each.reaches for each in ways):
        return False
    return which is None or not which.reads or all(each.locked for each in ways)


def _shown(each: WayAround) -> dict[str, Any]:
    return {
        "program": each.name,
        "installed": each.installed,
        "only_way": each.locked,
        "direct": list(each.reaches),
        "blocked": list(each.direct) if each.locked else [],
        "problems": list(each.problems),
        "deployed": {
            program.name: {"state": status.state.value, "files": [str(path) for path in status.paths]}
            for program, status in each.deployed
        },
    }


def _row(each: WayAround) -> tuple[str, ...]:
    if not each.deployed:
        word = "cannot be told from here"
    elif each.locked:
        word = "yes"
    else:
        states = {status.state for _, status in each.deployed}
        word = "no: other than it should be" if LockdownState.DIFFERENT in states else "no: nothing is deployed"
    return each.title, word, list_names(each.reaches), "; ".join(each.problems)
