"""What a start costs with twenty servers of a hundred tools each, all of them approved and unchanged.

The first start after their approval looks at much again, as each of them was inspected before the others were there; so
does one after an upgrade. Every later start has nothing to look at.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2

from tests.benchmarks.gateway.contender import FAST, Launch, Place, Upstream, Way
from tests.benchmarks.gateway.many import TOOLS, UPSTREAMS
from tests.benchmarks.gateway.ours import served
from tests.benchmarks.gateway.processes import Processes, cpu_seconds, free_port, resident_mib
from tests.benchmarks.report import Row, Sheet, medians

PATIENCE = 60.0
PAUSE = 0.02


def sheets(folder: Path, runs: int) -> Iterator[Sheet]:
    """The first start after the approvals once, and later ones several times."""
    with tempfile.TemporaryDirectory(prefix="mcpguard-benchmark-", dir=folder) as own:
        upstreams = [
            Upstream(f"up{number:02}", command=FAST.command(Way.STDIO, str(TOOLS))) for number in range(UPSTREAMS)
        ]
        launch = served(Place(Path(own), free_port(), upstreams))
        rows = [_started(launch, Path(own), "first")]
        rows += [_started(launch, Path(own), "later") for _ in range(runs)]
    yield Sheet("restart", f"{UPSTREAMS} servers of {TOOLS} tools; median of {runs} runs", medians(rows))


def _started(launch: Launch, folder: Path, which: str) -> Row:
    (folder / "gateway.log").unlink(missing_ok=True)
    began = time.perf_counter()
    processes = Processes(launch, folder)
    try:
        _until_ready(launch.port, began, all_connected=False)
        ready = time.perf_counter() - began
        cpu, mib = sum(cpu_seconds(processes.gateway()).values()), resident_mib(processes.gateway())
        _until_ready(launch.port, began, all_connected=True)
        connected = time.perf_counter() - began
        _until_inspected(folder)
        figures = {
            "ready_s": ready,
            "connected_s": connected,
            "cpu_s": cpu,
            "rss_mib": mib,
            "cpu_in_all_s": sum(cpu_seconds(processes.gateway()).values()),
            "rss_in_the_end_mib": resident_mib(processes.gateway()),
            "inspected": sum(each["definitions"] for each in _logged(folder, "intake.inspected")),
        }
    finally:
        processes.stop()
    return Row({"start": which}, figures)


def _until_ready(port: int, began: float, *, all_connected: bool) -> None:
    """Return once `/readyz` is 200; if `all_connected`, only once it counts no server that is not connected."""
    while time.perf_counter() < began + PATIENCE:
        try:
            answer = httpx2.get(f"http://127.0.0.1:{port}/readyz", trust_env=False, timeout=PATIENCE)
        except httpx2.TransportError:  # nobody listens yet
            time.sleep(PAUSE)
            continue
        if answer.is_success and not (all_connected and "not_connected" in answer.json()):
            return
        time.sleep(PAUSE)
    raise RuntimeError("the guard does not become ready")


def _until_inspected(folder: Path) -> None:
    """Return once all that was left for later has been inspected."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        looks = _logged(folder, "intake.inspected")
        if sum(each["later"] - each["definitions"] for each in looks) <= 0:
            return
        time.sleep(PAUSE)
    raise RuntimeError("the guard does not come to an end with its inspections")


def _logged(folder: Path, event: str) -> list[dict[str, Any]]:
    lines = (folder / "gateway.log").read_text().splitlines()
    return [
        each for each in map(json.loads, (line for line in lines if line.startswith("{"))) if each["event"] == event
    ]
