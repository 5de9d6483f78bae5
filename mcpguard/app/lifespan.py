"""The lifespan of a guard: everything that runs starts within `running`, and has ended when it exits."""

import os
import platform
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache

import anyio
import structlog
from anyio import to_thread
from anyio.abc import TaskGroup

from mcpguard import __version__
from mcpguard.app.assembly import HostFacts, Parts, assemble
from mcpguard.app.places import anchor_file, backend, server_logs, signing_key
from mcpguard.app.signing import begin_signing
from mcpguard.app.telemetry import telemetry
from mcpguard.domain.callers import Caller
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.guard.audit.call_counter import CallCounter
from mcpguard.guard.audit.search_upkeep import SearchUpkeep
from mcpguard.guard.guard import Guard
from mcpguard.guard.people.passwords import USUAL, Cost
from mcpguard.guard.review.admission import DeclarationSource, from_file
from mcpguard.guard.search.search_model import tool_meanings
from mcpguard.guard.trust.confirmed_settings import ConfirmedSettings
from mcpguard.ledger import keys
from mcpguard.ledger.chain import Chain
from mcpguard.ledger.keyfile import KeyFile
from mcpguard.ledger.ledger import Ledger
from mcpguard.settings.model import Settings
from mcpguard.store.engine import store
from mcpguard.store.files import datadir
from mcpguard.upstreams.sandbox.probe import NoSandbox, UsableSandbox, probe_sandbox
from mcpguard.upstreams.supervise.fleet import Fleet
from mcpguard.upstreams.transports.addresses import Address

DRAIN_SECONDS = 2.0
log = structlog.get_logger("mcpguard")


@dataclass(frozen=True, slots=True)
class Running:
    """A running guard, and its parts."""

    settings: Settings
    guard: Guard
    ledger: Ledger
    store: store.Store
    fleet: Fleet
    listeners: set[tuple[Address, int]]
    """The guard's own addresses, which no server may have. Whoever opens a listener adds it."""


@asynccontextmanager
async def running(
    settings: Settings,
    clock: Clock,
    new_id: Ids,
    declared: Sequence[DeclaredServer] = (),
    callers: Mapping[str, Caller] | None = None,
    source: DeclarationSource | None = None,
    sandbox: UsableSandbox | NoSandbox | None = None,
    cost: Cost = USUAL,
) -> AsyncIterator[Running]:
    """Run a whole guard without its listeners. It starts in the order of dependence, and stops in reverse.

    `callers` are further callers by their tokens, besides the stored ones. `sandbox` is the host's sandbox; None probes
    for it. `cost` is that of checking a password.
    """
    datadir.prepare(settings.data_dir)
    anchor_file(settings)  # an invalid setting is refused before anything is created
    with datadir.lock_folder(settings.data_dir, "serve"):
        file = KeyFile(signing_key(settings))
        datadir.prepare(server_logs(settings))
        chain = Chain(keys.load_or_make(file.path), settings.audit.checkpoint_records, clock, new_id)
        opening = store.open_store(backend(settings), chain, batch=settings.store.batch, readers=settings.store.readers)
        async with opening as opened, AsyncExitStack() as ending, anyio.create_task_group() as tasks:
            confirming = await ConfirmedSettings.from_store(settings, opened)
            settings = confirming.settings
            spans = await ending.enter_async_context(telemetry(settings.telemetry))
            meanings = await tool_meanings(settings.search)
            ledger = Ledger(opened.writer, chain, settings, clock)
            signed = await begin_signing(settings, file, chain, opened, tasks)
            left_open = await ledger.start(_started(settings, opened, chain), signed.found)
            if left_open:
                log.warning("ledger.left_open", entries=left_open, closed_as="unknown")
            await confirming.keep(ledger, clock)
            tasks.start_soon(ledger.upkeep, name="ledger upkeep")
            tasks.start_soon(SearchUpkeep(opened.writer, ledger, clock).run, name="index of searches")
            here = HostFacts(sandbox or await sandbox_here(), cost, meanings)
            parts = await assemble(confirming, clock, new_id, opened, ledger, signed, callers, here)
            guard = parts.guard
            tasks.start_soon(CallCounter(opened, ledger, clock).run, name="counts of calls")
            await parts.inspections.end_unfinished()
            await to_thread.run_sync(guard.exporting.sweep)
            if spans is not None:
                guard.events.subscribe(spans(guard.servers.knows))
            for sentence in await guard.admission.declare(declared, source or from_file()):
                log.error("servers.refused", why=sentence)
            parts.intake.settling.expect(known.name for known in parts.standings.registry if known.runs)
            parts.standings.want()
            try:
                async with anyio.create_task_group() as work:
                    _work(work, parts)
                    yield Running(settings, guard, ledger, opened, parts.fleet, parts.listeners)
                    work.cancel_scope.cancel()
            finally:
                with anyio.CancelScope(shield=True):
                    await guard.people.tidy()
                    await guard.tallies.flush()
                    await _wind_down(ledger, guard)
                tasks.cancel_scope.cancel()


def _work(tasks: TaskGroup, parts: Parts) -> None:
    guard = parts.guard
    tasks.start_soon(parts.fleet.run, name="fleet")
    tasks.start_soon(parts.intake.run, name="intake")
    tasks.start_soon(guard.inspecting.run, name="inspections that nobody waits for")
    tasks.start_soon(guard.tallies.run, name="tallies")
    tasks.start_soon(guard.searching.run, name="search index")
    if guard.learning.enabled:
        tasks.start_soon(guard.learning.run, name="learning from searches")
    tasks.start_soon(guard.callers.run, name="callers whose time is over")
    tasks.start_soon(guard.held.run, name="held calls")
    tasks.start_soon(guard.people.run, name="sessions of people")
    tasks.start_soon(guard.retention.run, name="retention")
    if guard.programs is not None:
        tasks.start_soon(guard.programs.engines.run, name="engine for programs")
    tasks.start_soon(guard.verifying.run, name="verification of the audit log")


def _started(settings: Settings, opened: store.Store, chain: Chain) -> dict[str, str | int | bool | None]:
    return {
        "version": __version__,
        "schema": opened.schema,
        "settings": settings.version,
        "key": chain.public_key,
        "process": f"{os.getpid()} on {platform.node()}",
    }


async def _wind_down(ledger: Ledger, guard: Guard) -> None:
    """Close cancelled calls in the audit log, then write its last record, and that one's external checkpoint."""
    with anyio.move_on_after(DRAIN_SECONDS):
        await ledger.wait_until_quiet()
    if ledger.open_entries:
        log.warning("ledger.still_open", entries=ledger.open_entries, closed_by="the next start")
    await guard.rotating.stop()
    try:
        await ledger.stop("asked to")
    except LedgerUnavailable as error:
        log.error("ledger.stop_unrecorded", why=str(error))
    if guard.anchoring is not None:
        await guard.anchoring.catch_up()


log = structlog.get_logger("mcpguard")
_probed = cache(probe_sandbox)


async def sandbox_here() -> UsableSandbox | NoSandbox:
    found = await to_thread.run_sync(_probed)
    if isinstance(found, NoSandbox):
        log.warning(
            "sandbox.none", why=found.why, so="a server is started only if a person agrees to run it unconfined"
        )
    return found
