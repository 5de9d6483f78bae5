"""`mcpguard audit list | tail | show`: records that fit a filter, as they come, and one by one."""

import time
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.audit.places import Database, Terms, filter_of, opened
from mcpguard.cli.audit.record_rows import COLUMNS, row, said, time_
from mcpguard.cli.shared.common import As, Config, DataDir, Output, json_line, print_json, print_table, telling
from mcpguard.domain.filters import Filter
from mcpguard.guard.audit.audit_log import RecordUnknown, body_of
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records, searching
from mcpguard.store.rows.records import StoredRecord
from mcpguard.text.visible import visible

EVERY: Final = 0.5
"""Seconds between two looks at what has come."""
TOGETHER: Final = 500
WIDTHS: Final = (8, 23, 15, 20, 40, 11, 30, 1)


def list_(
    terms: Terms = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many records.")] = 20,
    before: Annotated[
        int | None, typer.Option(metavar="SEQ", min=1, help="Only records with a lower number: the page before.")
    ] = None,
    database: Database = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Print the newest records that fit, the newest last."""
    with telling(), opened(database, config, data_dir) as (connection, chain):
        wanted = filter_of(terms)
        page = searching.search(connection, chain, wanted, start=before, limit=limit, newest_first=True)
        found = [*reversed(page.records)]
    if output is Output.JSON:
        print_json([_told(record) for record in found])
        return
    print_table(COLUMNS, (row(record.seq, said(record.content)) for record in found))
    if not found:
        typer.echo("Nothing fits." if wanted != Filter() else "Nothing has been recorded before that.", err=True)
    elif not page.ended:
        typer.echo(f"There may be older ones: --before {found[0].seq}", err=True)


def tail(
    terms: Terms = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=10_000, help="How many to begin with.")] = 10,
    once: Annotated[bool, typer.Option("--once", help="End after what there is.")] = False,
    database: Database = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Print the newest records that fit, and then each that comes, until it is interrupted."""
    with telling(), opened(database, config, data_dir) as (connection, chain):
        wanted = filter_of(terms)
        last = records.last(connection, chain)
        seen = last[0] if last else 0
        if limit:
            page = searching.search(connection, chain, wanted, start=seen + 1, limit=limit, newest_first=True)
            _print(reversed(page.records), output)
        while not once:
            connection.rollback()  # a new look, not the one before again
            page = searching.search(connection, chain, wanted, start=seen, limit=TOGETHER, newest_first=False)
            _print(page.records, output)
            seen = page.reached
            if page.ended:
                time.sleep(EVERY)


def show(
    what: Annotated[str, typer.Argument(metavar="SEQ|CALL", help="The number of a record, or the id of a call.")],
    database: Database = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Print a record, or all that is recorded of a call, with what was sent and answered, their secrets masked."""
    with telling(), opened(database, config, data_dir) as (connection, chain):
        found = _named(connection, chain, what)
        shown = [(record, body_of(connection, chain, record.seq)) for record in found]
    if output is Output.JSON:
        print_json([_told(record) | {"hash": record.hash.hex(), "body": body} for record, body in shown])
        return
    for place, (record, body) in enumerate(shown):
        typer.echo(("\n" if place else "") + "\n".join(_lines(record, body)))


def _named(connection: Connection, chain: str, what: str) -> list[StoredRecord]:
    if what.isascii() and what.isdecimal() and len(what) < 19:
        one = searching.numbered(connection, chain, int(what))
        found = [] if one is None else [one]
    else:
        found = searching.call(connection, chain, what)
    if not found:
        raise RecordUnknown("there is no such record or call; mcpguard audit list shows what there is")
    return found


def _lines(record: StoredRecord, body: dict[str, Any] | None) -> Iterator[str]:
    content = said(record.content)
    yield f"record {record.seq}"
    if content is None:
        yield "  was pruned; its hash is left"
    for name, value in (content or {}).items():
        if name not in ("v", "seq"):
            yield f"  {name:16} {visible(time_(value) + ' UTC' if name == 'at' else str(value))}"
    yield f"  {'hash':16} {record.hash.hex()}"
    if body is not None:
        text = "was pruned" if body["pruned"] else body["text"] if body["text"] is not None else body["base64"]
        yield f"  {'body':16} {visible(text)}"


def _told(record: StoredRecord) -> dict[str, Any]:
    return dict(said(record.content) or {"seq": record.seq, "pruned": True})


def _print(found: Iterable[StoredRecord], output: Output) -> None:
    """Line by line, so that a program can read it as it comes."""
    for record in found:
        if output is Output.JSON:
            typer.echo(json_line(_told(record)))
        else:
            cells = map(visible, row(record.seq, said(record.content)))
            typer.echo("  ".join(f"{cell:{width}}" for cell, width in zip(cells, WIDTHS, strict=True)).rstrip())
