"""Bounds the calls that wait for the first connection to a server.

Rules kept here:
1. For one server, a caller may have as many waiting calls as the server works on at once, and all callers together as
   many as its queue holds. Further calls are refused.
2. A call waits no longer than its own timeout, nor than the first connection attempt.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from mcpguard.policy.shares import Shares
from mcpguard.settings.model import Upstreams


class FirstConnections:
    """The places for calls that wait for the first connection, by server."""

    def __init__(self, settings: Upstreams) -> None:
        self._settings = settings
        self._waiting: dict[str, Shares] = {}

    @contextmanager
    def place(self, server: str, caller: str) -> Iterator[None]:
        """Take a place while the block runs. Raises Crowded where there is none."""
        settings = self._settings
        shares = self._waiting.setdefault(server, Shares(settings.concurrency, settings.queue))
        try:
            with shares.take(caller):
                yield
        finally:
            # Not kept for names that nobody waits for, so that they cannot pile up.
            if not shares.taken:
                self._waiting.pop(server, None)

    def seconds(self, own: float | None) -> float:
        """How long a call may wait for a server whose calls have a time limit of their own, or none."""
        return own or self._settings.call_seconds
