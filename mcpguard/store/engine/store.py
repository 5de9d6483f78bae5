"""Opens the store: upgrades the database, and starts one writer and a few readers."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from anyio import to_thread

from mcpguard.store.engine.backend import Backend
from mcpguard.store.engine.readers import Readers
from mcpguard.store.engine.schema import upgrade
from mcpguard.store.engine.writer import Participant, Writer

EXPORTS: Final = 2
log = structlog.get_logger("mcpguard.store")


@dataclass(frozen=True, slots=True)
class Store:
    """An open store. `name` says where it is, without a password; `exports` are for long reads, apart from the readers
    that calls wait for."""

    name: str
    schema: str
    writer: Writer
    readers: Readers
    exports: Readers
    forget: Callable[[], bool]
    """`Backend.forget`, which blocks for a moment."""


@asynccontextmanager
async def open_store(
    backend: Backend, participant: Participant, *, batch: int, readers: int, scripts: Path | None = None
) -> AsyncIterator[Store]:
    """Yield the upgraded, writable store for the time of the block."""
    try:
        done = await to_thread.run_sync(upgrade, backend, scripts)
        if done.before != done.after:
            log.info("store.upgraded", before=done.before, after=done.after, backup=str(done.backup or ""))
        writer = Writer(backend, participant, batch)
        try:
            few, exports = Readers(backend, readers), Readers(backend, EXPORTS)
            yield Store(backend.name, done.after, writer, few, exports, backend.forget)
        finally:
            await writer.stop()
    finally:
        backend.dispose()
