"""Whoever made a call, while it runs: what a server may say to them meanwhile."""

from collections.abc import Mapping
from typing import Any, Protocol


class Counterpart(Protocol):
    """The client at the other end of one call. Nothing here waits: a slow client holds up nobody but itself."""

    @property
    def name(self) -> str:
        """What the client calls itself; nothing rests on it."""
        ...

    @property
    def wants_progress(self) -> bool: ...

    @property
    def log_level(self) -> str | None:
        """The least severe message that it wants to see, if any."""
        ...

    def progress(self, params: Mapping[str, Any]) -> None: ...

    def log(self, params: Mapping[str, Any]) -> None: ...
