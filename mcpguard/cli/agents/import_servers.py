"""`mcpguard import`: finds the servers that local agents reach directly, and adds them in quarantine.

Rules kept here:
1. Without a choice, nothing is changed. Chosen servers are declared, and nothing of them runs before a user consents.
2. A secret is copied from the program's file into a file of the guard and nowhere else: not to a terminal, a command
   line, or a database. A file written for an entry that the guard then refuses is removed again.
3. Each entry has its own result; a failure of one does not stop the others.
"""

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mcpguard.agents.candidates import Candidate, CandidateWay, GuardedServers, candidate, candidates
from mcpguard.agents.config_files import read_files
from mcpguard.cli.agents.config_homes import HomeFolder, Programs, Project, chosen_programs, home_of
from mcpguard.cli.agents.import_report import (
    ADDED,
    REFUSED,
    WOULD,
    import_result,
    print_candidates,
    print_results,
    tell_of_files,
)
from mcpguard.cli.servers.secret_files import NotKept, keep_secrets, remove_secrets
from mcpguard.cli.shared.common import As, Config, DataDir, Output, load_settings
from mcpguard.cli.shared.guard_client import SERVERS, GuardClient, GuardProblem
from mcpguard.cli.shared.known_servers import guarded_by
from mcpguard.cli.shared.options import Confining
from mcpguard.codec.names import is_unambiguous_name
from mcpguard.domain.servers.launches import Profile, StdioLaunch
from mcpguard.settings.entries.entry import list_names, shown_name
from mcpguard.text.visible import visible

Confined = Annotated[
    Confining | None,
    typer.Option(
        metavar="PROFILE", help="The sandbox of local servers: strict, without network (the default), or contained."
    ),
]
Chosen = Annotated[list[str] | None, typer.Option("--server", metavar="NAME", help="Import this one; may be repeated.")]


def importing(
    programs: Programs = None,
    server: Chosen = None,
    every: Annotated[bool, typer.Option("--all", help="Import all that are new.")] = False,
    *,
    sandbox: Confined = None,
    called: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Another name for the server of --server.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    project: Project = Path(),
    home: HomeFolder = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Find the servers that agents on this host reach directly, and add the chosen ones, in quarantine.

    Without a choice they are only listed. Their secrets are copied into files that only the guard's account can read.
    """
    if called is not None and (every or len(server or ()) != 1):
        raise typer.BadParameter("needs exactly one --server", param_hint="--as")
    if called is not None and not is_unambiguous_name(called):
        raise typer.BadParameter("a server's name is 1 to 63 of a to z, 0 to 9, - and _, without __", param_hint="--as")
    settings = load_settings(config, data_dir=data_dir).settings
    guard = GuardClient(settings.data_dir)
    runs = guard.is_running()
    guarded = guarded_by(settings, guard if runs or ((server or every) and not dry_run) else None)
    files = [
        each for program in chosen_programs(programs) for each in read_files(program, home_of(home), project.resolve())
    ]
    items = [item for each in files for item in each.items]
    found = candidates(items, guarded)
    new = [each for each in found if each.way is CandidateWay.NEW]
    tell_of_files(files)
    if server:
        chosen = _named(server, found, guarded, called)
    elif every:
        chosen = new
    else:
        print_candidates(found, output, runs=runs)
        chosen = _asked(new) if runs and output is Output.TABLE and not dry_run else []
        if not chosen:
            return
    confined = [_confined(each, sandbox) for each in chosen]
    results = [import_result(each, WOULD) if dry_run else _imported(guard, each) for each in confined]
    print_results(results, output)
    raise typer.Exit(1 if any(each["result"] == REFUSED for each in results) else 0)


def _named(
    names: Iterable[str], found: list[Candidate], guarded: GuardedServers, called: str | None
) -> list[Candidate]:
    """The entries with these names; of several, the first that is not a duplicate."""
    chosen = []
    for name in names:
        alike = [each for each in found if name in (each.name, each.item.label) and each.way is not CandidateWay.AGAIN]
        if not alike:
            raise typer.BadParameter(_no_such(name, found), param_hint="--server")
        whose = dict.fromkeys(each.item.program.name for each in alike)
        if len(whose) > 1:
            sentence = f"{visible(name)} is declared differently for {list_names(whose)}; name one of these too"
            raise typer.BadParameter(sentence, param_hint="--server")
        chosen.append(alike[0] if called is None else _renamed(alike, guarded, called))
    return chosen


def _renamed(alike: list[Candidate], guarded: GuardedServers, called: str) -> Candidate:
    """Of the entries with one name, the one whose name is taken, under its new name."""
    which = next((each for each in alike if each.way is CandidateWay.TAKEN), alike[0])
    return candidate(which.item, guarded, called)


def _no_such(name: str, found: list[Candidate]) -> str:
    there = list_names(dict.fromkeys(each.name for each in found))
    return (
        f"no file declares {shown_name(name)}; there are {there}" if found else f"no file declares {shown_name(name)}"
    )


def _asked(new: list[Candidate]) -> list[Candidate]:
    """The new entries that a person at a terminal chooses."""
    if not new or not sys.stdin.isatty():
        return []
    said: str = typer.prompt("Which to import? Names, or all; empty for none", default="", show_default=False)
    words = said.replace(",", " ").split()
    by_name = {each.name: each for each in new}
    if unknown := [word for word in words if word not in (*by_name, "all")]:
        raise typer.BadParameter(f"{list_names(map(shown_name, unknown))} is not among the new ones")
    return new if "all" in words else [by_name[word] for word in words]


def _confined(each: Candidate, sandbox: Confining | None) -> Candidate:
    """The entry with the sandbox of the option, if it is a local server."""
    if sandbox is None or each.secret_free is None or not isinstance(each.launch, StdioLaunch):
        return each
    confided = replace(each.secret_free, members={**each.secret_free.members, "sandbox": sandbox.value})
    return replace(each, secret_free=confided, launch=replace(each.launch, profile=Profile(sandbox)))


def _imported(guard: GuardClient, each: Candidate) -> dict[str, Any]:
    """Add one entry to the guard, and return the result."""
    if each.way is not CandidateWay.NEW or each.secret_free is None:
        return import_result(each, REFUSED)
    try:
        made = keep_secrets(each.secret_free.files)
    except NotKept as error:
        return import_result(each, REFUSED, str(error))
    try:
        body = {"name": each.name, "config": dict(each.secret_free.members), "imported": True}
        added = guard.request("POST", SERVERS, body)
    except GuardProblem as problem:
        remove_secrets(made)
        return import_result(each, REFUSED, "; ".join(problem.sentences))
    return import_result(each, ADDED, standing=added["standing"], notices=added["notices"])
