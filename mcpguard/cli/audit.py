"""`mcpguard audit`: read the audit log, and prove it whole. Reads the store itself; no guard needs to run."""

import base64
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from mcpguard.app import places
from mcpguard.cli import audit_reading
from mcpguard.cli.audit_places import Where, opened, place
from mcpguard.cli.common import As, Config, DataDir, Output, loaded, print_json, telling
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import keys
from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint
from mcpguard.ledger.verify.explain import as_json, sentences
from mcpguard.ledger.verify.report import LOG_ONLY, Source, Trust
from mcpguard.ledger.verify.verify import verify as verify_store
from mcpguard.store import checkpoints
from mcpguard.store.offline import named, reading
from mcpguard.text.visible import visible

app = typer.Typer(help="Read the audit log and prove it whole.", no_args_is_help=True)

app.command("list")(audit_reading.list_)
app.command()(audit_reading.tail)
app.command()(audit_reading.show)


@app.command()
def verify(
    path: Where = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A checkpoint kept elsewhere (`mcpguard audit checkpoint`).")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The guard's public key (`mcpguard audit key`), known from elsewhere."),
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Recompute every hash and check every signature. Exit code 0: whole. 1: not, naming the first bad record."""
    with telling():
        anchor = None if checkpoint is None else _kept_elsewhere(checkpoint)
        where = place(path, config, data_dir)
        trust = _trust(key, None if path else places.signing_key(loaded(config, data_dir=data_dir).settings))
        with reading(where) as connect, _progress() as progress:
            report = verify_store(connect, named(where), anchor, trust, progress)
    if output is Output.JSON:
        print_json(as_json(report))
    else:
        for sentence in sentences(report):
            typer.echo(visible(sentence))
    if not report.whole:
        raise typer.Exit(1)


@app.command()
def checkpoint(path: Where = None, config: Config = None, data_dir: DataDir = None) -> None:
    """Print the newest signed checkpoint, to be kept where the guard's machine cannot reach it."""
    with telling(), opened(path, config, data_dir) as (connection, chain):
        newest = checkpoints.last(connection, chain)
        if newest is None:
            raise StoreUnavailable("no checkpoint has been signed yet")
    print_json({"content": _base64(newest.content), "signature": _base64(newest.signature)})


@app.command("key")
def key_(config: Config = None, data_dir: DataDir = None) -> None:
    """Print the public key that signs checkpoints (base64 of its 32 bytes)."""
    settings = loaded(config, data_dir=data_dir).settings
    with telling():
        typer.echo(keys.load(places.signing_key(settings)).public)


def _trust(given: str | None, beside: Path | None) -> Trust:
    if given is not None:
        try:
            keys.public_from(given)
        except ValueError as error:
            raise StoreUnavailable(f"{given} is not a public key: base64 of 32 bytes is") from error
        return Trust(frozenset({given}), Source.GIVEN)
    if beside is not None and beside.is_file():
        return Trust(frozenset({keys.load(beside).public}), Source.BESIDE)
    return LOG_ONLY


def _kept_elsewhere(file: Path) -> Checkpoint:
    try:
        said: Any = parse(file.read_bytes(), max_bytes=65_536)
        return Checkpoint.verified(_bytes(said["content"]), _bytes(said["signature"]))
    except OSError as error:
        raise StoreUnavailable(f"{file} cannot be read: {error.strerror}") from error
    except (StrictError, BadCheckpoint, ValueError, KeyError, TypeError) as error:
        raise StoreUnavailable(f"{file} is not a checkpoint: {error}") from error


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    """Says how far a long walk has come, to a person only, and wipes it out at the end."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    try:
        yield lambda seq: typer.echo(f"\r{seq:,} records", nl=False, err=True)
    finally:
        typer.echo("\r\x1b[K", nl=False, err=True)
