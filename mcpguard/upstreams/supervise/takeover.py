"""The steps in which one connection to a server replaces another."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TakingOver:
    """`before` is awaited once the new connection is listed, and `now` is called when calls begin to use it."""

    before: Callable[[], Awaitable[None]]
    now: Callable[[], None]
