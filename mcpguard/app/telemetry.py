"""Sends spans to the collector in the settings, using the SDK of the extra `otel`.

Rules kept here:
1. Without the setting, nothing is sent, whatever the environment says, and the SDK is not loaded.
2. No global state is read or set, so no other spans are sent, and these go nowhere else.
3. A slow or missing collector loses spans but delays no call, and delays the shutdown by at most `FLUSH_SECONDS`.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from mcpguard import __version__
from mcpguard.settings.guard_groups import Telemetry
from mcpguard.settings.problems import SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from mcpguard.app.spans import Spans

EXPORT_SECONDS: Final = 5.0
FLUSH_SECONDS: Final = 2.0
QUEUE: Final = 2048
BATCH: Final = 512
PERIOD_MS: Final = 5000
MISSING: Final = (
    "telemetry.otlp_endpoint: spans need the extra `otel`; install mcpguard-firewall[otel], or leave the setting out"
)


@asynccontextmanager
async def telemetry(settings: Telemetry) -> AsyncIterator["Callable[[Callable[[str], bool]], Spans] | None"]:
    """Yield a function that makes the listener for calls; None where no spans are wanted. Raises SettingsError."""
    if settings.otlp_endpoint is None:
        yield None
        return
    from mcpguard.app.spans import Spans  # noqa: PLC0415 - loaded only where somebody wants it

    provider = _provider(settings.otlp_endpoint, settings.sampled)
    try:
        yield partial(Spans, provider.get_tracer("mcpguard", __version__))
    finally:
        with anyio.CancelScope(shield=True):
            await _flushed(provider)


def _provider(endpoint: str, share: float) -> "TracerProvider":
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        from opentelemetry.sdk.trace.sampling import TraceIdRatioBased  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise SettingsError((MISSING,)) from error
    about = Resource({"service.name": "mcpguard", "service.version": __version__})
    provider = TracerProvider(TraceIdRatioBased(share), about, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint, timeout=EXPORT_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter, QUEUE, PERIOD_MS, BATCH))
    return provider


async def _flushed(provider: "TracerProvider") -> None:
    """Send the remaining spans, with a time limit. The thread is a daemon, so that it cannot hold up the exit."""
    thread = Thread(target=provider.shutdown, name="last spans", daemon=True)
    thread.start()
    await to_thread.run_sync(thread.join, FLUSH_SECONDS)
