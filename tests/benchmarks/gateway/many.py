"""What a gateway needs in front of many servers: memory, the time until all their tools are there, and long lists."""

import time
from pathlib import Path

import anyio

from tests.benchmarks.gateway.contender import CannotRun, Contender
from tests.benchmarks.gateway.processes import resident_mib
from tests.benchmarks.gateway.running import Running, running
from tests.benchmarks.gateway.speech import Failed
from tests.benchmarks.report import Row, quantile

UPSTREAMS = 20
TOOLS = 100
LEAST = 3
PATIENCE = 120.0


async def measured(contender: Contender, folder: Path, seconds: float) -> Row:
    """One gateway in front of all those. Raises CannotRun."""
    async with running(contender, folder, UPSTREAMS, TOOLS) as now:
        before = resident_mib(now.gateway())
        took, size, pages = await _lists(now, seconds)
        figures = {
            "start_s": now.started_in,
            "rss_mib": before,
            "rss_after_lists_mib": resident_mib(now.gateway()),
            "list_p50_ms": quantile(took, 0.5) * 1e3,
            "list_kib": size / 1024,
            "pages": pages,
        }
    return Row({"gateway": contender.name, "upstreams": contender.upstream.value, "eras": now.eras()}, figures)


async def _lists(now: Running, seconds: float) -> tuple[list[float], int, int]:
    """How long all tools took each time, the bytes in which they were said, and the pages. Every list is complete."""
    took: list[float] = []
    end = time.perf_counter() + seconds
    try:
        with anyio.fail_after(seconds + PATIENCE):
            async with now.clients(1) as (client,):
                while len(took) < LEAST or time.perf_counter() < end:
                    began = time.perf_counter()
                    listed = await client.listed()
                    took.append(time.perf_counter() - began)
                    if len(set(listed.names)) != UPSTREAMS * TOOLS:
                        raise CannotRun(f"a list has {len(set(listed.names))} of {UPSTREAMS * TOOLS} tools")
    except (Failed, TimeoutError) as error:
        raise CannotRun(f"it does not list all tools: {error}") from error
    return took, listed.size, listed.pages
