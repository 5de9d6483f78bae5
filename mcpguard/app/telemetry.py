"""Where spans go: to the collector that the settings name, through the SDK that the extra `otel` brings.

Rules kept here:
1. Without the setting nothing is made or sent, whatever the environment says, and the SDK is not loaded.
2. Nothing global is read or set, so nobody else's spans are sent, and ours nowhere else.
3. A collector that is slow or away costs spans, and neither calls nor more than `FLUSH_SECONDS` of the end.
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
    """Makes what listens to calls; None where no spans are wanted. Raises SettingsError."""
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
    """What is left is sent, if that does not take too long; a thread that hangs then keeps nobody from ending."""
    thread = Thread(target=provider.shutdown, name="last spans", daemon=True)
    thread.start()
    await to_thread.run_sync(thread.join, FLUSH_SECONDS)
