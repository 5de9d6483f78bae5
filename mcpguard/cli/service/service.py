"""`mcpguard service`: installs the guard as a service of this user, and removes it. The system is not told: a person
runs the commands that are printed."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mcpguard.agents.program import Home
from mcpguard.cli.service.guard_service import GuardService, ServiceNotChanged, search_path
from mcpguard.cli.service.service_file import (
    present_text,
    put_text,
    remove_text,
    service_place,
    service_text,
)
from mcpguard.cli.shared.common import Config, DataDir, load_settings, report_errors, this_program, warn
from mcpguard.cli.shared.confirmation import is_confirmed
from mcpguard.cli.shared.guard_client import GuardClient
from mcpguard.cli.shared.stdio_command import this_command
from mcpguard.settings.load import LoadedSettings
from mcpguard.text.visible import visible

app = typer.Typer(help="The guard as a service of this user, which the system starts.", no_args_is_help=True)
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the change, and do nothing.")]
Yes = Annotated[bool, typer.Option("--yes", help="Make the change without asking.")]


@app.command()
def install(dry_run: DryRun = False, yes: Yes = False, config: Config = None, data_dir: DataDir = None) -> None:
    """Write a systemd unit (Linux) or a launch agent (macOS) that runs the guard for this user.

    It shows the file, asks, and says which commands start it; it runs none of them.
    """
    found, home = load_settings(config, data_dir=data_dir), _home()
    with _reported():
        place = service_place(home)
        text, before = service_text(home.platform, _service(found, home)), present_text(place)
        if text == before:
            typer.echo(f"{visible(str(place.path))} is already installed.")
            return
        typer.echo(f"{visible(str(place.path))}{' (new)' if before is None else ' (replaces what mcpguard wrote)'}")
        for line in text.splitlines():
            typer.echo(f"  + {visible(line)}")
        _warn(found)
        if dry_run:
            return
        if not is_confirmed(yes=yes):
            raise typer.Exit(1)
        put_text(place, text, before)
    typer.echo("Written. Nothing was started. Next:", err=True)
    for command, what in place.start.items():
        typer.echo(f"  {visible(command)}  # {what}", err=True)
    typer.echo(f"Undo: {place.stop}, then {this_program()} service uninstall", err=True)


@app.command()
def uninstall(dry_run: DryRun = False, yes: Yes = False) -> None:
    """Remove the file that `mcpguard service install` wrote. The data directory stays."""
    with _reported():
        place = service_place(_home())
        present = present_text(place)
        if present is None:
            raise ServiceNotChanged(f"there is no service: {place.path} does not exist")
        typer.echo(f"{visible(str(place.path))} is removed.")
        if dry_run:
            return
        if not is_confirmed(yes=yes):
            raise typer.Exit(1)
        remove_text(place, present)
    typer.echo(f"Removed. If the guard still runs, stop it: {place.stop}", err=True)


@contextmanager
def _reported() -> Iterator[None]:
    """Print what keeps the file from being changed, in its sentence, and exit with 1."""
    with report_errors():
        try:
            yield
        except OSError as error:
            raise ServiceNotChanged(f"{error.filename}: {error.strerror}; nothing was changed") from None


def _home() -> Home:
    return Home(Path.home(), sys.platform, os.environ)


def _service(found: LoadedSettings, home: Home) -> GuardService:
    """The guard with the settings of here. What a login leaves in the environment is not there when it is started."""
    words = [*this_command(), "serve"]
    if found.config_file is not None:
        words += ["--config", str(found.config_file)]
    words += ["--data-dir", str(found.settings.data_dir)]
    log = home.folder / "Library" / "Logs" / "mcpguard.log"
    return GuardService(tuple(words), search_path(os.environ.get("PATH", os.defpath)), str(log))


def _warn(found: LoadedSettings) -> None:
    """Say what the service will not have, and what keeps it from starting."""
    lost = [name for name, label in found.sources.items() if label.startswith("environment") and name != "data_dir"]
    if lost:
        warn(f"these come from the environment, which the service does not have: {', '.join(sorted(lost))}")
    if GuardClient(found.settings.data_dir).is_running():
        warn("a guard is running with this data directory; stop it before you start the service")
