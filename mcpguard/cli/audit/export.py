"""`mcpguard audit export`: the log for others, as a file or as a signed bundle."""

from pathlib import Path
from typing import Annotated

import typer

from mcpguard.cli.audit.export_file import STANDARD
from mcpguard.cli.audit.export_request import ExportRequest, given
from mcpguard.cli.audit.export_writer import to_bundle, to_file
from mcpguard.cli.audit.places import Database, Terms, filter_of
from mcpguard.cli.shared.common import Config, DataDir, telling
from mcpguard.ledger.export.formats import OWN, WORDS
from mcpguard.ledger.export.selection import Fitting


def _words(forms: list[str] | None) -> list[str]:
    if unknown := [word for word in forms or () if word not in WORDS]:
        raise typer.BadParameter(f"there is no form {unknown[0]!a}; there are {', '.join(WORDS)}")
    return list(dict.fromkeys(forms or [OWN.word]))


Forms = Annotated[
    list[str] | None,
    typer.Option("--format", metavar="FORM", callback=_words, help=f"{', '.join(WORDS)}; with --bundle several."),
]
After = Annotated[int, typer.Option(metavar="SEQ", min=0, help="Only what follows the record of this number.")]
Out = Annotated[str, typer.Option("--output", "-o", metavar="FILE|-", help="The file to write.")]
Bundle = Annotated[Path | None, typer.Option(metavar="DIR", help="A new folder, for a signed bundle instead.")]


def export(
    terms: Terms = None,
    *,
    forms: Forms = None,
    after: After = 0,
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress it.")] = False,
    output: Out = STANDARD,
    bundle: Bundle = None,
    bodies: Annotated[bool, typer.Option("--bodies", help="Put what calls carried into the bundle too.")] = False,
    chain: Annotated[str | None, typer.Option(metavar="ID", help="Another chain than the newest.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a file that was interrupted.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over the file.")] = False,
    database: Database = None,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """Hand the log on, as a file that other programs read, or as a signed bundle that proves itself."""
    with telling():
        chosen = Fitting(filter_of(terms))
    asked = ExportRequest(tuple(forms or [OWN.word]), chosen, after, gzip, bundle is not None, bodies, chain)
    if bundle is not None:
        if output != STANDARD or resume or force:
            raise typer.BadParameter("a bundle is a new folder: without --output, --resume and --force")
        with telling(), given(asked, database, config, data_dir) as export_:
            to_bundle(bundle, export_)
        return
    if len(asked.forms) > 1 or bodies:
        raise typer.BadParameter("several forms, and bodies, are for a bundle")
    if output == STANDARD and (resume or force):
        raise typer.BadParameter("--resume and --force are for a file; give one with --output")
    with telling(), given(asked, database, config, data_dir) as export_:
        to_file(output, export_, resume=resume, force=force)
