"""`mcpguard audit export`: exports the audit log as a file or as a signed bundle."""

from pathlib import Path
from typing import Annotated

import typer

from mcpguard.cli.audit.export_file import STANDARD
from mcpguard.cli.audit.export_request import ExportRequest, open_export
from mcpguard.cli.audit.export_writer import to_bundle, to_file
from mcpguard.cli.audit.open_log import Database, Terms, exact_filter_of
from mcpguard.cli.shared.common import Config, DataDir, report_errors
from mcpguard.ledger.export.formats import OWN, WORDS
from mcpguard.ledger.export.selection import Fitting


def _words(forms: list[str] | None) -> list[str]:
    if unknown := [word for word in forms or () if word not in WORDS]:
        raise typer.BadParameter(f"unknown format {unknown[0]!a}; choose from {', '.join(WORDS)}")
    return list(dict.fromkeys(forms or [OWN.word]))


Forms = Annotated[
    list[str] | None,
    typer.Option("--format", metavar="FORM", callback=_words, help=f"{', '.join(WORDS)}; several with --bundle."),
]
After = Annotated[int, typer.Option(metavar="SEQ", min=0, help="Only records after this number.")]
Out = Annotated[str, typer.Option("--output", "-o", metavar="FILE|-", help="The file to write; - is standard output.")]
Bundle = Annotated[Path | None, typer.Option(metavar="DIR", help="Write a signed bundle into this new folder instead.")]


def export(
    terms: Terms = None,
    *,
    forms: Forms = None,
    after: After = 0,
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress the output.")] = False,
    output: Out = STANDARD,
    bundle: Bundle = None,
    bodies: Annotated[bool, typer.Option("--bodies", help="Include arguments and replies in the bundle.")] = False,
    chain: Annotated[str | None, typer.Option(metavar="ID", help="The chain to export; default: the newest.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted export.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    database: Database = None,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Export the audit log, as a file for other programs or as a signed bundle that can be verified offline."""
    with report_errors():
        chosen = Fitting(exact_filter_of(terms))
    asked = ExportRequest(tuple(forms or [OWN.word]), chosen, after, gzip, bundle is not None, bodies, chain)
    if bundle is not None:
        if output != STANDARD or resume or force:
            raise typer.BadParameter("--bundle cannot be combined with --output, --resume or --force")
        with report_errors(), open_export(asked, database, config, data_dir) as export_:
            to_bundle(bundle, export_)
        return
    if len(asked.forms) > 1 or bodies:
        raise typer.BadParameter("several formats, and --bodies, need --bundle")
    if output == STANDARD and (resume or force):
        raise typer.BadParameter("--resume and --force need a file: give one with --output")
    with report_errors(), open_export(asked, database, config, data_dir) as export_:
        to_file(output, export_, resume=resume, force=force)
