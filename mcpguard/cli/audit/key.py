"""`mcpguard audit key`: the key that signs the audit log, and putting another one in its place."""

from typing import Final

import typer

from mcpguard.app import places
from mcpguard.cli.shared.common import As, Config, DataDir, Output, loaded, print_json, telling
from mcpguard.cli.shared.guard_client import API, Operator
from mcpguard.cli.shared.options import Reason
from mcpguard.ledger import keys

app = typer.Typer(help="The key that signs the audit log: print it, or have another one take its place.")
ROTATE: Final = f"{API}/signing-key/rotate"
NOT_RUNNING: Final = (
    "mcpguard: no guard runs in this data directory, and the running guard is what rotates its key; "
    "start it (mcpguard serve) and try again"
)
NOT_MOVED: Final = "The new key could not be moved into its file and lies beside it; the guard's log says why."


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
    """Have another key sign from now on. The running guard does it, and keeps the old one nowhere."""
    operator = Operator.of(config, data_dir)
    if operator.heard(f"{API}/status") is None:
        typer.echo(NOT_RUNNING, err=True)
        raise typer.Exit(1)
    done = operator.send("POST", ROTATE, {"why": reason})
    if output is Output.JSON:
        print_json(done)
    else:
        typer.echo(f"new public key  {done['key']}")
        typer.echo(f"old public key  {done['previous']}  (signs nothing after record {done['record']:,})")
    if not done["moved"]:
        typer.echo(NOT_MOVED, err=True)


def _print(config: Config, data_dir: DataDir) -> None:
    settings = loaded(config, data_dir=data_dir).settings
    with telling():
        typer.echo(keys.load(places.signing_key(settings)).public)
