"""Waiting for something that will happen whether or not anyone waits."""

import asyncio
from functools import partial
from typing import TypeVar

import anyio

T = TypeVar("T")


async def settled(future: "asyncio.Future[T]") -> T:
    """The result of `future`, however often the waiting task is cancelled meanwhile.

    What was handed to the writer will be carried out, so its caller must learn what became of it. A cancellation
    that came while it waited is not lost: it is delivered at the next thing the task waits for.
    """
    task = asyncio.current_task()
    swallowed = 0
    with anyio.CancelScope(shield=True):
        while not future.done():
            try:
                await _done(future)
            except asyncio.CancelledError:  # by asyncio itself (a server that ends its tasks), which no scope shields
                swallowed += 1
    if task is not None:
        for _ in range(swallowed):
            task.uncancel()
            task.cancel()
    return future.result()


def _done(future: "asyncio.Future[T]") -> "asyncio.Future[None]":
    """What `asyncio.wait` does for one future, at half its cost: something to wait for that may be cancelled."""
    waiter = future.get_loop().create_future()
    future.add_done_callback(partial(_wake, waiter))
    return waiter


def _wake(waiter: "asyncio.Future[None]", _: "asyncio.Future[T]") -> None:
    if not waiter.done():
        waiter.set_result(None)
