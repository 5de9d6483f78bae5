"""The main table: a server made with the official SDK, by itself, behind mcpguard, and behind the proxy that most use.

Rules kept here:
1. All run at the same time. Those that are compared take turns of a fraction of a second, forwards and then backwards;
   in its turn a contender is the only one that is called. The first round is for warming up.
2. mcpguard has everything on: ledger, kept bodies, screening, secrets, schemas, and budgets that are counted.
3. Every call that a guard answered must be in its ledger.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import Final

import anyio
import psutil  # type: ignore[import-untyped]  # no stubs are among the dependencies

from tests.benchmarks.gateway import others, ours
from tests.benchmarks.gateway.client import Client
from tests.benchmarks.gateway.contender import SDK, CannotRun, Contender, Way
from tests.benchmarks.gateway.loads import loaded
from tests.benchmarks.gateway.processes import between, cpu_seconds
from tests.benchmarks.gateway.running import Running, running
from tests.benchmarks.gateway.speech import Era
from tests.benchmarks.gateway.turns import Taken, Turn, rows
from tests.benchmarks.report import Row, Sheet

CALLERS: Final = (1, 16)
TURN_SECONDS: Final = 0.2
LEAST_ROUNDS: Final = 3
_TOOLS: Final = 2
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Entrant:
    """A contender that is started once, and the eras of its clients."""

    contender: Contender
    eras: tuple[Era, ...]


@dataclass
class _Started:
    """An entrant that runs, its folder, how many records its ledger had, and the calls it has answered since."""

    now: Running
    eras: tuple[Era, ...]
    folder: Path
    records: int
    answered: int = 0

    def takes(self, upstream: Way, era: Era) -> bool:
        return self.now.contender.upstream is upstream and era in self.eras


@dataclass
class _Lane:
    """A contender with its callers, who stay connected."""

    now: Running
    era: Era
    clients: Sequence[Client]
    gateway: Sequence[psutil.Process]
    upstreams: Sequence[psutil.Process]
    turns: list[Turn] = field(default_factory=list)

    async def turn(self, say: Say) -> Turn:
        gateway, upstreams = cpu_seconds(self.gateway), cpu_seconds(self.upstreams)
        own, began = time.process_time(), time.perf_counter()
        load = await loaded(self.now.tool, self.clients, TURN_SECONDS)
        elapsed, own = time.perf_counter() - began, time.process_time() - own
        for why in load.why:
            say(f"{self.now.contender.name} ({self.now.eras(self.era)}), {len(self.clients)} callers: {why}")
        around = own + between(upstreams, cpu_seconds(self.upstreams))
        return Turn(load.answered, elapsed, between(gateway, cpu_seconds(self.gateway)), around, load.failed)

    def taken(self) -> Taken:
        contender = self.now.contender
        of: dict[str, str | int] = {
            "gateway": contender.name,
            "upstream": contender.upstream.value,
            "eras": self.now.eras(self.era),
        }
        return Taken(of, (contender.upstream, self.era), contender.is_gateway, self.turns[1:])


def entrants(proxies: Sequence[Contender]) -> list[Entrant]:
    """The server over both ways, mcpguard in front of it, and these proxies. A pair of streams has one era."""
    both = tuple(Era)
    direct = Contender("direct", Way.HTTP, Way.HTTP, Era.HANDSHAKE, ours.directly, is_gateway=False)
    found = [Entrant(direct, both)]
    for era in both:
        direct = Contender("direct", Way.STDIO, Way.STDIO, era, ours.directly, is_gateway=False)
        found.append(Entrant(direct, (era,)))
    launch = partial(ours.served, budget=ours.COUNTED)
    guards = [Contender(ours.SERVED, Way.HTTP, way, Era.HANDSHAKE, launch, ours=True) for way in Way]
    return [*found, *(Entrant(guard, both) for guard in guards), *(Entrant(proxy, (proxy.era,)) for proxy in proxies)]


def sheets(folder: Path, rounds: int, say: Say, only: str = "", within: float = inf) -> Iterator[Sheet]:
    """A table for each number of callers.

    `only` leaves out the gateways that do not have it in their names. On a machine that cannot start everyone and take
    so many rounds `within` these seconds, there are fewer rounds.
    """
    began = time.perf_counter()
    found, missing = others.proxies() if only in others.PROXY else ([], [])
    for sentence in missing:
        say(sentence)
    everyone = [one for one in entrants(found) if only in one.contender.name or not one.contender.is_gateway]
    if not any(one.contender.is_gateway for one in everyone):
        return
    measured = partial(measure, folder, everyone, rounds, say, began + within)
    rows_of: dict[int, list[Row]] = anyio.run(measured, backend_options={"use_uvloop": True})
    count = rounds if within == inf else f"at most {rounds}"
    about = (
        f"median of {count} rounds with turns of {TURN_SECONDS} s; a server made with the official SDK; cpu: of the "
        "gateway, around cpu: of client and upstream, both per call; p50 to direct: divided by that without a gateway "
        "in the same round; cpu to direct: divided by the processor time of client and upstream without a gateway"
    )
    for callers in CALLERS:
        yield Sheet(f"gateway, server of the SDK, callers: {callers}", about, rows_of[callers])


async def measure(
    folder: Path, everyone: Sequence[Entrant], rounds: int, say: Say, end: float = inf
) -> dict[int, list[Row]]:
    """Start everyone, and return the rows by the number of callers."""
    async with AsyncExitStack() as stack:
        started = [one for entrant in everyone if (one := await _started(stack, entrant, folder, say)) is not None]
        found: dict[int, list[Taken]] = {callers: [] for callers in CALLERS}
        groups = [(callers, upstream, era) for callers in CALLERS for upstream in Way for era in Era]
        for number, (callers, upstream, era) in enumerate(groups):
            group = [one for one in started if one.takes(upstream, era)]
            share = (end - time.perf_counter()) / (len(groups) - number)
            found[callers] += [lane.taken() for lane in await _lanes(group, callers, era, rounds, say, share)]
        for one in started:
            if one.now.contender.ours:
                ours.check_ledger(one.folder, one.records, one.answered)
        return {callers: [*rows(taken)] for callers, taken in found.items()}


async def _started(stack: AsyncExitStack, entrant: Entrant, folder: Path, say: Say) -> _Started | None:
    own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mcpguard-benchmark-", dir=folder)))
    contender = entrant.contender
    try:
        now = await stack.enter_async_context(running(contender, own, 1, _TOOLS, SDK))
    except CannotRun as why:
        if contender.ours or not contender.is_gateway:
            raise
        say(f"{contender.name} is left out: {why}")
        return None
    return _Started(now, entrant.eras, own, ours.records(own) if contender.ours else 0)


async def _lanes(
    group: Sequence[_Started], callers: int, era: Era, rounds: int, say: Say, seconds: float
) -> list[_Lane]:
    """What is compared with each other, after all its turns: as many rounds as fit into that time."""
    end = time.perf_counter() + seconds
    async with AsyncExitStack() as stack:
        lanes = []
        for one in group:
            clients = await stack.enter_async_context(one.now.clients(callers, era))
            lanes.append(_Lane(one.now, era, clients, one.now.gateway(), one.now.upstreams()))
        for number in range(rounds + 1):
            for lane in lanes if number % 2 else reversed(lanes):
                lane.turns.append(await lane.turn(say))
            if number >= LEAST_ROUNDS and time.perf_counter() > end:
                break
    for one, lane in zip(group, lanes, strict=True):
        one.answered += sum(len(turn.answered) for turn in lane.turns)
    return lanes
