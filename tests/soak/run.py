"""A soak from beginning to end.

    start → approve → look → warm up → look → load, kills → quiet → look → stop with everything open → read the ledger

Rules kept here:
1. The guard is looked at when nobody is connected: as it started (`fresh`), and that is how it has to be again after
   the warm-up and at the end, in tasks, descriptors, children and sessions. Its memory is compared with `warm`.
2. Nothing is waited for by the clock but the load itself. What should come to pass is waited for, and blamed if it
   does not.
"""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from mcpguard.app.places import agents_socket
from tests.process import Served, approve, serving, until, whole
from tests.soak import records
from tests.soak.acts import ACTS
from tests.soak.book import Book
from tests.soak.fleet import EVERYTHING, MARK, Fleet, configured, fleet
from tests.soak.killing import killing
from tests.soak.load import Load
from tests.soak.measuring import Figures, Inside, figures
from tests.soak.open_end import Open, everything_open
from tests.soak.report import Report
from tests.soak.ways import House
from tests.soak.words import MAY_ASK

GUARDED = (sys.executable, "-m", "tests.soak.guarded")
LAST_WORDS = 1500
SETTINGS = {
    "log": {"format": "json"},
    "limits": {"stop_seconds": 4},
    "anonymous": {"effects": ["read", "write", "destructive"]},
    # Clients answer at once, or have left: those are not waited for until the quiet spell is over.
    "asking": {"answer_seconds": 5},
    # As many calls as the machine can make, all of them anonymous.
    "budgets": {"caller_minute": 0, "capability_minute": 0, "at_once": 0},
    "upstreams": {
        "networks": ["127.0.0.0/8"],
        "retry_seconds": 0.1,
        "retry_most_seconds": 0.5,
        "health_seconds": 1,
        "concurrency": 8,
        "queue": 12,
    },
}


@dataclass(frozen=True)
class Plan:
    """How long, how much, and from which seed. The load lasts longer where something has not happened by then."""

    seconds: float
    seed: int
    clients: int = 16
    warm_seconds: float = 10.0
    kill_pauses: tuple[float, float] = (2.0, 5.0)
    pause: float = 0.1


