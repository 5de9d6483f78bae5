"""Options of the commands that read the audit log, and opening the log: the guard's own, or a copy."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from mcpguard.app import places
from mcpguard.cli.shared.common import load_settings
from mcpguard.codec.filters import misread, parse, parse_strictly
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.filters import KEY_MEANINGS, Filter
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.offline import Place, open_offline, place_from
from mcpguard.store.rows import chains
from mcpguard.text.visible import visible

OTHER = "A copy of the database, or a postgresql:// URL; default: the live database."
HELP: Final = (
    "Filter terms, as key:value, or words to search for; a minus excludes. Keys: "
    + ", ".join(KEY_MEANINGS)
    + "; since and until, as 2h or 2026-11-20T14:00. * and ? are wildcards."
)
Terms = Annotated[list[str] | None, typer.Argument(metavar="[FILTER]...", help=HELP, show_default=False)]
Where = Annotated[str | None, typer.Argument(metavar="[PATH]", help=OTHER)]
Database = Annotated[str | None, typer.Option("--db", metavar="PATH", help=OTHER)]


def place(path: str | None, config: Path | None, data_dir: Path | None) -> Place:
    if path is not None:
        return place_from(path)
    return places.database(load_settings(config, data_dir=data_dir).settings)


@contextmanager
def open_log(path: str | None, config: Path | None, data_dir: Path | None) -> Iterator[tuple[Connection, str]]:
    with open_offline(place(path, config, data_dir)) as connect, connect() as connection:
        chain = chains.newest(connection)
        if chain is None:
            raise StoreUnavailable("nothing has been recorded yet")
        yield connection, chain


def filter_of(terms: list[str] | None) -> Filter:
    """Parse filter terms, and say on standard error which were read as text. Raises BadFilter."""
    text = " ".join(terms or ())
    wanted = parse(text, time.time_ns() // 1000)
    for sentence in misread(text):
        typer.echo(f"{visible(sentence)}; searched as text", err=True)
    return wanted


def exact_filter_of(terms: list[str] | None) -> Filter:
    """Parse filter terms, none of which may be misread. Raises BadFilter."""
    return parse_strictly(" ".join(terms or ()), time.time_ns() // 1000)
