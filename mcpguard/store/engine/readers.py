"""Reads in dedicated threads, on connections that cannot write."""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import Backend, cause

T = TypeVar("T")


class Readers:
    """A pool of reading connections."""

    def __init__(self, backend: Backend, count: int) -> None:
        self._engine = backend.readers(count)
        self._limiter = CapacityLimiter(count)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run `work` and return its result. It must not keep the connection."""
        return await to_thread.run_sync(self._read, work, limiter=self._limiter)

    def _read(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._engine.connect() as connection:
                return work(connection)
        except SQLAlchemyError as error:
            raise StoreUnavailable(cause(error)) from error
