"""`mcpguard audit`: reads and verifies the audit log, directly from the store, so no guard needs to run."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from mcpguard.app import places
from mcpguard.cli.audit import checkpoint, key, prune, records, recount
from mcpguard.cli.audit.export import export
from mcpguard.cli.audit.open_log import place
from mcpguard.cli.shared.common import (
    As,
    Config,
    DataDir,
    Output,
    load_settings,
    print_json,
    report_errors,
    show_progress,
)
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import anchors, keys
from mcpguard.ledger.bundle import explain_bundle
from mcpguard.ledger.bundle.source import is_bundle
from mcpguard.ledger.bundle.verify_bundle import verify as verify_bundle
from mcpguard.ledger.verify import explain
from mcpguard.ledger.verify.helpers import on_all_cores
from mcpguard.ledger.verify.report import LOG_ONLY, KeySource, KeyTrust
from mcpguard.ledger.verify.verify import verify as verify_store
from mcpguard.settings.model import Settings
from mcpguard.store.engine.offline import open_offline, place_name
from mcpguard.text.visible import visible

app = typer.Typer(help="Read, export, verify and prune the audit log.", no_args_is_help=True)
_HINTS = {
    KeySource.LOG: "Verify with the guard's public key, which mcpguard audit key prints there: --key KEY",
    KeySource.BESIDE: "Keep a checkpoint elsewhere (mcpguard audit checkpoint), and verify with it: --checkpoint FILE",
}
"""What makes the answer worth more, by how the key is known."""
app.add_typer(key.app, name="key")
app.command()(export)

app.command("list")(records.list_)
app.command()(records.tail)
app.command()(records.show)
app.command()(prune.prune)
app.command()(prune.redact)
app.command()(recount.recount)
app.command()(checkpoint.checkpoint)


@app.command()
def verify(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="[PATH]",
            help="A bundle, a copy of the database, or a postgresql:// URL; default: the live database.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An external checkpoint, or a file with one on each line.")
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

    Exit code 0: integrity OK. 1: integrity FAILED, with the first bad record.
    """
    with report_errors():
        external = () if checkpoint is None else (each.statement for each in anchors.read(checkpoint))
        if path is not None and is_bundle(Path(path)):
            with show_progress() as told:
                bundle = verify_bundle(Path(path), external, _trust(key or [], None), told)
            _print_report(explain_bundle.as_json(bundle), explain_bundle.sentences(bundle), output, whole=bundle.whole)
            return
        where = place(path, config, data_dir)
        trust = _trust(key or [], None if path else places.signing_key(_settings(config, data_dir)))
        with open_offline(where) as connect, show_progress() as told:
            report = verify_store(connect, place_name(where), external, trust, told, on_all_cores(where))
    lines = [*explain.sentences(report)]
    if checkpoint is None and trust.source in _HINTS:
        lines.insert(-1, _HINTS[trust.source])  # the last line is the answer
    _print_report(explain.as_json(report), lines, output, whole=report.whole)


def _print_report(facts: dict[str, object], sentences: Iterable[str], output: Output, *, whole: bool) -> None:
    if output is Output.JSON:
        print_json(facts)
    else:
        for sentence in sentences:
            typer.echo(visible(sentence))
    if not whole:
        raise typer.Exit(1)


def _settings(config: Path | None, data_dir: Path | None) -> Settings:
    return load_settings(config, data_dir=data_dir).settings


def _trust(given: Sequence[str], beside: Path | None) -> KeyTrust:
    for each in given:
        try:
            keys.public_from(each)
        except ValueError as error:
            raise StoreUnavailable(f"{each} is not a public key: it must be base64 of 32 bytes") from error
    if given:
        return KeyTrust(frozenset(given), KeySource.GIVEN)
    if beside is not None and beside.is_file():
        return KeyTrust(frozenset({keys.load(beside).public}), KeySource.BESIDE)
    return LOG_ONLY
