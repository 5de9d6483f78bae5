"""`mcpguard lockdown`: makes what an administrator deploys so that the guard is the only way to MCP servers.

Rules kept here:
1. Without --write and --undo nothing is changed; both show what they do, file by file, and do all of it or nothing.
2. Files of another system than this are only made below another root folder: nothing here can tell whether they work.
"""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from mcpguard.agents.guard_entry import program_status
from mcpguard.agents.lockdown.deployment import LockableProgram, LockdownWish, SystemFile, TargetSystem
from mcpguard.agents.lockdown.guard_address import NotExact, exact_address, exact_command, is_on_this_host
from mcpguard.agents.lockdown.lockable import BY_NAME, LOCKABLE
from mcpguard.agents.lockdown.system_files import plan_files, plan_files_undo, undo_files, write_files
from mcpguard.agents.lockdown.ways_around import (
    TOKEN,
    LockdownPlace,
    token_headers,
    ways_around,
    with_and_without_token,
)
from mcpguard.agents.program import Reach
from mcpguard.agents.programs import PROGRAMS
from mcpguard.app.places import agent_backups
from mcpguard.cli.agents.config_homes import HomeFolder, Project, home_of
from mcpguard.cli.agents.connect_dialogue import run_or_exit
from mcpguard.cli.lockdown.lockdown_report import (
    print_check,
    print_deployment,
    print_undoing,
    print_writing,
    tell_undone,
    tell_written,
)
from mcpguard.cli.shared.common import As, Config, DataDir, Output, load_settings
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.cli.shared.known_servers import guarded_by
from mcpguard.cli.shared.stdio_command import stdio_command
from mcpguard.settings.entries.entry import shown_name
from mcpguard.settings.entries.references import VARIABLE
from mcpguard.settings.load import LoadedSettings

_NAMES: Final = ", ".join(BY_NAME)
_HERE: Final = TargetSystem.MACOS if sys.platform == "darwin" else TargetSystem.LINUX

Which = Annotated[str | None, typer.Argument(metavar="PROGRAM", help=f"One of {_NAMES}; all with --check.")]
Url = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="The guard's address; default: that of the guard that runs.")
]
Stdio = Annotated[bool, typer.Option("--stdio", help="Admit the command that connect writes in place of an address.")]
Variable = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"The environment variable with each person's token; default: {TOKEN}, and none on this host.",
    ),
]
Registry = Annotated[str | None, typer.Option(metavar="URL", help="An MCP registry, to which VS Code is confined too.")]
Print = Annotated[bool, typer.Option("--print", help="Only show what would be deployed: the default.")]
Write = Annotated[bool, typer.Option("--write", help="Write it into the files of the system, and keep copies.")]
Undo = Annotated[bool, typer.Option("--undo", help="Restore the files as they were before the last --write.")]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="Tell what is deployed, and what still reaches servers directly; exit code 1 if anything does."
    ),
]
System = Annotated[
    TargetSystem | None, typer.Option("--system", help="The system whose files are made; default: this one.")
]
Root = Annotated[
    Path, typer.Option("--root", metavar="DIR", help="The folder that stands for the root of the file system.")
]


