"""Writes an export to a file, to standard output, or as a bundle. A summary is printed on standard error."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from mcpguard import __version__
from mcpguard.app.clock import SystemClock
from mcpguard.cli.audit.export_file import STANDARD, PartialFile, StandardOutput, What
from mcpguard.cli.audit.export_request import Export
from mcpguard.cli.shared.common import show_progress
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.bundle.make_bundle import Maker, WantedBundle, make
from mcpguard.ledger.export.export import ExportSpan, Tape, batches
from mcpguard.ledger.export.formats import form
from mcpguard.text.visible import visible

Target = PartialFile | StandardOutput


def to_file(output: str, export: Export, *, resume: bool, force: bool) -> None:
    """Write the records. Raises StoreUnavailable; what was written so far can be resumed."""
    asked, began = export.asked, time.monotonic()
    (word,) = asked.forms
    what: What = {"chain": export.chain, "form": word, "packed": asked.packed, "selection": asked.chosen.text}
    with _target(output, what, resume=resume, force=force) as target:
        span = export.begin(target.seq if resume else None)
        target.seq = span.after
        with _interrupted(target):
            tape = Tape(form(word), packed=asked.packed)
            target.write(b"" if resume else tape.begin())
            _write(target, tape, export, span)
            target.finish()
    _tell(f"{target.records:,} records of chain {span.chain}, up to {span.upto:,}", target.bytes, began, target.sha256)


def to_bundle(folder: Path, export: Export) -> None:
    """Write a bundle. Its folder exists only when all of it is written. Raises StoreUnavailable."""
    asked, began = export.asked, time.monotonic()
    if folder.exists() or folder.is_symlink():
        raise StoreUnavailable(f"{folder} already exists; name a new folder")
    key = export.key()
    with _made(folder) as making:
        span = export.begin()
        maker = Maker(key, SystemClock().now(), __version__, export.exported)
        with show_progress() as told:
            wanted = WantedBundle(asked.forms, asked.packed, asked.bodies)
            manifest = make(making, export.connection, span, wanted, maker, told)
    for kept in manifest.files:
        typer.echo(f"  {kept.name}: {kept.bytes:,} bytes, SHA-256 {kept.sha256}", err=True)
    size = sum(kept.bytes for kept in manifest.files)
    _tell(f"{manifest.records:,} records of chain {span.chain}, up to {span.upto:,}", size, began)
    typer.echo(visible(f"verify it anywhere: mcpguard audit verify {folder} --key {key.public}"), err=True)


def _write(target: Target, tape: Tape, export: Export, span: ExportSpan) -> None:
    with show_progress() as told:
        for some in batches(export.connection, span):
            target.write(tape.take(some))
            target.advance(some[-1].seq, len(some))
            told(target.seq)
            if target.due:
                target.write(tape.mark())
                target.mark()
    target.write(tape.mark())


@contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """A folder under another name, which gets its own if the block succeeds, and is removed otherwise."""
    making: Path | None = None
    try:
        making = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        yield making
        making.rename(folder)
        making = None
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be created: {error.strerror or error}") from error
    finally:
        if making is not None:
            shutil.rmtree(making)


@contextmanager
def _target(output: str, what: What, *, resume: bool, force: bool) -> Iterator[Target]:
    if output == STANDARD:
        target: Target = StandardOutput()
    else:
        path = Path(output)
        target = PartialFile.resume(path, what) if resume else PartialFile.new(path, what, force=force)
    try:
        yield target
    finally:
        target.close()


@contextmanager
def _interrupted(target: Target) -> Iterator[None]:
    """Print how to resume, however the block ends early."""
    try:
        yield
    except (KeyboardInterrupt, BrokenPipeError):
        typer.echo(f"mcpguard: interrupted; {target.resume_hint}", err=True)
        raise typer.Exit(1) from None
    except (OSError, StoreUnavailable) as error:
        why = error.strerror or error if isinstance(error, OSError) else error
        raise StoreUnavailable(f"{why}; {target.resume_hint}") from error


def _tell(what: str, size: int, began: float, digest: str = "") -> None:
    said = f"exported {what}: {size:,} bytes in {time.monotonic() - began:.1f} s"
    typer.echo(visible(said + (f", SHA-256 {digest}" if digest else "")), err=True)
