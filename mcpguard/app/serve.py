"""`mcpguard serve`: a guard with its listeners, until it is told to stop."""

import os
import signal
import threading
from collections.abc import Callable
from functools import partial

import anyio
import structlog

from mcpguard.app.clock import SystemClock, new_id
from mcpguard.app.listeners import Listening, listening
from mcpguard.app.logs import configure
from mcpguard.app.process import steady
from mcpguard.app.running import Running, running
from mcpguard.settings.load import Loaded
from mcpguard.settings.model import Log
from mcpguard.settings.problems import SettingsError

Announce = Callable[[Running, Listening], None]
Reload = Callable[[], Loaded]
log = structlog.get_logger("mcpguard")


def serve(loaded: Loaded, reload: Reload, announce: Announce) -> None:
    """Run until SIGTERM or SIGINT. `reload` loads the settings anew at SIGHUP; `announce` says where everything is."""
    configure(loaded.settings.log)
    try:
        anyio.run(partial(_serve, loaded, reload, announce), backend_options={"use_uvloop": True})
    except BaseExceptionGroup as group:  # a task group wraps even what alone went wrong inside it
        raise _alone(group) from None


async def _serve(loaded: Loaded, reload: Reload, announce: Announce) -> None:
    settings = loaded.settings
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async with running(settings, SystemClock(), new_id) as now, listening(settings, now.guard, new_id) as where:
            announce(now, where)
            steady()
            async for received in signals:
                if received is not signal.SIGHUP:
                    break
                _apply(reload, settings.log)
            log.info("stopping", signal=received.name, within_seconds=settings.limits.stop_seconds)
            _deadline(settings.limits.stop_seconds)


def _apply(reload: Reload, started_with: Log) -> None:
    """What is marked live takes effect; the rest waits for a restart. What cannot be loaded changes nothing."""
    try:
        settings = reload().settings
    except SettingsError as error:
        log.error("settings.refused", problems=list(error.problems))
        return
    configure(started_with.model_copy(update={"level": settings.log.level}))
    log.info("settings.applied", live=["log.level"], settings=settings.version)


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
