"""The program's own log on standard error: text on a terminal, JSON elsewhere."""

import logging
import sys
from typing import Any

import structlog

from mcpguard.settings.guard_groups import Log
from mcpguard.text.visible import visible

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure(settings: Log) -> None:
    """Format the log of mcpguard and of its libraries alike. Called again, it applies a new level."""
    console = settings.format == "console" or (settings.format == "auto" and sys.stderr.isatty())
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _tame,
    ]
    renderer: structlog.types.Processor = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()) if console else structlog.processors.JSONRenderer()
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(_LEVELS[_level(settings)])
    for noisy in ("uvicorn.error", "alembic", "httpcore2"):  # the last one tells headers, which may be secret
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )


def _level(settings: Log) -> str:
    if settings.level != "auto":
        return settings.level
    return "warning" if sys.stderr.isatty() else "info"


def _tame(_: Any, __: str, event: structlog.types.EventDict) -> structlog.types.EventDict:  # noqa: ANN401 - structlog's
    """Make control characters visible: text from others must not move the terminal's cursor or forge a line."""
    for key, value in event.items():
        if isinstance(value, str) and not value.isprintable() and key != "exception":
            event[key] = visible(value.rstrip("\n"))
    return event