class Soak:
    """A guard in front of a fleet, and everything that is done with it."""

    def __init__(self, plan: Plan, servers: Fleet, guard: Served, report: Report) -> None:
        self._plan = plan
        self._fleet = servers
        self._guard = guard
        self._report = report
        self._book = report.book
        assert isinstance(guard.process, subprocess.Popen), "it is asked on its standard input"
        self._inside = Inside(guard.process)
        everything = EVERYTHING in servers.names
        self._house = House(
            guard.url, agents_socket(guard.data_dir), guard.data_dir, servers.simulated, everything, self._book
        )

    async def run(self) -> None:
        """All of it, up to the guard's end. What goes wrong early is not made worse."""
        await to_thread.run_sync(self._approve)
        await self._wait(lambda: not self._look().more_than(self._look()), "all servers are ready")
        self._report.fresh = fresh = self._look()
        await self._load(self._plan.warm_seconds, f"{self._plan.seed} warm", lambda: True)
        self._report.warm = await self._quiet(fresh)
        if not self._book.wrongs:
            await self._soak(fresh)
        self._check_log()
        if self._book.wrongs:
            await self._stop()
            return
        async with everything_open(self._house) as many:
            await self._wait(lambda: self._is_open(many), "a call and a stream are open from every kind of client")
            await self._stop()

    def _approve(self) -> None:
        """A person lets agents use the servers, once: whatever is killed later comes back as what was approved."""
        for name, entry in self._fleet.entries().items():
            give = [MARK] if MARK in entry.get("env", ()) else []
            approve(self._guard.data_dir, name, give=give, may_ask=["elicitation"] if name in MAY_ASK else [])

    async def _soak(self, fresh: Figures) -> None:
        report = self._report
        objects = await to_thread.run_sync(self._inside.objects)
        connected, began = self._connected(), time.monotonic()
        self._book.restart()
        await self._load(self._plan.seconds, f"{self._plan.seed}", self._has_seen_everything)
        report.seconds = time.monotonic() - began
        report.end = await self._quiet(fresh)
        report.grown = await to_thread.run_sync(self._inside.objects) - objects
        report.connected = self._connected() - connected

    async def _stop(self) -> None:
        """It ends with another code than 0 where that takes longer than it may."""
        began = time.monotonic()
        self._guard.signal(signal.SIGTERM)
        code = await to_thread.run_sync(self._guard.ended)
        self._report.stopped = code, time.monotonic() - began

    async def _load(self, seconds: float, seed: str, enough: Callable[[], bool]) -> None:
        plan, stop = self._plan, anyio.Event()
        dice = random.Random(f"{seed} kills")  # noqa: S311 - no secret
        load = Load(self._house, plan.clients, seed, plan.pause, stop)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(killing, self._fleet, self._guard.pid, plan.kill_pauses, dice, self._book)
            async with anyio.create_task_group() as clients:
                clients.start_soon(load.run, name="load")
                await anyio.sleep(seconds)  # this is the soak
                await self._wait(enough, "everything has happened at least once")
                self._report.busy = self._look()
                stop.set()
            tasks.cancel_scope.cancel()
        await self._house.end_vanished()

    def _has_seen_everything(self) -> bool:
        played = [act for act in ACTS if act.name != EVERYTHING or self._house.everything]
        seen = all(self._book.ended[act.name, act.ends] for act in played)
        return seen and set(self._book.kills) == set(self._fleet.names)

    async def _quiet(self, as_at: Figures) -> Figures:
        """How the guard is as soon as nothing is left of what its clients did, or after long enough."""
        await self._wait(lambda: not self._look().more_than(as_at), "the guard is as it was before")
        found = self._look()
        left = found.more_than(as_at)
        self._book.check(not left, f"something is left: {left}")
        return found

    def _is_open(self, many: Open) -> bool:
        look = self._look()
        return (look.entries, look.streams, look.subscriptions) == (many.calls, many.streams, many.subscriptions)

    def _look(self) -> Figures:
        return figures(self._guard.pid, self._inside)

    def _connected(self) -> Counter[str]:
        """How often each server has come to be ready."""
        found: Counter[str] = Counter()
        states: dict[str, str] = {}
        for line in self._guard.logged("upstream"):
            name, state = line["server"], line["state"]
            found[name] += state == "ready" != states.get(name)
            states[name] = state
        return found

    def _check_log(self) -> None:
        for line in self._guard.log:
            why = line.pop("exception", "")
            self._book.check(line["level"] != "error", f"the guard's log says: {line} {why[-LAST_WORDS:]}")

    async def _wait(self, condition: Callable[[], bool], what: str) -> None:
        try:
            await to_thread.run_sync(partial(until, condition, what))
        except AssertionError as error:
            self._book.blame(str(error))


async def soak(plan: Plan, folder: Path) -> Report:
    """Everything, in this folder. What is wrong is in the report's book."""
    with fleet() as servers:
        report = Report(plan.seed, plan.clients, Book(), servers.names, servers.missing)
        config = configured(servers, SETTINGS, folder)
        data_dir = folder / "data"
        with serving(data_dir, "--config", str(config), command=GUARDED, stdin=subprocess.PIPE) as guard:
            await Soak(plan, servers, guard, report).run()
        _check_afterwards(servers, data_dir, report)
    return report


def _check_afterwards(servers: Fleet, data_dir: Path, report: Report) -> None:
    book = report.book
    book.check(report.stopped[0] == 0, f"the guard ended with {report.stopped[0]}")
    book.check(not (left := servers.left()), f"processes are left: {left}")
    entries, report.records = records.kept(data_dir / "mcpguard.db")
    records.compare(entries, book)
    book.check(whole(data_dir), "`mcpguard audit verify` says that the audit log is not whole")
