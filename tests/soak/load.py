"""The clients: each takes a seat, plays some acts, often several at once, leaves, and comes back.

All that a client does is drawn from dice of its own, so it does not depend on how the others fare.
"""

import random
from dataclasses import dataclass

import anyio

from tests.soak.acts import ACTS
from tests.soak.seat import Seat
from tests.soak.sitting import sitting
from tests.soak.ways import HOWS, House

MOST_HANDS = 3
WEIGHTS = [act.often for act in ACTS]


@dataclass
class Load:
    """So many clients, until `stop` is set; then each ends what it is doing and leaves."""

    house: House
    clients: int
    seed: str
    pause: float
    stop: anyio.Event

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(self.clients):
                tasks.start_soon(self._client, number, name=f"client {number}")

    async def _client(self, number: int) -> None:
        dice = random.Random(f"{self.seed} client {number}")  # noqa: S311 - no secret
        how = HOWS[number % len(HOWS)]
        visits = 0
        while not self.stop.is_set():
            visits += 1
            async with sitting(self.house, how, f"{number}.{visits}", dice) as seat:
                await self._visit(seat, dice)

    async def _visit(self, seat: Seat, dice: random.Random) -> None:
        """Everything is played to its end, or broken off at some moment."""
        rounds = dice.randrange(5, 40)
        seat.hasty = dice.random() < 0.3
        with anyio.move_on_after(dice.uniform(0.1, 2.0) if seat.hasty else None):
            async with anyio.create_task_group() as hands:
                for hand in range(dice.randint(1, MOST_HANDS)):
                    own = random.Random(dice.random())  # noqa: S311 - no secret
                    hands.start_soon(self._play, seat, own, rounds, name=f"hand {hand}")

    async def _play(self, seat: Seat, dice: random.Random, rounds: int) -> None:
        for _ in range(rounds):
            if self.stop.is_set():
                return
            (act,) = dice.choices(ACTS, WEIGHTS)
            await act.play(seat)
            await anyio.sleep(dice.uniform(0, self.pause))  # people and models think
