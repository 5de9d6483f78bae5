"""`/metrics` for Prometheus and compatible scrapers: as text, or as OpenMetrics on request.

Rules kept here:
1. It needs the right to view, like everything that reveals which servers exist.
2. The numbers are copied at once and formatted in a thread, one request after another, so that no call waits.
3. The library's process-wide registry is not used: it would include metrics that are not mcpguard's.
"""

from collections.abc import Sequence
from typing import Final

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, exposition
from prometheus_client.core import Metric as Family
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.gate.access import may
from mcpguard.web.gate.problem import METRICS
from mcpguard.web.gate.strict_routes import StrictRoute
from mcpguard.web.metrics.families import FamilyMaker, metric_families

TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS: Final = "application/openmetrics-text"


class _Taken(Collector):
    def __init__(self, families: Sequence[Family]) -> None:
        self._families = families

    def collect(self) -> Sequence[Family]:
        return self._families


def metrics(guard: Guard) -> APIRouter:
    router = APIRouter(route_class=StrictRoute)
    alone = CapacityLimiter(1)

    @router.get(METRICS, dependencies=[may(Right.LOOK)], include_in_schema=False)
    async def show(request: Request) -> Response:
        is_open = _wants_open_metrics(request.headers.getlist("accept"))
        async with alone:
            written = await to_thread.run_sync(_written, metric_families(guard), is_open)
        kind = f"{OPEN_METRICS}; version=1.0.0; charset=utf-8" if is_open else TEXT
        return Response(written, headers={"content-type": kind})

    return router


def _wants_open_metrics(accept: Sequence[str]) -> bool:
    kinds = (each.partition(";")[0].strip().lower() for line in accept for each in line.split(","))
    return OPEN_METRICS in kinds


def _written(made: Sequence[FamilyMaker], is_open: bool) -> bytes:
    registry = CollectorRegistry()
    registry.register(_Taken([each() for each in made]))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    if is_open:
        text: bytes = openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call]
        return text
    return exposition.generate_latest(registry)
