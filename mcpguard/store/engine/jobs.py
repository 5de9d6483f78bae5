"""The jobs that become one transaction, and what their callers are told."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import cause
from mcpguard.store.engine.durability import Durability

log = structlog.get_logger("mcpguard.store")


@dataclass(slots=True)
class Job:
    """One piece of work in a transaction, and the future that its caller waits for."""

    work: Callable[[Connection], Any]
    durability: Durability
    bare: bool
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


def report_all(jobs: Iterable[Job]) -> None:
    """Give every caller the result of its job, or the error. Only on the event loop."""
    for job in jobs:
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.result)


def fail_all(jobs: Sequence[Job], error: BaseException) -> None:
    """Have every job of a transaction that failed end with the same error."""
    log.error("store.batch_failed", jobs=len(jobs), error=str(outage(error)))
    for job in jobs:
        job.error = outage(error)


def job_error(error: Exception) -> Exception:
    """Return the error as the caller of a job gets it."""
    return outage(error) if isinstance(error, SQLAlchemyError | sqlite3.Error) else error


def outage(error: BaseException) -> StoreUnavailable:
    """Return the error for whoever has a job in a transaction that failed."""
    match error:
        case StoreUnavailable():
            return StoreUnavailable(str(error))
        case SQLAlchemyError():
            return StoreUnavailable(cause(error))
        case sqlite3.Error():
            return StoreUnavailable(str(error))
        case _:
            return StoreUnavailable(f"the writer failed: {type(error).__name__}: {error}")
