"""The only writer to the database: a thread, or the event loop for what is quicker than waking the thread.

Rules kept here:
1. All jobs queued when the thread becomes free form one transaction; the thread never waits for more. On the loop, all
   jobs submitted in one iteration do, but for the first one of an iteration, if its caller expects no others.
2. A job is reported as done only after its transaction was committed with the requested durability, and the files were
   verified to be the ones that were opened.
3. A failed job rolls back only its own changes (savepoint). A `bare` job has no savepoint and must not fail; if it
   does, the whole batch fails.
4. If a transaction fails, every job in it fails with StoreUnavailable, and the next batch starts on a new connection.
   The same happens after a job that the database refused: the session may have become read-only.
5. The thread ends only on request; if it dies, every waiting or later caller gets an error.
6. The loop commits `bare` jobs that need not be synced, on a database where that is quick, and only while the thread is
   idle: so the order is kept, and never do both use the connection. If another program has locked the database, or a
   commit was slow a moment ago, the thread waits instead of the loop.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Protocol, TypeVar

import structlog
from anyio import to_thread
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import Backend, StoreLocked
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.jobs import Job, fail_all, job_error, report_all
from mcpguard.store.engine.shielded_wait import wait_until_done

T = TypeVar("T")
SLOW_SECONDS: Final = 0.01
"""A commit that takes longer is not waited for in the event loop again for a while."""
MANY: Final = 64
"""With so many jobs it may take twice as long, and so on."""
SLOW_FOR: Final = 1.0
SLOW_AT_FIRST: Final = 0.05
"""Seconds for which commits are left to the thread after a slow one: at first, and after many in a row. One alone may
have waited for the processor only."""
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


class Writer:
    """Runs jobs on the only writing connection, in the order in which they are submitted."""

    def __init__(self, backend: Backend, participant: Participant, batch: int) -> None:
        self._backend = backend
        self._participant = participant
        self._batch = batch
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._connection: Connection | None = None
        self._is_refused = False
        self._is_broken = False
        self._turn, self._is_turn_used = list[Job](), False
        self._in_thread = 0
        self._slow_until = 0.0
        self._slow_for = SLOW_AT_FIRST
        self._loop = asyncio.get_running_loop()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mcpguard-writer", daemon=True)
        self._thread.start()

    async def submit(
        self,
        work: Callable[[Connection], T],
        durability: Durability = Durability.COMMITTED,
        *,
        bare: bool = False,
        alone: bool = False,
    ) -> T:
        """Run `work` and return its result once it is stored. Raises StoreUnavailable, or what `work` raises. `alone`:
        nothing else is likely to be submitted in this turn of the loop."""
        if self._stopping.is_set():
            raise StoreUnavailable("the writer has stopped")
        job = Job(work, durability, bare, self._loop.create_future())
        if bare and durability is Durability.COMMITTED and self._backend.quick and not self._in_thread:
            self._turn.append(job)
            if len(self._turn) == 1:  # else it is committed together with what came before
                if alone and not self._is_turn_used:  # once in a turn, so that others can submit theirs
                    self._is_turn_used = True
                    self._loop.call_soon(setattr, self, "_is_turn_used", False)
                    self._commit_turn()
                else:
                    self._loop.call_soon(self._commit_turn)
        else:
            self._hand_over([job])
        if not job.future.done():
            await wait_until_done(job.future)
        result: T = job.future.result()
        return result

    @property
    def is_quick(self) -> bool:
        """Whether the event loop commits what is `bare` and need not be synced."""
        return self._backend.quick

    @property
    def waiting(self) -> int:
        """The number of queued jobs."""
        return self._queue.qsize() + len(self._turn)

    async def stop(self) -> None:
        """Run all queued jobs, then end the thread."""
        self._hand_over([])
        self._stopping.set()
        self._queue.put(None)
        await to_thread.run_sync(self._thread.join)

    def _hand_over(self, jobs: Sequence[Job]) -> None:
        """Queue these jobs for the thread, behind those that the loop has not committed yet."""
        jobs, self._turn = [*self._turn, *jobs], []
        self._in_thread += len(jobs)
        for job in jobs:
            self._queue.put(job)
        if self._stopping.is_set():  # the thread may have died, after its last look at the queue
            self._tell(self._left_over())

    def _commit_turn(self) -> None:
        """Commit on the loop what was submitted in this turn of it."""
        jobs = self._turn
        if not jobs:
            return  # handed over
        began = self._loop.time()
        if self._connection is None or self._is_broken or began < self._slow_until or len(jobs) > self._batch:
            self._hand_over([])
            return
        try:
            self._transact(self._connection, jobs, Durability.COMMITTED, wait=False)
            self._backend.still_there()  # what was committed to a file that had been exchanged is reported as failed
        except StoreLocked:
            self._hand_over([])  # no job has run
            return
        except BaseException as error:  # whatever it is, every waiting caller must get it
            self._turn = []
            self._give_up(jobs, error)
            report_all(jobs)
            if not isinstance(error, Exception):
                raise
            return
        self._turn = []
        self._participant.confirm()
        for job in jobs:  # each is bare: had one failed, all would have
            job.future.set_result(job.result)
        now = self._loop.time()
        if now - began > SLOW_SECONDS * (1 + len(jobs) / MANY):
            self._slow_until = now + self._slow_for
            self._slow_for = min(2 * self._slow_for, SLOW_FOR)
        else:
            self._slow_for = SLOW_AT_FIRST

    def _give_up(self, jobs: Sequence[Job], error: BaseException) -> None:
        """Undo a transaction that failed on the loop. The thread opens a new connection, which can take long."""
        fail_all(jobs, error)
        self._is_broken = True
        self._participant.discard()
        if self._connection is not None:
            with suppress(SQLAlchemyError, sqlite3.Error):
                self._backend.roll_back(self._connection)

    def _run(self) -> None:
        try:
            while (jobs := self._next()) is not None:
                self._carry_out(jobs)
                del jobs  # the next ones may be long in coming, and what these hold is to be freed
        finally:
            self._stopping.set()
            self._disconnect()
            self._tell(self._left_over())

    def _next(self) -> list[Job] | None:
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

    def _carry_out(self, jobs: list[Job]) -> None:
        try:
            if self._is_broken:
                self._disconnect()
            if self._connection is None:
                self._connection = self._backend.connect()
            self._backend.still_there()
            self._transact(self._connection, jobs, max(job.durability for job in jobs), wait=True)
            self._backend.still_there()
        except BaseException as error:  # whatever it is, every waiting caller must get it
            fail_all(jobs, error)
            self._start_over()
            if not isinstance(error, Exception):
                raise
        else:
            self._participant.confirm()
            if self._is_refused:
                self._start_over()
        finally:
            self._tell(jobs)

    def _transact(self, connection: Connection, jobs: Sequence[Job], durability: Durability, *, wait: bool) -> None:
        self._backend.begin(connection, durability, wait=wait)
        self._participant.begin(connection)
        for job in jobs:
            if job.bare:
                job.result = job.work(connection)
            else:
                self._attempt(connection, job)
        self._participant.prepare(connection)
        self._backend.commit(connection)

    def _attempt(self, connection: Connection, job: Job) -> None:
        mark = self._participant.mark(connection)
        savepoint = connection.begin_nested()
        try:
            job.result = job.work(connection)
        except Exception as error:  # noqa: BLE001 - it is raised to the caller
            savepoint.rollback()
            self._participant.return_to(mark)
            self._is_refused |= isinstance(error, SQLAlchemyError | sqlite3.Error)
            job.error = job_error(error)
        else:
            savepoint.commit()

    def _start_over(self) -> None:
        """Close the connection. The next batch reads what is stored on a new one."""
        self._is_refused = False
        self._disconnect()
        self._participant.discard()

    def _disconnect(self) -> None:
        connection, self._connection, self._is_broken = self._connection, None, False
        if connection is None:
            return
        try:
            connection.close()
        except SQLAlchemyError as error:
            log.warning("store.close_failed", error=str(error))
        self._backend.note_disconnect()

    def _left_over(self) -> list[Job]:
        jobs: list[Job] = []
        while True:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                return jobs
            if job is not None:
                job.error = StoreUnavailable("the writer has stopped")
                jobs.append(job)

    def _tell(self, jobs: Sequence[Job]) -> None:
        if jobs:
            self._loop.call_soon_threadsafe(self._told, jobs)

    def _told(self, jobs: Sequence[Job]) -> None:
        self._in_thread -= len(jobs)
        report_all(jobs)
