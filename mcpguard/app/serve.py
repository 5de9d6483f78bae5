"""`mcpguard serve`: runs a guard with its listeners until a signal stops it."""

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import anyio
import structlog

from mcpguard.app.clock import SystemClock, new_id
from mcpguard.app.demonstration import add_demo_servers
from mcpguard.app.lifespan import Running, running
from mcpguard.app.listeners import ListenAddresses, listening, network_socket
from mcpguard.app.logs import configure
from mcpguard.app.loop import new_event_loop
from mcpguard.app.process import steady
from mcpguard.app.watch import watch_file
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.people import SetupOver
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.admission import DeclarationSource, from_file
from mcpguard.guard.trust.confirmed_settings import BY_THE_START
from mcpguard.settings.entries.servers import DeclaredServers
from mcpguard.settings.guard_groups import Log
from mcpguard.settings.load import LoadedSettings
from mcpguard.settings.model import Settings
from mcpguard.settings.problems import SettingsError
from mcpguard.upstreams.process.orphans import keep_sweeping, sweep_all
from mcpguard.web.gate.peer import keep_orphans

Announce = Callable[[Running, ListenAddresses], None]
Reload = Callable[[], LoadedSettings]
log = structlog.get_logger("mcpguard")


def serve(
    loaded: LoadedSettings, reload: Reload, announce: Announce, idle_exit: float | None = None, *, demo: bool = False
) -> None:
    """Run until SIGTERM or SIGINT, or until no agent was connected for `idle_exit` seconds.

    `reload` loads the settings again at SIGHUP; `announce` prints the addresses; `demo` adds two small servers.
    """
    configure(loaded.settings.log)
    _check_address(loaded.settings)
    try:
        anyio.run(
            partial(_serve, loaded, reload, announce, idle_exit, demo=demo),
            backend_options={"loop_factory": new_event_loop},
        )
    except BaseExceptionGroup as group:  # a task group wraps even a single error
        raise _alone(group) from None


def _check_address(settings: Settings) -> None:
    """Check that the address is free before a data directory is created. An existing directory may be locked by
    another guard, which is the better message, so it is not checked then. Raises StoreUnavailable."""
    if not settings.data_dir.exists():
        with network_socket(settings):
            pass


async def _serve(
    loaded: LoadedSettings, reload: Reload, announce: Announce, idle_exit: float | None, *, demo: bool
) -> None:
    settings = loaded.settings
    keep_orphans()
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        clock, declared, source = SystemClock(), loaded.servers, from_file(str(loaded.config_file or ""))
        _tell(declared)
        async with (
            running(settings, clock, new_id, declared.servers, source=source) as now,
            listening(now, clock, new_id) as where,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(keep_sweeping, clock, name="orphans")
            if loaded.config_file is not None:
                again = partial(_apply, reload, settings.log, now, source)
                tasks.start_soon(watch_file, loaded.config_file, again, clock, name="configuration file")
            if where.certificate is not None:
                for file in where.certificate.files:
                    tasks.start_soon(watch_file, file, where.certificate.reload, clock, name=f"watch of {file}")
            if idle_exit is not None:
                tasks.start_soon(_leave_when_idle, where, clock, idle_exit, name="idle exit")
            if demo:
                await add_demo_servers(now.guard)
            first = "" if idle_exit is not None else await _first_link(now.guard)
            announce(now, replace(where, first=first))
            steady()
            async for received in signals:
                if received is not signal.SIGHUP:
                    break
                await _apply(reload, settings.log, now, source)
                if where.certificate is not None:
                    await where.certificate.reload()
            in_progress = now.ledger.open_entries
            told = (
                log.warning if in_progress else log.info
            )  # shown on a terminal, so that the user knows what it waits for
            told("stopping", signal=received.name, calls=in_progress, within_seconds=settings.limits.stop_seconds)
            _deadline(settings.limits.stop_seconds)
            tasks.cancel_scope.cancel()
        await sweep_all()  # all servers have ended, so every remaining child is an orphan


async def _first_link(guard: Guard) -> str:
    """Return the link that creates the first user, or an empty text where a user ever existed."""
    try:
        start = Actor.with_full_rights(BY_THE_START, BY_THE_START)
        return guard.setting_up.url(await guard.setting_up.offer(Decision(start, "")))
    except SetupOver:
        return ""
    except LedgerUnavailable as error:
        log.error("setup.not_offered", why=str(error), next="mcpguard user setup-link")
        return ""


async def _leave_when_idle(where: ListenAddresses, clock: Clock, seconds: float) -> None:
    """End a guard that was started for an agent, some time after the last agent has left."""
    while True:
        now = clock.monotonic()
        left = where.idle_since(now) + seconds - now
        if left <= 0:
            log.info("idle", seconds=seconds)
            signal.raise_signal(signal.SIGTERM)
            return
        await clock.sleep(left)


async def _apply(reload: Reload, started_with: Log, now: Running, source: DeclarationSource) -> None:
    """Load the settings again, and apply live ones and the servers; the rest needs a restart. Invalid settings change
    nothing."""
    try:
        loaded = reload()
    except SettingsError as error:
        log.error("settings.refused", problems=list(error.problems))
        return
    settings = loaded.settings
    configure(started_with.model_copy(update={"level": settings.log.level}))
    _tell(loaded.servers)
    if loaded.servers.problems:
        log.error("servers.unchanged", why="fix the problems in the file first")
    else:
        try:
            for sentence in await now.guard.admission.declare(loaded.servers.servers, source):
                log.error("servers.refused", why=sentence)
        except LedgerUnavailable as error:
            log.error("servers.unchanged", why=f"the audit log is unavailable: {error}")
    log.info("settings.applied", live=["log.level", "servers"], settings=settings.version)


def _tell(servers: DeclaredServers) -> None:
    """Log the entries of the file that were refused, and why."""
    for problem in servers.problems:
        log.error("servers.refused", why=problem)
    for notice in servers.notices:
        log.warning("servers.notice", what=notice)


def _alone(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _deadline(seconds: float) -> None:
    """End the process if stopping hangs, for example on a disk. The next start closes what is left open."""

    def end() -> None:
        log.error("stop.overdue", seconds=seconds)
        os._exit(70)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
