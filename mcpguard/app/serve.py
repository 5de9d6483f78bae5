"""`mcpguard serve`: a guard with its listeners, until it is told to stop."""

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import anyio
import structlog

from mcpguard.app.clock import SystemClock, new_id
from mcpguard.app.demonstration import demonstrated
from mcpguard.app.listeners import ListenAddresses, listening, network_socket
from mcpguard.app.logs import configure
from mcpguard.app.loop import new_event_loop
from mcpguard.app.process import steady
from mcpguard.app.running import Running, running
from mcpguard.app.watch import watching
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.people import SetupOver
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.admission import DeclarationSource, from_file
from mcpguard.guard.trust.confirmed_settings import BY_THE_START
from mcpguard.settings.entries.servers import DeclaredServers
from mcpguard.settings.load import LoadedSettings
from mcpguard.settings.model import Log, Settings
from mcpguard.settings.problems import SettingsError
from mcpguard.upstreams.process.orphans import sweeping, swept
from mcpguard.web.gate.peer import keep_orphans

Announce = Callable[[Running, ListenAddresses], None]
Reload = Callable[[], LoadedSettings]
log = structlog.get_logger("mcpguard")


def serve(
    loaded: LoadedSettings, reload: Reload, announce: Announce, idle_exit: float | None = None, *, demo: bool = False
) -> None:
    """Run until SIGTERM or SIGINT, or until no agent was here for `idle_exit` seconds.

    `reload` loads the settings anew at SIGHUP; `announce` says where everything is; `demo` brings two small servers.
    """
    configure(loaded.settings.log)
    _check_address(loaded.settings)
    try:
        anyio.run(
            partial(_serve, loaded, reload, announce, idle_exit, demo=demo),
            backend_options={"loop_factory": new_event_loop},
        )
    except BaseExceptionGroup as group:  # a task group wraps even what alone went wrong inside it
        raise _alone(group) from None


def _check_address(settings: Settings) -> None:
    """A start that is refused because somebody listens there already leaves no new data directory behind. Where one is
    there, it may be held by a guard of its own, which is said rather. Raises StoreUnavailable."""
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
            tasks.start_soon(sweeping, clock, name="orphans")
            if loaded.config_file is not None:
                again = partial(_apply, reload, settings.log, now, source)
                tasks.start_soon(watching, loaded.config_file, again, clock, name="configuration file")
            if idle_exit is not None:
                tasks.start_soon(_leave_when_idle, where, clock, idle_exit, name="idle exit")
            if demo:
                await demonstrated(now.guard)
            first = "" if idle_exit is not None else await _first_link(now.guard)
            announce(now, replace(where, first=first))
            steady()
            async for received in signals:
                if received is not signal.SIGHUP:
                    break
                await _apply(reload, settings.log, now, source)
            in_progress = now.ledger.open_entries
            told = log.warning if in_progress else log.info  # whoever waits for it at a terminal is told why
            told("stopping", signal=received.name, calls=in_progress, within_seconds=settings.limits.stop_seconds)
            _deadline(settings.limits.stop_seconds)
            tasks.cancel_scope.cancel()
        await swept()  # all servers have ended, so whatever is left was left behind


async def _first_link(guard: Guard) -> str:
    """The link by which the first user is made, while there was nobody ever. What was started for an agent has no
    terminal to print it on."""
    try:
        start = Actor.with_full_rights(BY_THE_START, BY_THE_START)
        return guard.setting_up.url(await guard.setting_up.offer(Decision(start, "")))
    except SetupOver:
        return ""
    except LedgerUnavailable as error:
        log.error("setup.not_offered", why=str(error), next="mcpguard user setup-link")
        return ""


async def _leave_when_idle(where: ListenAddresses, clock: Clock, seconds: float) -> None:
    """A guard that was started for an agent ends some time after the last one has left."""
    while True:
        now = clock.monotonic()
        left = where.idle_since(now) + seconds - now
        if left <= 0:
            log.info("idle", seconds=seconds)
            signal.raise_signal(signal.SIGTERM)
            return
        await clock.sleep(left)


async def _apply(reload: Reload, started_with: Log, now: Running, source: DeclarationSource) -> None:
    """What is marked live takes effect, and the servers; the rest waits for a restart. What cannot be loaded changes
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
        log.error("servers.unchanged", why="what is wrong in the file must be put right first")
    else:
        try:
            for sentence in await now.guard.admission.declare(loaded.servers.servers, source):
                log.error("servers.refused", why=sentence)
        except LedgerUnavailable as error:
            log.error("servers.unchanged", why=f"no change can be recorded now: {error}")
    log.info("settings.applied", live=["log.level", "servers"], settings=settings.version)


def _tell(servers: DeclaredServers) -> None:
    """What of the file was not taken, and why."""
    for problem in servers.problems:
        log.error("servers.refused", why=problem)
    for notice in servers.notices:
        log.warning("servers.notice", what=notice)


def _alone(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _deadline(seconds: float) -> None:
    """End the process if stopping hangs, on a disk for example. What was open is closed by the next start."""

    def end() -> None:
        log.error("stop.overdue", seconds=seconds)
        os._exit(70)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
