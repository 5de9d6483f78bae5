"""Killing a server every now and then."""

import random

import anyio

from tests.soak.book import Book
from tests.soak.fleet import Fleet


async def killing(fleet: Fleet, guard: int, pauses: tuple[float, float], dice: random.Random, book: Book) -> None:
    """Until cancelled: all servers in some order, then in another one."""
    while True:
        for name in dice.sample(fleet.names, len(fleet.names)):
            await anyio.sleep(dice.uniform(*pauses))  # the time between two accidents
            if fleet.kill(name, guard):
                book.kills[name] += 1
