"""The event loop that everything runs on.

Whoever waits for a socket is woken by the result of a future, and may stop waiting in the moment in which the socket is
ready. Then the future is done, and waking it once more is an error that means nothing, and is logged by the loop for
whoever disconnects while something comes (anyio's sockets by path and by descriptor). It is not woken here.
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
    """What wakes a future, as long as it waits; everything else as it is."""
    future = getattr(callback, "__self__", None)
    if not isinstance(future, asyncio.Future):
        return callback

    def wake(*args: object) -> None:
        if not future.done():
            callback(*args)

    return wake
