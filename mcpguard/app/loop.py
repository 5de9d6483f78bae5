"""The event loop of the guard, which does not wake a future that is already done.

A task that waits for a socket is woken through a future, and may be cancelled at the moment when the socket becomes
ready. The future is then done, and setting its result again is a harmless error, which the loop would log whenever a
client disconnects while data arrives (anyio's sockets by path and by descriptor).
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVarTuple, Unpack

import uvloop

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

Given = TypeVarTuple("Given")


class _Loop(uvloop.Loop):
    def add_reader(self, fd: "FileDescriptorLike", callback: Callable[[Unpack[Given]], Any], *args: *Given) -> None:
        super().add_reader(fd, _unless_done(callback), *args)

    def add_writer(self, fd: "FileDescriptorLike", callback: Callable[[Unpack[Given]], Any], *args: *Given) -> None:
        super().add_writer(fd, _unless_done(callback), *args)


def new_event_loop() -> asyncio.AbstractEventLoop:
    return _Loop()


def _unless_done(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Return a callback that wakes a future only while it waits; any other callback unchanged."""
    future = getattr(callback, "__self__", None)
    if not isinstance(future, asyncio.Future):
        return callback

    def wake(*args: object) -> None:
        if not future.done():
            callback(*args)

    return wake
