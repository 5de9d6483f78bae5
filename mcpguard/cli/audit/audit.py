"""`mcpguard audit`: read the audit log, and prove it whole. Reads the store itself; no guard needs to run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mcpguard.app import places
from mcpguard.cli.audit import checkpoint, key, prune, records
from mcpguard.cli.audit.bundle import tell_bundle
from mcpguard.cli.audit.export import export
from mcpguard.cli.audit.places import place
from mcpguard.cli.shared.common import As, Config, DataDir, Output, loaded, print_json, progress, telling
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import anchors, keys
from mcpguard.ledger.bundle.source import is_bundle
from mcpguard.ledger.verify.explain import as_json, sentences
from mcpguard.ledger.verify.report import LOG_ONLY, KeySource, KeyTrust
from mcpguard.ledger.verify.verify import verify as verify_store
from mcpguard.store.engine.offline import named, reading
from mcpguard.text.visible import visible

app = typer.Typer(help="Read the audit log, hand it on, and prove it whole.", no_args_is_help=True)
app.add_typer(key.app, name="key")
app.command()(export)

app.command("list")(records.list_)
app.command()(records.tail)
app.command()(records.show)
app.command()(prune.prune)
app.command()(prune.redact)
app.command()(checkpoint.checkpoint)


@app.command()
def verify(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="[PATH]", help="A bundle, a copy of the database, or a postgresql:// URL; else the live one."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A checkpoint kept elsewhere, or a file with one on each line.")
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="A public key of the guard (`mcpguard audit key`), known from elsewhere."),
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Recompute every hash and check every signature, of a store or of a bundle (`mcpguard audit export --bundle`).

    Exit code 0: whole. 1: not, naming the first bad record.
    """
    with telling():
        kept = () if checkpoint is None else (each.statement for each in anchors.read(checkpoint))
        if path is not None and is_bundle(Path(path)):
            tell_bundle(Path(path), kept, _trust(key or [], None), output)
            return
        where = place(path, config, data_dir)
        trust = _trust(key or [], None if path else places.signing_key(loaded(config, data_dir=data_dir).settings))
        with reading(where) as connect, progress() as told:
            report = verify_store(connect, named(where), kept, trust, told)
    if output is Output.JSON:
        print_json(as_json(report))
    else:
        for sentence in sentences(report):
            typer.echo(visible(sentence))
    if not report.whole:
        raise typer.Exit(1)


def _trust(given: Sequence[str], beside: Path | None) -> KeyTrust:
    for each in given:
        try:
            keys.public_from(each)
        except ValueError as error:
            raise StoreUnavailable(f"{each} is not a public key: base64 of 32 bytes is") from error
    if given:
        return KeyTrust(frozenset(given), KeySource.GIVEN)
    if beside is not None and beside.is_file():
        return KeyTrust(frozenset({keys.load(beside).public}), KeySource.BESIDE)
    return LOG_ONLY
