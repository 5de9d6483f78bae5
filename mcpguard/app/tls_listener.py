"""Takes connections and agrees on TLS with whoever made them.

Rules kept here:
1. Whoever connects and does not agree in time is cut off. There are no more of them at once than there may be
   connections: then the one that has waited longest is cut off, so that nobody can lock others out.
2. What goes wrong with one connection, or with taking one, ends no other.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

_CLOSING_SECONDS: Final = 5.0
_PAUSE: Final = 0.1
"""Seconds after which taking a connection is tried again, as when there are too many open files."""
log = structlog.get_logger("mcpguard")


class TlsListener:
    """Takes the connections of one socket. `most`: agrees with so many at once; `seconds`: how long each may take."""

    def __init__(
        self,
        bound: socket.socket,
        make: Callable[[], asyncio.Protocol],
        context: ssl.SSLContext,
        *,
        most: int,
        seconds: float,
    ) -> None:
        self._bound = bound
        self._make = make
        self._context = context
        self._most = most
        self._seconds = seconds
        self._agreeing: dict[asyncio.Task[None], None] = {}
        """In the order in which they have come."""
        self._loop = asyncio.get_running_loop()
        self._taking = self._loop.create_task(self._take())

    def close(self) -> None:
        """Take no more connections, and agree with nobody else."""
        for task in (self._taking, *self._agreeing):
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until nothing of this runs any more."""
        await asyncio.gather(self._taking, *self._agreeing, return_exceptions=True)

    async def _take(self) -> None:
        self._bound.setblocking(False)
        while True:
            try:
                taken, _ = await self._loop.sock_accept(self._bound)
            except OSError as error:
                log.warning("tls.not_taken", why=str(error))
                await asyncio.sleep(_PAUSE)
                continue
            if len(self._agreeing) >= self._most:
                oldest = next(iter(self._agreeing))
                oldest.cancel()
                del self._agreeing[oldest]
            task = self._loop.create_task(self._agree(taken))
            self._agreeing[task] = None
            task.add_done_callback(lambda ended: self._agreeing.pop(ended, None))

    async def _agree(self, taken: socket.socket) -> None:
        is_agreed = False
        try:
            await self._loop.connect_accepted_socket(
                self._make,
                taken,
                ssl=self._context,
                ssl_handshake_timeout=self._seconds,
                ssl_shutdown_timeout=_CLOSING_SECONDS,
            )
            is_agreed = True
        except OSError as error:
            log.debug("tls.refused", why=str(error))
        finally:
            if not is_agreed:
                with suppress(OSError):
                    taken.close()
