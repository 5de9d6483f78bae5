"""The single thread that writes to the database.

Rules kept here:
1. All jobs queued when the thread becomes free form one transaction; the thread never waits for more.
2. A job is reported as done only after its transaction was committed with the requested durability, and the files were
   verified to be the ones that were opened.
3. A failed job rolls back only its own changes (savepoint). A `bare` job has no savepoint and must not fail; if it
   does, the whole batch fails.
4. If a transaction fails, every job in it fails with StoreUnavailable, and the next batch starts on a new connection.
   The same happens after a job that the database refused: the session may have become read-only.
5. The thread ends only on request; if it dies, every waiting or later caller gets an error.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import anyio
import structlog
from anyio import to_thread
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import Backend, cause
from mcpguard.store.engine.durability import Durability

T = TypeVar("T")
log = structlog.get_logger("mcpguard.store")


class Participant(Protocol):
    """State in memory that has to follow the transaction. Called on the writer's thread."""

    def begin(self, connection: Connection) -> None:
        """Prepare for a batch in a new transaction."""
        ...

    def mark(self, connection: Connection) -> object:
        """Write what is pending, and return the current state for `return_to`."""
        ...

    def return_to(self, mark: object) -> None:
        """Return to a state: the job since then was rolled back."""
        ...

    def prepare(self, connection: Connection) -> None:
        """Write what is pending: the commit follows."""
        ...

    def confirm(self) -> None:
        """Note that the batch is stored."""
        ...

    def discard(self) -> None:
        """Forget everything that is not certainly stored: the batch failed, or the connection ended."""
        ...


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
    """Runs jobs on the only writing connection, in the order in which they are submitted."""

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
        """Run `work` and return its result once it is stored. Raises StoreUnavailable, or what `work` raises."""
        if self._stopping.is_set():
            raise StoreUnavailable("the writer has stopped")
        job = _Job(work, durability, bare, self._loop.create_future())
        self._queue.put(job)
        if self._stopping.is_set():  # the thread may have died in between, after its last look at the queue
            self._tell(self._left_over())
        result: T = await wait_until_done(job.future)
        return result

    @property
    def waiting(self) -> int:
        """The number of queued jobs."""
        return self._queue.qsize()

    async def stop(self) -> None:
        """Run all queued jobs, then end the thread."""
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
                self._queue.put(None)  # stop after this batch; nothing was accepted behind the marker
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
        except BaseException as error:  # whatever it is, every waiting caller must get it
            self._undo(jobs, error)
            if not isinstance(error, Exception):
                raise
        else:
            self._participant.confirm()
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
        except Exception as error:  # noqa: BLE001 - it is raised to the caller
            savepoint.rollback()
            self._participant.return_to(mark)
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
        """Close the connection. The next batch reads what is stored on a new one."""
        self._is_refused = False
        self._disconnect()
        self._participant.discard()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.close()
        except SQLAlchemyError as error:
            log.warning("store.close_failed", error=str(error))
        self._backend.note_disconnect()

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


async def wait_until_done(future: "asyncio.Future[T]") -> T:
    """Return the result of `future`, however often the waiting task is cancelled meanwhile.

    A submitted job will run, so its caller must learn the result. A cancellation that arrives meanwhile is not lost: it
    is delivered when the task waits next.
    """
    task = asyncio.current_task()
    swallowed = 0
    with anyio.CancelScope(shield=True):
        while not future.done():
            try:
                await _done(future)
            except asyncio.CancelledError:  # by asyncio, as at its end; no scope shields
                swallowed += 1
    if task is not None:
        for _ in range(swallowed):
            task.uncancel()
            task.cancel()
    return future.result()


def _done(future: "asyncio.Future[T]") -> "asyncio.Future[None]":
    """Return a cancellable future that is done with `future`: `asyncio.wait` for one future, at half the cost."""
    waiter = future.get_loop().create_future()
    future.add_done_callback(partial(_wake, waiter))
    return waiter


def _wake(waiter: "asyncio.Future[None]", _: "asyncio.Future[T]") -> None:
    if not waiter.done():
        waiter.set_result(None)
