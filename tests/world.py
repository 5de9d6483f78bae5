"""A whole guard in one process: the real one, with a clock that the test owns. Nothing of ours is simulated."""

import functools
import itertools
import json
import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from anyio import wait_all_tasks_blocked
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpguard.app import places
from mcpguard.app.lifespan import Running, running
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.bodies import Body
from mcpguard.domain.calls.calls import Face, Intent
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Allow, Verdict
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.guard.people.passwords import Cost
from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.entries import Entry
from mcpguard.ledger.verify.report import LOG_ONLY, KeyTrust, Report
from mcpguard.ledger.verify.verify import verify
from mcpguard.settings.address import OwnHosts
from mcpguard.settings.load import load
from mcpguard.settings.model import Settings
from mcpguard.store.engine.offline import open_offline, place_name
from mcpguard.store.engine.schema import upgrade
from mcpguard.store.engine.sqlite import SQLite
from mcpguard.store.rows import chains, records
from mcpguard.web.api.api_door import Api
from mcpguard.web.gate.peer import OperatorPeer
from mcpguard.web.network import network_app
from mcpguard.web.operator import operator_app
from tests.clock import FakeClock
from tests.recording import record
from tests.witnesses import watched

PORT = 8080
RECORDS = """SELECT content FROM records JOIN chains ON chains.id = chain
    WHERE content IS NOT NULL ORDER BY created_at, chain, seq"""
_numbers = itertools.count(1)


@dataclass
class World:
    """A running guard and what a test does with it."""

    now: Running
    clock: FakeClock
    new_id: Callable[[], str]
    network: httpx2.AsyncClient
    operator: httpx2.AsyncClient

    @property
    def database(self) -> Path:
        place = places.database(self.now.settings)
        assert isinstance(place, Path)
        return place

    def opening(
        self, verdict: Verdict | None = None, effect: Effect | None = Effect.READ, arguments: Body | None = None
    ) -> Opening:
        """A call that somebody makes."""
        return Opening(
            entry=self.new_id(),
            caller=Caller("caller-1", "an agent"),
            capability=Capability("files", CapabilityKind.TOOL, "read_file"),
            intent=Intent(Effect.READ, declared=True, reason="to look"),
            face=Face.GUARD,
            verdict=verdict or Allow(),
            effect=effect,
            arguments=arguments,
        )

    async def call(self, opening: Opening | None = None, outcome: Outcome | None = None) -> Outcome:
        """A call that is sent and answered."""

        async def work(entry: Entry) -> Outcome:
            entry.permit()
            return outcome or Outcome.answer()

        return await record(self.now.ledger, opening or self.opening(), work)

    async def settle(self) -> None:
        """Let everything that was set in motion come to rest, on the writer's thread too."""
        await wait_all_tasks_blocked()
        await self.now.store.writer.submit(lambda _: None)
        await wait_all_tasks_blocked()

    async def recovered(self) -> None:
        """Let the guard try again until it can record; each round waits for the attempt to end."""
        for _ in range(100):
            await self.clock.advance(1)
            with suppress(StoreUnavailable):
                await self.settle()
            if self.now.guard.readiness().ready:
                return
        raise AssertionError(self.now.guard.readiness().cause)

    def said(self) -> list[dict[str, Any]]:
        """Every record in the store, as it lies there."""
        return said(places.database(self.now.settings))

    def verified(self, *anchors: Checkpoint, trust: KeyTrust = LOG_ONLY) -> Report:
        return verified(places.database(self.now.settings), *anchors, trust=trust)


def said(place: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a path or a URL
    """Every record, as it lies there. A file is read without any of our code: tests ask for this thousands of times."""
    if isinstance(place, Path):
        mode = "ro" if place.with_name(f"{place.name}-wal").exists() else "ro&immutable=1"
        with closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode={mode}", uri=True)) as file:
            return [json.loads(content) for (content,) in file.execute(RECORDS)]
    with open_offline(place) as connect, connect() as connection:
        return [
            json.loads(record.content)
            for chain in chains.list_chains(connection)
            for record in records.walk(connection, chain, 2**62)
            if record.content is not None
        ]


def verified(place: Any, *anchors: Checkpoint, trust: KeyTrust = LOG_ONLY) -> Report:  # noqa: ANN401 - a path or a URL
    with open_offline(place) as connect:
        return verify(connect, place_name(place), anchors, trust, lambda _: None)


def settings_for(folder: Path, **given: object) -> Settings:
    """Settings as the loader makes them, in a data directory of their own. Anonymous and tokens may do everything."""
    data_dir = folder / "data"
    data_dir.mkdir(mode=0o700, exist_ok=True)
    given = {"anonymous__effects": [*Effect], "authority__tokens": "full"} | given
    dotted = {key.replace("__", "."): value for key, value in given.items()}
    return load({"data_dir": data_dir, **dotted}, {}, None).settings


def with_a_store(settings: Settings) -> Settings:
    """These settings, and where they mean a file that is not there yet, an empty database there."""
    place = places.database(settings)
    if isinstance(place, Path) and not place.exists():
        place.touch(mode=0o600)
        place.write_bytes(new_store())
    return settings


@functools.cache
def new_store() -> bytes:
    """As the upgrade leaves it. That takes longer than all else that a guard does before it runs."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "new.db"
        backend = SQLite(file, busy_timeout=1)
        upgrade(backend)
        backend.dispose()
        assert [*Path(folder).iterdir()] == [file]
        return file.read_bytes()


def new_id() -> str:
    """Ids in the order in which they were made, never twice in one test run."""
    return f"00000000-0000-7000-8000-{next(_numbers):012d}"


CHEAP = Cost(passes=1, kibibytes=64)
"""Of a try of a password: what guessing one costs is not what most tests are about, and they make thousands."""


@asynccontextmanager
async def world(folder: Path, **given: object) -> AsyncIterator[World]:
    """A guard in `folder`, in front of no server (see `tests.gate`). Settings as `audit__checkpoint_records=10`."""
    settings = with_a_store(settings_for(folder, **given))
    clock = FakeClock()
    with watched(places.database(settings)):
        async with running(settings, clock, new_id, cost=CHEAP) as now:
            guard, api = now.guard, Api(now.guard)
            hosts = OwnHosts((settings.address[0], PORT), guard.settings.hosts)
            async with (
                _client(network_app(guard, api, hosts, new_id), f"http://127.0.0.1:{PORT}") as network,
                _client(_known(operator_app(guard, api, new_id)), "http://operator") as operator,
            ):
                yield World(now, clock, new_id, network, operator)


def files(folder: Path) -> list[Path]:
    """Every file that is there now: what a guard keeps, and whatever lies beside it."""
    return [path for path in folder.rglob("*") if path.is_file()]


def _known(app: ASGIApp) -> ASGIApp:
    """What the operator's listener adds to every request: who sent it."""
    peer = OperatorPeer(os.getpid(), os.getuid())

    async def known(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {"peer": peer}}, receive, send)

    return known


def _client(app: Any, url: str) -> httpx2.AsyncClient:  # noqa: ANN401 - an ASGI application
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=url)
