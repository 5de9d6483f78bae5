"""The one lifespan: everything that runs, runs inside `running`, and has ended when it is left."""

import os
import platform
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network

import anyio
import structlog

from mcpguard import __version__
from mcpguard.app.places import backend, digest_key, server_logs, signing_key
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.launches import Declared
from mcpguard.guard.callers import Callers
from mcpguard.guard.calls import Calls
from mcpguard.guard.confirming import Confirming
from mcpguard.guard.guard import Facts, Guard
from mcpguard.guard.publish import Publisher
from mcpguard.guard.servers import Servers
from mcpguard.ledger import digests, keys
from mcpguard.ledger.chain import Chain
from mcpguard.ledger.ledger import Ledger
from mcpguard.settings.model import Settings
from mcpguard.store import datadir, store
from mcpguard.upstreams.addresses import Address
from mcpguard.upstreams.fleet import Fleet
from mcpguard.upstreams.reach import Reaching
from mcpguard.upstreams.surroundings import Surroundings
from mcpguard.upstreams.transports.dialing import Dialing

DRAIN_SECONDS = 2.0
log = structlog.get_logger("mcpguard")


@dataclass(frozen=True, slots=True)
class Running:
    """A guard that runs."""

    settings: Settings
    guard: Guard
    ledger: Ledger
    store: store.Store
    fleet: Fleet
    listeners: set[tuple[Address, int]]
    """Our own addresses, which no server may have. Whoever opens a listener adds it."""


@asynccontextmanager
async def running(
    settings: Settings,
    clock: Clock,
    new_id: Ids,
    declared: Sequence[Declared] = (),
    callers: Callers | None = None,
) -> AsyncIterator[Running]:
    """A whole guard without its listeners. Starts in the order of dependence, stops in reverse."""
    datadir.prepare(settings.data_dir)
    with datadir.locked(settings.data_dir, "serve"):
        key = keys.load_or_make(signing_key(settings))
        digests_ = digests.load_or_make(digest_key(settings))
        datadir.prepare(server_logs(settings))
        chain = Chain(key, settings.audit.checkpoint_records, clock, new_id)
        opening = store.opened(backend(settings), chain, batch=settings.store.batch, readers=settings.store.readers)
        async with opening as opened, anyio.create_task_group() as tasks:
            confirming = await Confirming.begun(settings, opened)
            settings = confirming.settings
            ledger = Ledger(opened.writer, chain, settings, clock)
            left_open = await ledger.start(_started(settings, opened, key))
            if left_open:
                log.warning("ledger.left_open", entries=left_open, closed_as="unknown")
            await confirming.keep(ledger, clock)
            tasks.start_soon(ledger.upkeep, name="ledger upkeep")
            servers = Servers(Publisher(), clock, new_id, settings)
            listeners: set[tuple[Address, int]] = set()
            fleet = _fleet(settings, clock, servers, listeners)
            facts = Facts(__version__, os.getpid(), clock.now())
            calls = Calls(servers, ledger, fleet, digests_, new_id, settings)
            guard = Guard(confirming, opened, ledger, clock, facts, servers, calls, callers or Callers())
            servers.declare(tuple(declared))
            try:
                async with anyio.create_task_group() as work:
                    work.start_soon(fleet.run, name="fleet")
                    work.start_soon(guard.tallies.run, name="tallies")
                    yield Running(settings, guard, ledger, opened, fleet, listeners)
                    work.cancel_scope.cancel()
            finally:
                with anyio.CancelScope(shield=True):
                    await guard.tallies.flush()
                    await _wind_down(ledger)
                tasks.cancel_scope.cancel()


def _fleet(settings: Settings, clock: Clock, servers: Servers, listeners: set[tuple[Address, int]]) -> Fleet:
    dialing = Dialing([ip_network(network) for network in settings.upstreams.networks], listeners)
    reach = Reaching(settings.upstreams, os.environ, server_logs(settings), dialing)
    us = {"name": "mcpguard", "version": __version__}
    fleet = Fleet(Surroundings(settings.upstreams, clock, random.random, reach, servers.take, us, servers.may_ask))
    servers.command(fleet)
    return fleet


def _started(settings: Settings, opened: store.Store, key: keys.SigningKey) -> dict[str, str | int | bool | None]:
    return {
        "version": __version__,
        "schema": opened.schema,
        "settings": settings.version,
        "key": key.public,
        "process": f"{os.getpid()} on {platform.node()}",
    }


async def _wind_down(ledger: Ledger) -> None:
    """Calls that were cancelled have yet to be closed; then the last record."""
    with anyio.move_on_after(DRAIN_SECONDS):
        await ledger.quiet()
    if ledger.open_entries:
        log.warning("ledger.still_open", entries=ledger.open_entries, closed_by="the next start")
    try:
        await ledger.stop("asked to")
    except LedgerUnavailable as error:
        log.error("ledger.stop_unrecorded", why=str(error))