def lockdown(
    program: Which = None,
    url: Url = None,
    stdio: Stdio = False,
    token_variable: Variable = None,
    registry: Registry = None,
    *,
    print_: Print = False,
    write: Write = False,
    undo: Undo = False,
    check: Check = False,
    system: System = None,
    root: Root = Path("/"),
    project: Project = Path(),
    home: HomeFolder = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Make what an administrator deploys so that the guard is the only way to MCP servers for a program.

    It shows the files, and writes them with --write. Nothing that it writes holds a token: files of the system can be
    read by everybody.
    """
    if print_ + write + undo + check > 1:
        raise typer.BadParameter("take one of --print, --write, --undo and --check")
    target = system or _HERE
    if (write or undo or check) and target is not _HERE and root == Path("/"):
        raise typer.BadParameter("is another system than this: name a folder with --root", param_hint="--system")
    which = _named(program, check=check)
    found, at = load_settings(config, data_dir=data_dir), root.absolute()
    if undo and which is not None:
        _undo(which, target, at, found, output)
        return
    wish = _wish(_reach(url, token_variable, config, found, stdio=stdio), registry)
    if which is None or check:
        wishes = with_and_without_token(wish) if token_variable is None else (wish,)
        _check(which, LockdownPlace(wishes, target, at), home, project, found, output)
    elif write:
        _write(which, wish, target, at, found, output)
    else:
        print_deployment(which, wish, target, output)


def _named(name: str | None, *, check: bool) -> LockableProgram | None:
    if name is None and check:
        return None
    if name not in BY_NAME:
        what = "name a program" if name is None else f"{shown_name(name)} is not known"
        raise typer.BadParameter(f"{what}; choose from {_NAMES}", param_hint="PROGRAM")
    return BY_NAME[name]


def _wish(way: Reach, registry: str | None) -> LockdownWish:
    if registry is None:
        return LockdownWish(way)
    return LockdownWish(way, _exact(registry, "--registry"))


def _reach(url: str | None, variable: str | None, config: Path | None, found: LoadedSettings, *, stdio: bool) -> Reach:
    """The exact way to the guard. Exits with 2 where there is none."""
    if stdio:
        if url is not None or variable is not None:
            raise typer.BadParameter("a command has no address and no header with a token", param_hint="--stdio")
        try:
            return Reach(exact_command(stdio_command(config, found.settings.data_dir)))
        except NotExact as error:
            raise typer.BadParameter(str(error), param_hint="--stdio") from None
    if url is None:
        status = GuardClient(found.settings.data_dir).get_or_none(f"{API}/status")
        if status is None:
            raise typer.BadParameter("is needed, because no guard runs here", param_hint="--url")
        url = f"{status['console']}/mcp"
    exact = _exact(url, "--url")
    if variable is None:
        variable = "" if is_on_this_host(exact) else TOKEN
    elif not VARIABLE.fullmatch(variable):
        raise typer.BadParameter("must be the name of an environment variable", param_hint="--token-variable")
    return Reach(url=exact, headers=token_headers(variable))


def _exact(url: str, option: str) -> str:
    try:
        return exact_address(url)
    except NotExact as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _write(
    which: LockableProgram, wish: LockdownWish, system: TargetSystem, root: Path, found: LoadedSettings, output: Output
) -> None:
    kept = agent_backups(found.settings)
    planned = run_or_exit(lambda: plan_files(_files(which, wish, system), root))
    print_writing(which, planned, output)
    run_or_exit(lambda: write_files(planned, kept))
    tell_written(which, planned, kept)


def _undo(which: LockableProgram, system: TargetSystem, root: Path, found: LoadedSettings, output: Output) -> None:
    kept = agent_backups(found.settings)
    files = _files(which, LockdownWish(Reach(url="https://any/mcp")), system)  # of which only the paths count
    changes = run_or_exit(lambda: plan_files_undo(files, root, kept))
    print_undoing(which, changes, output)
    run_or_exit(lambda: undo_files(changes, kept))
    tell_undone(which)


def _files(which: LockableProgram, wish: LockdownWish, system: TargetSystem) -> tuple[SystemFile, ...]:
    files = which.files(wish, system)
    if not files:
        raise typer.BadParameter(
            f"{which.title} has no file on this system; --print shows what to enter elsewhere", param_hint="PROGRAM"
        )
    return files


def _check(
    which: LockableProgram | None,
    place: LockdownPlace,
    home: Path | None,
    project: Path,
    found: LoadedSettings,
    output: Output,
) -> None:
    guard = GuardClient(found.settings.data_dir)
    guarded = guarded_by(found.settings, guard if guard.is_running() else None)
    wanted = PROGRAMS if which is None else tuple(each for each in PROGRAMS if each.name in (*which.reads, which.name))
    standings = [program_status(each, home_of(home), project.resolve(), guarded) for each in wanted]
    if not print_check(which, [*ways_around(standings, place, LOCKABLE if which is None else (which,))], output):
        raise typer.Exit(1)
