"""`mcpguard config`: prints the settings, checks them, and confirms those that need it.

Nothing here starts or changes anything, except `confirm`, which sends a request to the running guard.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from mcpguard.cli.shared.common import As, Config, DataDir, Output, load_settings, print_json, print_table
from mcpguard.cli.shared.guard_client import GuardClient
from mcpguard.domain.json import SettingValue
from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch, StdioLaunch
from mcpguard.settings.document import json_schema
from mcpguard.settings.entries.servers import DeclaredServers
from mcpguard.settings.fields import public_values
from mcpguard.settings.load import LoadedSettings
from mcpguard.text.visible import visible

app = typer.Typer(help="Show, check and confirm the settings.", no_args_is_help=True)
_SETTINGS = "/api/v1/settings"
_SERVER = ("server", "transport", "command or URL", "environment or headers")


@app.command()
def show(
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Print every setting with its value and its source, and every server. Of secrets, only whether they are set."""
    found = load_settings(config, data_dir=data_dir)
    waiting = GuardClient(found.settings.data_dir).get_or_none(f"{_SETTINGS}/unconfirmed") or []
    match output:
        case Output.JSON:
            print_json(_report(found) | {"unconfirmed": waiting})
        case Output.TABLE:
            print_table(("key", "value", "source"), _rows(found))
            if found.servers.servers:
                typer.echo()
                print_table(_SERVER, map(_server_row, found.servers.servers))
    _tell(found.servers)
    for each in waiting:
        sentence = f"{each['key']} needs confirmation; the current value is: {_shown(each['in_force'])}"
        typer.echo(f"notice: {visible(sentence)}", err=True)


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="A configuration file; default: the one the guard reads.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Check the configuration file and the environment, as the guard reads them when it starts. Print every problem."""
    found = load_settings(file, data_dir=data_dir)
    _tell(found.servers)
    if found.servers.problems:
        raise typer.Exit(1)
    typer.echo("ok")


@app.command()
def confirm(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Confirm the settings that need confirmation, and print them. They take effect when the guard is restarted."""
    guard = GuardClient.from_options(config, data_dir)
    waiting = guard.get(f"{_SETTINGS}/unconfirmed")
    if output is Output.JSON:
        print_json(waiting)
    elif waiting:
        print_table(("key", "current", "confirmed"), map(_waiting_row, waiting))
    if not waiting:
        typer.echo("nothing needs confirmation", err=True)
        return
    guard.send("POST", f"{_SETTINGS}/confirm", {"values": {each["key"]: each["found"] for each in waiting}})
    typer.echo("confirmed; restart the guard for it to take effect", err=True)


@app.command()
def schema() -> None:
    """Print the JSON Schema of the configuration file's `mcpguard` object."""
    print_json(json_schema())


def _report(found: LoadedSettings) -> dict[str, object]:
    settings = [
        {"key": key, "value": value, "source": found.sources[key]}
        for key, value in public_values(found.settings).items()
    ]
    file = None if found.config_file is None else str(found.config_file)
    servers = [_server(each) for each in found.servers.servers]
    return {"version": found.settings.version, "config_file": file, "settings": settings, "servers": servers}


def _rows(found: LoadedSettings) -> Iterator[tuple[str, ...]]:
    for key, value in public_values(found.settings).items():
        yield key, _shown(value), found.sources[key]


def _waiting_row(waiting: dict[str, Any]) -> tuple[str, ...]:
    return waiting["key"], _shown(waiting["in_force"]), _shown(waiting["found"])


def _shown(value: SettingValue) -> str:
    if value is None:
        return "not set"
    return ", ".join(value) or "none" if isinstance(value, list) else str(value)


def _tell(servers: DeclaredServers) -> None:
    for problem in servers.problems:
        typer.echo(problem, err=True)
    for notice in servers.notices:
        typer.echo(f"notice: {notice}", err=True)


def _server(server: DeclaredServer) -> dict[str, object]:
    """A declared server as JSON, without values of environment, headers, arguments and query: they may be secrets."""
    common = {"name": server.name, "label": server.label, "enabled": server.enabled, "era": server.era}
    how: dict[str, object]
    match server.launch:
        case StdioLaunch() as stdio:
            how = {"command": stdio.command, "arguments": len(stdio.arguments), "environment": list(stdio.environment)}
            how |= {"folder": stdio.folder, "framing": stdio.framing, "sandbox": stdio.profile}
            how |= {"mounts": [str(mount) for mount in stdio.mounts]}
        case RemoteLaunch(_, url, headers):
            how = {"url": _without_query(url), "headers": list(headers)}
    return common | {"timeout": server.timeout, "transport": server.launch.transport} | how


def _server_row(server: DeclaredServer) -> tuple[str, ...]:
    match server.launch:
        case StdioLaunch(command, arguments, names):
            reached = f"{command} ({len(arguments)} arguments)" if arguments else command
        case RemoteLaunch(_, url, names):
            reached = _without_query(url)
    state = "" if server.enabled else " (disabled)"
    return server.name + state, server.launch.transport, reached, ", ".join(names) or "none"


def _without_query(url: str) -> str:
    path, mark, _query = url.partition("?")
    return f"{path}{mark}…" if mark else path
