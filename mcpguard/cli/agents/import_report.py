"""The output of `mcpguard import`: the entries found, and the results for those that were chosen."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

import typer

from mcpguard.agents.candidates import Candidate, CandidateWay
from mcpguard.agents.config_files import Contents
from mcpguard.cli.shared.common import Output, print_json, print_table, this_program
from mcpguard.domain.servers.launches import Profile
from mcpguard.settings.entries.entry import list_names
from mcpguard.text.visible import visible

HEAD: Final = ("program", "scope", "name", "command or URL", "result")
ADDED: Final = "added"
WOULD: Final = "would be added"
REFUSED: Final = "refused"


def import_result(each: Candidate, came: str, why: str = "", **more: object) -> dict[str, Any]:
    """The result of one entry. One that is not new is never added."""
    if each.way is not CandidateWay.NEW:
        came = each.way.value if each.way in (CandidateWay.HERE, CandidateWay.AGAIN) else REFUSED
    taken = each.secret_free if came != REFUSED else None
    return {
        "name": each.name,
        "result": came,
        "why": why or each.why,
        "secrets": [str(path) for path in taken.files] if taken else [],
        "to_write": [str(path) for path in taken.asked] if taken else [],
        "variables": [*taken.variables] if taken else [],
        "folders": [*each.folders],
        "sandbox": each.profile.value if each.profile else None,
        "notices": [*each.notices],
        **more,
    }


def _shown(each: Candidate) -> dict[str, Any]:
    place, taken = each.item.place, each.secret_free
    return {
        "program": each.item.program.name,
        "file": str(place.path),
        "scope": each.item.scope,
        "label": each.item.label,
        "name": each.name,
        "becomes": each.way.value,
        "why": each.why,
        "reached": each.target,
        "secrets": [path.name for path in taken.files] if taken else [],
        "to_write": [str(path) for path in taken.asked] if taken else [],
        "variables": [*taken.variables] if taken else [],
        "folders": [*each.folders],
        "sandbox": each.profile.value if each.profile else None,
        "notices": [*each.notices],
    }


def print_candidates(found: list[Candidate], output: Output, *, runs: bool) -> None:
    """Print all entries that were found. `runs`: whether a guard is running, so that it is known which it has."""
    if output is Output.JSON:
        print_json([_shown(each) for each in found])
        return
    if not found:
        typer.echo("No server is declared in the files of these programs. See where they are: --help", err=True)
        return
    print_table(HEAD, _rows(found))
    new = [each for each in found if each.way is CandidateWay.NEW]
    if not runs:
        typer.echo(
            f"No guard is running, so it is not known what it already has. Start it: {this_program()} serve", err=True
        )
    elif new and not sys.stdin.isatty():
        typer.echo(f"Import them: {this_program()} import --all, or --server NAME", err=True)
    elif not new:
        typer.echo("Nothing new to import.", err=True)
    if offline := [each.name for each in new if each.profile is Profile.STRICT]:
        typer.echo(_without_network(visible(list_names(offline))), err=True)


def _rows(found: Iterable[Candidate]) -> Iterator[tuple[str, ...]]:
    for each in found:
        more = filter(None, (each.why, _secrets(each)))
        becomes = ": ".join((each.way.value, "; ".join(more))).removesuffix(": ")
        yield each.item.program.title, each.item.scope, each.name, each.target, becomes


def _secrets(each: Candidate) -> str:
    count = len(each.secret_free.files) if each.secret_free and each.way is CandidateWay.NEW else 0
    return f"{count} secret{'s' if count > 1 else ''} to be stored in a file" if count else ""


def tell_of_files(files: Iterable[Contents]) -> None:
    """Print which files could not be read."""
    for each in files:
        if each.problem:
            typer.echo(f"mcpguard: {visible(str(each.place.path))} {visible(each.problem)}", err=True)


def print_results(results: list[dict[str, Any]], output: Output) -> None:
    """Print the results of the chosen entries, and what is left for a person to do."""
    if output is Output.JSON:
        print_json(results)
    elif not results:
        typer.echo("Nothing new to import.", err=True)
    else:
        print_table(("name", "result", "why"), ((each["name"], each["result"], each["why"]) for each in results))
    for each in results:
        _tell(each)
    offline = [
        each["name"] for each in results if each["result"] in (ADDED, WOULD) and each["sandbox"] == Profile.STRICT
    ]
    if offline:
        typer.echo(_without_network(visible(list_names(offline))), err=True)
    if any(each["result"] == ADDED for each in results):
        program = this_program()
        typer.echo(
            f"No agent can use them until they are approved: in the console, or {program} server inspect NAME.\n"
            f"Until the programs are connected with the guard, they still bypass it: {program} connect",
            err=True,
        )


def _without_network(names: str) -> str:
    program = this_program()
    return (
        f"WITHOUT NETWORK, the default for every server that is started here: {names}\n"
        f"If one needs it: {program} server approve NAME --sandbox contained, after your review; or for all "
        f"imports at once: {program} import --sandbox contained …"
    )


def _tell(result: dict[str, Any]) -> None:
    """Print what a person has to do, or to know, about one result."""
    name = result["name"]
    for notice in result["notices"]:
        typer.echo(f"notice: {visible(notice)}", err=True)
    for path in result["secrets"]:
        typer.echo(
            f"{name}: a secret was copied to {visible(path)} (mode 600), and is still in the program's own file",
            err=True,
        )
    for path in result["to_write"]:
        typer.echo(f"{name}: the program would ask for a value: write it into {visible(path)} (mode 600)", err=True)
    if result["folders"] and result["result"] in (ADDED, WOULD):
        seen = visible(list_names(result["folders"]))
        typer.echo(
            f"{name}: it sees these folders of the host: {seen} (mcpguard server patch {name} --mount)", err=True
        )
    if result["variables"]:
        typer.echo(f"{name}: the guard needs {list_names(result['variables'])} in its environment", err=True)
