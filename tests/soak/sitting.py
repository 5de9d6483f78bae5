"""Taking a seat at the guard, and leaving it again."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from tests.simulators.words import Json
from tests.soak.seat import Seat
from tests.soak.ways import Client, House, How, Over, WholeHttpClient, connected


@asynccontextmanager
async def sitting(house: House, how: How, name: str, dice: random.Random) -> AsyncIterator[Seat]:
    """A seat, ready to ask from. It is left as the block is: properly, or in the middle of everything."""
    only = dice.choice(house.servers) if how.alone else None
    async with connected(house, how, only) as client:
        seat = _seat(client, house, how, name, only, dice)
        try:
            yield seat
        finally:
            if isinstance(client, WholeHttpClient):
                with anyio.CancelScope(shield=True):
                    await _leave(client, house, seat)
            seat.look_back()


def _seat(client: Client, house: House, how: How, name: str, only: str | None, dice: random.Random) -> Seat:
    client.on["elicitation/create"] = _token
    return Seat(
        client=client,
        name=f"{how} {name}".replace(" ", "-"),
        over_http=how.over is Over.HTTP,
        only=only,
        servers=house.servers,
        dice=dice,
        book=house.book,
        everything=house.everything and only is None,
    )


def _token(question: Json) -> Json:
    """The token that the question names."""
    return {"action": "accept", "content": {"token": question["message"].rpartition(" ")[2]}}


async def _leave(client: WholeHttpClient, house: House, seat: Seat) -> None:
    """Where a call hangs for ever, or the client is polite, it ends its session."""
    if seat.modern or client.session is None:
        return
    if seat.hanging or seat.dice.random() < 0.7:
        status = (await client.end()).status
        house.book.check(status == 200, f"{seat.name} could not end its session: {status}")
    else:
        house.vanished.append((client.url, client.session))
