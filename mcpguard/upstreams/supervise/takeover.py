"""How a connection to a server takes the place of another one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TakingOver:
    """What comes `before` calls may use it, once it is listed, and what at the moment from which they do."""

    before: Callable[[], Awaitable[None]]
    now: Callable[[], None]
