"""`mcpguard audit list | tail | show`: print records that match a filter, follow new ones, or show one."""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import orjson
import typer

from mcpguard.cli.audit.open_log import Database, Terms, filter_of, open_log
from mcpguard.cli.shared.common import As, Config, DataDir, Output, json_line, print_json, print_table, report_errors
from mcpguard.domain.filters import Filter
from mcpguard.guard.audit.audit_log import RecordUnknown
from mcpguard.guard.audit.record_json import body_json
from mcpguard.ledger.words import Said, result, what, who, why
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records
from mcpguard.store.rows.records import StoredRecord
from mcpguard.store.search import record_search
from mcpguard.text.visible import visible

EVERY: Final = 0.5
"""Seconds between two looks at what has come."""
TOGETHER: Final = 500
COLUMNS: Final = ("seq", "time (UTC)", "kind", "who", "what", "effect", "result", "reason")
WIDTHS: Final = (8, 23, 15, 20, 40, 11, 30, 1)


def list_(
    terms: Terms = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many records.")] = 20,
    before: Annotated[int | None, typer.Option(metavar="SEQ", min=1, help="Only records before this number.")] = None,
    database: Database = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Print the newest matching records, the newest last."""
    with report_errors(), open_log(database, config, data_dir) as (connection, chain):
        wanted = filter_of(terms)
        page = record_search.search(connection, chain, wanted, start=before, limit=limit, newest_first=True)
        found = [*reversed(page.records)]
    if output is Output.JSON:
        print_json([_told(record) for record in found])
        return
    print_table(COLUMNS, (record_row(record.seq, _content(record.content)) for record in found))
    if not found:
        typer.echo("No results." if wanted != Filter() else "There are no records before that.", err=True)
    elif not page.ended:
        typer.echo(f"There may be older records: --before {found[0].seq}", err=True)


def tail(
    terms: Terms = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, max=10_000, help="How many records to start with.")
    ] = 10,
    once: Annotated[bool, typer.Option("--once", help="Exit after the existing records.")] = False,
    database: Database = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Print the newest matching records, and then each new one, until interrupted."""
    with report_errors(), open_log(database, config, data_dir) as (connection, chain):
        wanted = filter_of(terms)
        last = records.last_record(connection, chain)
        seen = last[0] if last else 0
        if limit:
            page = record_search.search(connection, chain, wanted, start=seen + 1, limit=limit, newest_first=True)
            _print(reversed(page.records), output)
        while not once:
            connection.rollback()  # a new look, not the one before again
            page = record_search.search(connection, chain, wanted, start=seen, limit=TOGETHER, newest_first=False)
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
    """Print a record, or all records of a call, with arguments and replies. Secrets are masked."""
    with report_errors(), open_log(database, config, data_dir) as (connection, chain):
        found = _named(connection, chain, what)
        shown = [(record, body_json(connection, chain, record.seq)) for record in found]
    if output is Output.JSON:
        print_json([_told(record) | {"hash": record.hash.hex(), "body": body} for record, body in shown])
        return
    for place, (record, body) in enumerate(shown):
        typer.echo(("\n" if place else "") + "\n".join(_lines(record, body)))


def _named(connection: Connection, chain: str, what: str) -> list[StoredRecord]:
    if what.isascii() and what.isdecimal() and len(what) < 19:
        one = record_search.record_at(connection, chain, int(what))
        found = [] if one is None else [one]
    else:
        found = record_search.call_records(connection, chain, what)
    if not found:
        raise RecordUnknown("there is no such record or call; mcpguard audit list shows them")
    return found


def _lines(record: StoredRecord, body: dict[str, Any] | None) -> Iterator[str]:
    content = _content(record.content)
    yield f"record {record.seq}"
    if content is None:
        yield "  pruned; its hash is kept"
    for name, value in (content or {}).items():
        if name not in ("v", "seq"):
            yield f"  {name:16} {visible(_time(value) + ' UTC' if name == 'at' else str(value))}"
    yield f"  {'hash':16} {record.hash.hex()}"
    if body is not None:
        text = "pruned" if body["pruned"] else body["text"] if body["text"] is not None else body["base64"]
        yield f"  {'body':16} {visible(text)}"


def _told(record: StoredRecord) -> dict[str, Any]:
    return dict(_content(record.content) or {"seq": record.seq, "pruned": True})


def _print(found: Iterable[StoredRecord], output: Output) -> None:
    """Print records line by line, so that a program can read them as they come."""
    for record in found:
        if output is Output.JSON:
            typer.echo(json_line(_told(record)))
        else:
            cells = map(visible, record_row(record.seq, _content(record.content)))
            typer.echo("  ".join(f"{cell:{width}}" for cell, width in zip(cells, WIDTHS, strict=True)).rstrip())


def record_row(seq: int, said: Said | None) -> tuple[str, ...]:
    if said is None:
        return (str(seq), "", "pruned", "", "", "", "", "")
    words = (said.get("kind"), who(said), what(said), said.get("effect"), result(said), why(said))
    return (str(seq), _time(said.get("at")), *("" if word is None else str(word) for word in words))


def _time(at: object) -> str:
    try:
        return f"{datetime.fromtimestamp(float(str(at)) / 1e6, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]
    except (ValueError, OverflowError, OSError):
        return "impossible"


def _content(content: bytes | None) -> Said | None:
    """The fields of a record. They are not verified, so they may be anything."""
    if content is None:
        return None
    try:
        said = orjson.loads(content)
    except ValueError:
        said = None
    return said if isinstance(said, dict) else {"kind": "unreadable: run mcpguard audit verify"}
