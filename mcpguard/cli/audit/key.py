"""`mcpguard audit key`: prints the key that signs the audit log, or rotates it."""

from typing import Final

import typer

from mcpguard.app import places
from mcpguard.cli.shared.common import As, Config, DataDir, Output, load_settings, print_json, report_errors
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.cli.shared.options import Reason
from mcpguard.ledger import keys

app = typer.Typer(help="Print the key that signs the audit log, or rotate it.")
ROTATE: Final = f"{API}/signing-key/rotate"
NOT_RUNNING: Final = (
    "mcpguard: no guard is running in this data directory, and only a running guard rotates its key; "
    "start it (mcpguard serve) and try again"
)
NOT_MOVED: Final = "The new key could not be moved into its file, and is beside it; the guard's log says why."


@app.callback(invoke_without_command=True)
def key(context: typer.Context, config: Config = None, data_dir: DataDir = None) -> None:
    """Print the public key that signs checkpoints (base64 of its 32 bytes), or rotate it."""
    if context.invoked_subcommand is None:
        _print(config, data_dir)


@app.command()
def show(config: Config = None, data_dir: DataDir = None) -> None:
    """Print the public key that signs checkpoints (base64 of its 32 bytes)."""
    _print(config, data_dir)


@app.command()
def rotate(reason: Reason, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Rotate the signing key. The running guard makes a new one, and keeps no copy of the old one."""
    guard = GuardClient.from_options(config, data_dir)
    if guard.get_or_none(f"{API}/status") is None:
        typer.echo(NOT_RUNNING, err=True)
        raise typer.Exit(1)
    done = guard.send("POST", ROTATE, {"why": reason})
    if output is Output.JSON:
        print_json(done)
    else:
        typer.echo(f"new public key  {done['key']}")
        typer.echo(f"old public key  {done['previous']}  (signs nothing after record {done['record']:,})")
    if not done["moved"]:
        typer.echo(NOT_MOVED, err=True)


def _print(config: Config, data_dir: DataDir) -> None:
    settings = load_settings(config, data_dir=data_dir).settings
    with report_errors():
        typer.echo(keys.load(places.signing_key(settings)).public)
