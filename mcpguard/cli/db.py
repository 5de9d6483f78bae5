"""`mcpguard db`: upgrades and backs up the guard's database."""

from pathlib import Path
from typing import Annotated

import typer

from mcpguard.app import places
from mcpguard.cli.shared.common import Config, DataDir, load_settings, report_errors
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine import sqlite
from mcpguard.store.engine.schema import upgrade as upgrade_schema
from mcpguard.store.files import datadir

app = typer.Typer(help="Upgrade and back up the database.", no_args_is_help=True)


@app.command()
def upgrade(config: Config = None, data_dir: DataDir = None) -> None:
    """Upgrade the database to the schema of this version. `serve` does the same when it starts."""
    settings = load_settings(config, data_dir=data_dir).settings
    with report_errors():
        datadir.prepare(settings.data_dir)
        with datadir.lock_folder(settings.data_dir, "db upgrade"):
            backend = places.backend(settings)
            try:
                done = upgrade_schema(backend)
            finally:
                backend.dispose()
    if done.before == done.after:
        typer.echo(f"{backend.name} already has schema {done.after}")
    else:
        typer.echo(f"{backend.name} upgraded from {done.before or 'nothing'} to schema {done.after}")
    if done.backup:
        typer.echo(f"the previous database was copied to {done.backup}")


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The file to write; it must not exist.")],
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Copy the SQLite database into a file, also while the guard runs."""
    settings = load_settings(config, data_dir=data_dir).settings
    with report_errors():
        place = places.database(settings)
        if not isinstance(place, Path):
            raise StoreUnavailable("the database is on a PostgreSQL server; back it up with pg_dump")
        sqlite.copy(place, target)
    typer.echo(f"copied to {target}; verify it with: mcpguard audit verify {target}")
