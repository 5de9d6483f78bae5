"""`mcpguard server add`, `patch`, `pin` and `remove`: change declarations. None of them approves a server."""

import shutil
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mcpguard.cli.servers.server_tables import warn_of_confinement
from mcpguard.cli.shared.common import As, Config, DataDir, Output, load_settings, print_answer, warn
from mcpguard.cli.shared.guard_client import SERVERS, GuardClient, server_path
from mcpguard.cli.shared.options import Mounts, Name, Sandbox, mounts, pairs
from mcpguard.codec.names import is_unambiguous_name, server_name_for
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.launches import Profile
from mcpguard.text.visible import visible
from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.own_uv import HOW, fetch_own_uv, fetched_uv, uv_folder

LARGEST = 1024 * 1024
UV = ("uv", "uvx")


class RemoteType(StrEnum):
    """The transports of servers that are reached by a URL."""

    HTTP = "http"
    SSE = "sse"


def add(  # noqa: PLR0917 - each is an option of the command
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the server.")],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="After --: the command that starts the server, and its arguments."),
    ] = None,
    url: Annotated[str | None, typer.Option(metavar="URL", help="The URL of a server that is already running.")] = None,
    transport: Annotated[
        RemoteType | None,
        typer.Option("--type", help="The transport: sse for a URL that ends in /sse, http for any other."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="K=V", help="An environment variable; ${env:X} and ${file:/path} as values."),
    ] = None,
    header: Annotated[list[str] | None, typer.Option(metavar="K=V", help="A header of every request.")] = None,
    cwd: Annotated[Path | None, typer.Option(metavar="DIR", help="Its working directory.")] = None,
    sandbox: Sandbox = None,
    mount: Mounts = None,
    *,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Add a server. It starts in quarantine: nothing of it runs until a user says so."""
    if bool(command) == (url is not None):
        raise typer.BadParameter("give either --url URL or -- COMMAND ARG…")
    declared: dict[str, object]
    if command:
        _needless("--header", header)
        _needless("--type", transport)
        declared = {"command": command[0], "args": command[1:], "env": pairs(env or (), "--env")}
        declared |= {"cwd": str(cwd.resolve())} if cwd else {}
        declared |= _confined(sandbox, mount)
    else:
        for option, given in (("--env", env), ("--cwd", cwd), ("--sandbox", sandbox), ("--mount", mount)):
            _needless(option, given)
        declared = {"url": url, "headers": pairs(header or (), "--header")}
        declared |= {"type": transport.value} if transport else {}
    if instead := _instead_of(name):
        typer.echo(f"{visible(name)} is not allowed as a name; {instead} is.", err=True)
    settings = load_settings(config, data_dir=data_dir).settings
    server = GuardClient(settings.data_dir).send("POST", SERVERS, {"name": name, "config": declared})
    print_answer(output, server, f"{server['name']} was added, and is {server['standing']}")
    _tell(server["notices"])
    warn_of_confinement(server)
    if command and Path(command[0]).name in UV and not (shutil.which("uv") or fetched_uv(settings.data_dir)):
        warn(f"uv, which installs {server['name']}, is not on this host: install it, or have one fetched ({HOW})")
    if server["standing"] == "quarantined":
        typer.echo(f"List what it offers: mcpguard server inspect {server['name']}", err=True)


def patch(
    name: Name,
    change: Annotated[
        str,
        typer.Argument(metavar="[JSON|@FILE]", help="The change to its entry; null removes a key."),
    ] = "{}",
    sandbox: Sandbox = None,
    mount: Mounts = None,
    revision: Annotated[
        int | None, typer.Option(metavar="N", help="The revision that the change is for; default: the current one.")
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Change the declaration of a server. If that changes what runs, the server goes back into quarantine."""
    wanted, guard = _changes(change) | _confined(sandbox, mount), GuardClient.from_options(config, data_dir)
    if not wanted:
        raise typer.BadParameter("give a change: JSON, @FILE, --sandbox or --mount")
    if revision is None:
        revision = _revision(guard, name)
    server = guard.send("PATCH", server_path(name), {"revision": revision, "patch": wanted})
    print_answer(output, server, f"{name} now has revision {server['revision']}, and is {server['standing']}")
    _tell(server["notices"])
    warn_of_confinement(server)


def pin(
    name: Name,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Pin a server to the version of its package that was inspected. It goes back into quarantine."""
    guard = GuardClient.from_options(config, data_dir)
    revision = _revision(guard, name)
    server = guard.send("POST", server_path(name, "pin"), {"revision": revision})
    now = " ".join(map(visible, server["launch"]["arguments"]))
    print_answer(output, server, f"{name} now runs {visible(server['launch']['command'])} {now}")
    typer.echo(f"It is {server['standing']}. Inspect it: mcpguard server inspect {name}", err=True)


def remove(
    name: Name,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Remove a server. Decisions about it are kept."""
    guard = GuardClient.from_options(config, data_dir)
    revision = _revision(guard, name)
    guard.send("DELETE", server_path(name, revision=str(revision)))
    print_answer(output, {"name": name, "removed": True}, f"{name} is removed")


def fetch_uv(config: Config = None, data_dir: DataDir = None) -> None:
    """Fetch uv, which installs what uvx runs, from PyPI into a folder of the guard's own. No guard needs to run."""
    place = uv_folder(load_settings(config, data_dir=data_dir).settings.data_dir)
    typer.echo(f"Fetching uv into {place} …", err=True)
    try:
        program = fetch_own_uv(place)
    except NotInstalled as error:
        typer.echo(f"mcpguard: {visible(str(error))}", err=True)
        raise typer.Exit(1) from None
    typer.echo(f"The guard installs with {program} what uvx runs, if the host has no uv of its own.")


COMMANDS = (add, patch, pin, remove, fetch_uv)


def _revision(guard: GuardClient, name: str) -> int:
    return int(guard.get(server_path(name))["revision"])


def _tell(notices: list[str]) -> None:
    for notice in notices:
        typer.echo(f"notice: {visible(notice)}", err=True)


def _confined(sandbox: Profile | None, mount: list[str] | None) -> dict[str, object]:
    """The members of an entry about the sandbox. The named mounts are all that the server sees."""
    said: dict[str, object] = {} if sandbox is None else {"sandbox": sandbox.value}
    return said if mount is None else said | {"mounts": mounts(mount)}


def _needless(option: str, given: object) -> None:
    if given:
        raise typer.BadParameter("does not apply to a server of this transport", param_hint=option)


def _changes(change: str) -> dict[str, object]:
    """Parse the change. No error repeats it: it may hold a secret."""
    try:
        text = Path(change[1:]).read_bytes() if change.startswith("@") else change.encode(errors="surrogateescape")
        wanted = parse(text, max_bytes=LARGEST)
    except OSError as error:
        raise typer.BadParameter(f"the file cannot be read: {error.strerror}", param_hint="JSON|@FILE") from None
    except StrictError as error:
        raise typer.BadParameter(f"this is not strict JSON: {error.message}", param_hint="JSON|@FILE") from None
    if not isinstance(wanted, dict):
        raise typer.BadParameter("must be an object, as in mcpServers", param_hint="JSON|@FILE")
    return wanted


def _instead_of(name: str) -> str:
    """The nearest valid name for one that is not; empty if it is valid, or there is none."""
    if is_unambiguous_name(name):
        return ""
    try:
        return server_name_for(name)
    except InvalidName:
        return ""
