"""What `mcpguard audit verify` says of a bundle. Needs nothing but the bundle, and reads nothing else."""

from collections.abc import Iterable
from pathlib import Path

import typer

from mcpguard.cli.shared.common import Output, print_json, progress
from mcpguard.ledger.bundle.explain_bundle import as_json, sentences
from mcpguard.ledger.bundle.verify_bundle import verify
from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.verify.report import KeyTrust
from mcpguard.text.visible import visible


def tell_bundle(path: Path, anchors: Iterable[Checkpoint], trust: KeyTrust, output: Output) -> None:
    """Exits with 1 where it is not whole."""
    with progress() as told:
        report = verify(path, anchors, trust, told)
    if output is Output.JSON:
        print_json(as_json(report))
    else:
        for sentence in sentences(report):
            typer.echo(visible(sentence))
    if not report.whole:
        raise typer.Exit(1)
