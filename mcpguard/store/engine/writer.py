"""The one thread that writes.

Rules kept here:
1. Whatever is queued when the thread is free becomes one transaction; nobody lingers for company.
2. Nobody is told that a job is done before its transaction is committed with the durability that it asked for, and
   before the files were found to be the ones that were opened.
3. A job that fails takes back its own changes and no others' (savepoint). A `bare` job gets no savepoint and promises
   not to fail; if it does, the whole batch fails.
4. When a transaction fails, every job in it fails with StoreUnavailable, and the next batch starts on a new connection.
   It does so too after a job that the database refused: the session may be one that can only read.
5. The thread ends only when told to; if it dies, everyone who waits or comes later hears of it.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import structlog
from anyio import to_thread
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import Backend, cause
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.waiting import settled

T = TypeVar("T")
log = structlog.get_logger("mcpguard.store")


class Participant(Protocol):
    """Something with state beside the transaction, which must follow what becomes of it. On the writer's thread."""

    def begin(self, connection: Connection) -> None: ...
    def mark(self, connection: Connection) -> object:
        """Where it stands, to come back to. What it has not written yet, it writes before it answers."""
        ...

    def back_to(self, mark: object) -> None: ...
    def prepare(self, connection: Connection) -> None:
        """Last chance to write before the commit."""
        ...

    def kept(self) -> None: ...
    def undone(self) -> None: ...


@dataclass(slots=True)
class _Job:
    work: Callable[[Connection], Any]
    durability: Durability
    bare: bool
    future: "asyncio.Future[Any]"
    result: Any = None
    error: BaseException | None = None

    def tell(self) -> None:
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Writer:
    """Carries out jobs on the one writing connection, in the order in which they come."""

    def __init__(self, backend: Backend, participant: Participant, batch: int) -> None:
        self._backend = backend
        self._participant = participant
        self._batch = batch
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._connection: Connection | None = None
        self._is_refused = False
        self._loop = asyncio.get_running_loop()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mcpguard-writer", daemon=True)
        self._thread.start()

    async def submit(
        self, work: Callable[[Connection], T], durability: Durability = Durability.COMMITTED, *, bare: bool = False
    ) -> T:
        """Carry out `work` and return what it returned, once that is stored."""
        if self._stopping.is_set():
            raise StoreUnavailable("the writer has stopped")
        job = _Job(work, durability, bare, self._loop.create_future())
        self._queue.put(job)
        if self._stopping.is_set():  # the thread died in between and may have looked through the queue already
            self._tell(self._left_over())
        result: T = await settled(job.future)
        return result

    @property
    def waiting(self) -> int:
        """How many jobs are queued."""
        return self._queue.qsize()

    async def stop(self) -> None:
        """Carry out what is queued, then end the thread."""
        self._stopping.set()
        self._queue.put(None)
        await to_thread.run_sync(self._thread.join)

    def _run(self) -> None:
        try:
            while (jobs := self._next()) is not None:
                self._carry_out(jobs)
        finally:
            self._stopping.set()
            self._disconnect()
            self._tell(self._left_over())

    def _next(self) -> list[_Job] | None:
        first = self._queue.get()
        if first is None:
            return None
        jobs = [first]
        while len(jobs) < self._batch:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._queue.put(None)  # after this batch; nothing was accepted behind it
                break
            jobs.append(job)
        return jobs

    def _carry_out(self, jobs: list[_Job]) -> None:
        try:
            if self._connection is None:
                self._connection = self._backend.connect()
            self._backend.still_there()
            self._transact(self._connection, jobs)
            self._backend.still_there()
        except BaseException as error:  # whatever it is, everyone who waits must hear of it
            self._undo(jobs, error)
            if not isinstance(error, Exception):
                raise
        else:
            self._participant.kept()
            if self._is_refused:
                self._start_over()
        finally:
            self._tell(jobs)

    def _transact(self, connection: Connection, jobs: Sequence[_Job]) -> None:
        self._backend.begin(connection, max(job.durability for job in jobs))
        self._participant.begin(connection)
        for job in jobs:
            if job.bare:
                job.result = job.work(connection)
            else:
                self._attempt(connection, job)
        self._participant.prepare(connection)
        connection.commit()

    def _attempt(self, connection: Connection, job: _Job) -> None:
        mark = self._participant.mark(connection)
        savepoint = connection.begin_nested()
        try:
            job.result = job.work(connection)
        except Exception as error:  # noqa: BLE001 - it is the caller's, who gets it
            savepoint.rollback()
            self._participant.back_to(mark)
            self._is_refused |= isinstance(error, SQLAlchemyError)
            job.error = _ours(error)
        else:
            savepoint.commit()

    def _undo(self, jobs: Sequence[_Job], error: BaseException) -> None:
        log.error("store.batch_failed", jobs=len(jobs), error=str(_outage(error)))
        for job in jobs:
            job.error = _outage(error)
        self._start_over()

    def _start_over(self) -> None:
        """The next batch finds out for itself what is stored, on a new connection."""
        self._is_refused = False
        self._disconnect()
        self._participant.undone()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.close()
        except SQLAlchemyError as error:
            log.warning("store.close_failed", error=str(error))
        self._backend.disconnected()

    def _left_over(self) -> list[_Job]:
        jobs: list[_Job] = []
        while True:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                return jobs
            if job is not None:
                job.error = StoreUnavailable("the writer has stopped")
                jobs.append(job)

    def _tell(self, jobs: Sequence[_Job]) -> None:
        if jobs:
            self._loop.call_soon_threadsafe(_tell_all, jobs)


def _tell_all(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        job.tell()


def _ours(error: Exception) -> Exception:
    return _outage(error) if isinstance(error, SQLAlchemyError) else error


def _outage(error: BaseException) -> StoreUnavailable:
    match error:
        case StoreUnavailable():
            return StoreUnavailable(str(error))
        case SQLAlchemyError():
            return StoreUnavailable(cause(error))
        case _:
            return StoreUnavailable(f"the writer failed: {type(error).__name__}: {error}")
