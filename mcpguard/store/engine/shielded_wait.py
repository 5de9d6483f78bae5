"""Waits for a result that comes in any case, whatever cancels the waiting task meanwhile."""

import asyncio
from functools import partial
from typing import Final, TypeVar

import anyio

T = TypeVar("T")
_BY_A_SCOPE: Final = "Cancelled via cancel scope "
"""How the message of a cancellation begins that a scope of anyio delivers."""


async def wait_until_done(future: "asyncio.Future[T]") -> T:
    """Return the result of `future`, however often the waiting task is cancelled meanwhile.

    A submitted job will run, so its caller must learn the result. A cancellation that arrives meanwhile is not lost: it
    is delivered when the task waits next.
    """
    # A plain call is not cancelled, and is spared the scope that would keep cancellations away.
    try:
        if not future.done():
            await _done(future)
    except asyncio.CancelledError as error:
        await _shielded(future, error)
    return future.result()


async def _shielded(future: "asyncio.Future[T]", first: asyncio.CancelledError) -> None:
    # A cancelled scope cancels again, as soon as nothing shields the task.
    swallowed = 0 if _is_of_a_scope(first) else 1
    with anyio.CancelScope(shield=True):
        while not future.done():
            try:
                await _done(future)
            except asyncio.CancelledError:  # by asyncio, as at its end; no scope shields
                swallowed += 1
    task = asyncio.current_task()
    if task is not None:
        for _ in range(swallowed):
            task.uncancel()
            task.cancel()


def _is_of_a_scope(error: asyncio.CancelledError) -> bool:
    return bool(error.args) and str(error.args[0]).startswith(_BY_A_SCOPE)


def _done(future: "asyncio.Future[T]") -> "asyncio.Future[None]":
    """Return a cancellable future that is done with `future`: `asyncio.wait` for one future, at half the cost."""
    waiter = future.get_loop().create_future()
    future.add_done_callback(partial(_wake, waiter))
    return waiter


def _wake(waiter: "asyncio.Future[None]", _: "asyncio.Future[T]") -> None:
    if not waiter.done():
        waiter.set_result(None)
