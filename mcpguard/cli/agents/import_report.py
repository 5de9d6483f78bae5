"""What `mcpguard import` tells: of the entries that were found, and of what came of those that were chosen."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

import typer

from mcpguard.agents.candidates import Candidate, CandidateWay
from mcpguard.agents.reading import Contents
from mcpguard.cli.shared.common import Output, print_json, print_table, this_program
from mcpguard.domain.servers.launches import Profile
from mcpguard.settings.entries.entry import enumerated
from mcpguard.text.visible import visible

HEAD: Final = ("of", "scope", "name", "how it is reached", "what becomes of it")
ADDED: Final = "added"
WOULD: Final = "would be added"
REFUSED: Final = "refused"


def result(each: Candidate, came: str, why: str = "", **more: object) -> dict[str, Any]:
    """What came of one. Whatever was wanted: one that is not new is not added."""
    if each.way is not CandidateWay.NEW:
        came = each.way.value if each.way in (CandidateWay.HERE, CandidateWay.AGAIN) else REFUSED
    taken = each.confided if came != REFUSED else None
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
    place, taken = each.item.place, each.confided
    return {
        "program": each.item.program.name,
        "file": str(place.path),
        "scope": each.item.scope,
        "label": each.item.label,
        "name": each.name,
        "becomes": each.way.value,
        "why": each.why,
        "reached": each.reached,
        "secrets": [path.name for path in taken.files] if taken else [],
        "to_write": [str(path) for path in taken.asked] if taken else [],
        "variables": [*taken.variables] if taken else [],
        "folders": [*each.folders],
        "sandbox": each.profile.value if each.profile else None,
        "notices": [*each.notices],
    }


def listed(found: list[Candidate], output: Output, *, runs: bool) -> None:
    """All that were found. `runs`: a guard does, so it is known which it has."""
    if output is Output.JSON:
        print_json([_shown(each) for each in found])
        return
    if not found:
        typer.echo("No server is declared in any file of these programs. See where they are: --help", err=True)
        return
    print_table(HEAD, _rows(found))
    new = [each for each in found if each.way is CandidateWay.NEW]
    if not runs:
        typer.echo(f"No guard runs, so it is not known what it has already. Start it: {this_program()} serve", err=True)
    elif new and not sys.stdin.isatty():
        typer.echo(f"Import them: {this_program()} import --all, or --server NAME", err=True)
    elif not new:
        typer.echo("Nothing of this is new.", err=True)
    if offline := [each.name for each in new if each.profile is Profile.STRICT]:
        typer.echo(_without_network(visible(enumerated(offline))), err=True)


def _rows(found: Iterable[Candidate]) -> Iterator[tuple[str, ...]]:
    for each in found:
        more = filter(None, (each.why, _secrets(each)))
        becomes = ": ".join((each.way.value, "; ".join(more))).removesuffix(": ")
        yield each.item.program.title, each.item.scope, each.name, each.reached, becomes


def _secrets(each: Candidate) -> str:
    count = len(each.confided.files) if each.confided and each.way is CandidateWay.NEW else 0
    return f"{count} secret{'s' if count > 1 else ''} to be kept in a file" if count else ""


def tell_of_files(files: Iterable[Contents]) -> None:
    """Of those that could not be read."""
    for each in files:
        if each.problem:
            typer.echo(f"mcpguard: {visible(str(each.place.path))} {visible(each.problem)}", err=True)


def report(results: list[dict[str, Any]], output: Output) -> None:
    """What came of those that were chosen, and what is left for a person to do."""
    if output is Output.JSON:
        print_json(results)
    elif not results:
        typer.echo("Nothing of this is new.", err=True)
    else:
        print_table(("name", "result", "why"), ((each["name"], each["result"], each["why"]) for each in results))
    for each in results:
        _tell(each)
    offline = [
        each["name"] for each in results if each["result"] in (ADDED, WOULD) and each["sandbox"] == Profile.STRICT
    ]
    if offline:
        typer.echo(_without_network(visible(enumerated(offline))), err=True)
    if any(each["result"] == ADDED for each in results):
        program = this_program()
        typer.echo(
            f"No agent can use them before a person approves them: in the console, or {program} server inspect NAME.\n"
            f"The programs still reach them directly until they are connected with the guard: {program} connect",
            err=True,
        )


def _without_network(names: str) -> str:
    program = this_program()
    return (
        f"WITHOUT NETWORK, as every server that is started here unless somebody says otherwise: {names}\n"
        f"One that needs it: {program} server approve NAME --sandbox contained, when you have reviewed it; or for all "
        f"that are imported at once: {program} import --sandbox contained …"
    )


def _tell(result: dict[str, Any]) -> None:
    """What somebody has to do, or to know, about one."""
    name = result["name"]
    for notice in result["notices"]:
        typer.echo(f"notice: {visible(notice)}", err=True)
    for path in result["secrets"]:
        typer.echo(
            f"{name}: a secret is in {visible(path)} (mode 600) now, and still in the program's own file", err=True
        )
    for path in result["to_write"]:
        typer.echo(f"{name}: write what the program would ask for into {visible(path)} (mode 600)", err=True)
    if result["folders"] and result["result"] in (ADDED, WOULD):
        seen = visible(enumerated(result["folders"]))
        typer.echo(f"{name}: of this machine it gets to see {seen} (mcpguard server patch {name} --mount)", err=True)
    if result["variables"]:
        typer.echo(f"{name}: the guard needs {enumerated(result['variables'])} in its own environment", err=True)
