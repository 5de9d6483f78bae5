"""`mcpguard audit`: read the ledger and prove it whole. Reads the store itself; no guard needs to run."""

import base64
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from mcpguard.app import places
from mcpguard.cli.common import As, Config, DataDir, Output, loaded, print_json, print_table, telling
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import keys
from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint
from mcpguard.ledger.verify.explain import as_json, sentences
from mcpguard.ledger.verify.report import LOG_ONLY, Source, Trust
from mcpguard.ledger.verify.verify import verify as verify_store
from mcpguard.store import chains, checkpoints, records
from mcpguard.store.backend import Connection
from mcpguard.store.offline import Place, named, place_from, reading
from mcpguard.text.visible import visible

app = typer.Typer(help="Read the audit log and prove it whole.", no_args_is_help=True)

Where = Annotated[
    str | None,
    typer.Argument(metavar="[PATH]", help="A copy of the database, or a postgresql:// URL; else the live one."),
]


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
        place = _place(path, config, data_dir)
        trust = _trust(key, None if path else places.signing_key(loaded(config, data_dir=data_dir).settings))
        with reading(place) as connect, _progress() as progress:
            report = verify_store(connect, named(place), anchor, trust, progress)
    if output is Output.JSON:
        print_json(as_json(report))
    else:
        for sentence in sentences(report):
            typer.echo(visible(sentence))
    if not report.whole:
        raise typer.Exit(1)


@app.command("list")
def list_(
    path: Where = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many records.")] = 20,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Print the newest records, the newest last."""
    with telling(), _opened(path, config, data_dir) as (connection, chain):
        found = records.newest(connection, chain, limit)
        said = [_said(record.content) for record in found]
    if output is Output.JSON:
        print_json(
            [content or {"seq": record.seq, "pruned": True} for record, content in zip(found, said, strict=True)]
        )
    else:
        print_table(
            ("seq", "time (UTC)", "kind", "who", "what", "effect", "result", "reason"),
            (_row(record.seq, content) for record, content in zip(found, said, strict=True)),
        )


@app.command()
def checkpoint(path: Where = None, config: Config = None, data_dir: DataDir = None) -> None:
    """Print the newest signed checkpoint, to be kept where the guard's machine cannot reach it."""
    with telling(), _opened(path, config, data_dir) as (connection, chain):
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


def _place(path: str | None, config: Path | None, data_dir: Path | None) -> Place:
    if path is not None:
        return place_from(path)
    return places.database(loaded(config, data_dir=data_dir).settings)


@contextmanager
def _opened(path: str | None, config: Path | None, data_dir: Path | None) -> Iterator[tuple[Connection, str]]:
    with reading(_place(path, config, data_dir)) as connect, connect() as connection:
        chain = chains.newest(connection)
        if chain is None:
            raise StoreUnavailable("nothing has been recorded yet")
        yield connection, chain


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


def _row(seq: int, said: dict[str, Any] | None) -> tuple[str, ...]:
    if said is None:
        return (str(seq), "", "pruned", "", "", "", "", "")
    reason = said.get("reason") or (said.get("why") if "by" in said else None)
    words = (said.get("kind"), _who(said), _what(said), said.get("effect"), _result(said), reason)
    return (str(seq), _time(said.get("at")), *("" if word is None else str(word) for word in words))


def _who(said: dict[str, Any]) -> object:
    return said.get("caller_label") or said.get("by")


def _result(said: dict[str, Any]) -> object:
    """How it ended; of a decision and a move what it was, and where the thing stands since then."""
    match said:
        case {"answer": done, "before": before, "after": after} | {"move": done, "before": before, "after": after}:
            return f"{done}: {before} → {after}"
        case {"change": change, "after": after}:
            return f"{change}: {after}"
        case {"kind": "listed", "new": new, "changed": changed, "gone": gone}:
            return f"{new} new, {changed} changed, {gone} gone"
        case _:
            return said.get("outcome") or said.get("verdict") or said.get("why") or said.get("action")


def _what(said: dict[str, Any]) -> object:
    """Of a call what is called; of a question who asks for what; of what belongs to one of them, to which.

    Of settings which; of what is about a whole server, that one.
    """
    match said:
        case {"server": server, "name": name}:
            return f"{server}:{name}"
        case {"server": server, "entry": _, "method": method}:
            return f"{server} asks {method}"
        case {"kind": "configured", "keys": keys}:
            return keys
        case {"server": server, "upstream": _}:
            return server
        case _:
            return said.get("entry", "")


def _time(at: object) -> str:
    try:
        return f"{datetime.fromtimestamp(float(str(at)) / 1e6, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]
    except (ValueError, OverflowError, OSError):
        return "impossible"


def _said(content: bytes | None) -> dict[str, Any] | None:
    """What a record says. It is not verified here, so it may be anything."""
    if content is None:
        return None
    try:
        said = orjson.loads(content)
    except ValueError:
        said = None
    return said if isinstance(said, dict) else {"kind": "unreadable: run mcpguard audit verify"}
