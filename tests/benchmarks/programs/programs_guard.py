"""A guard that runs programs, in front of real servers: one of the Python SDK, that for files, and that for memory.

Both of the latter are the reference servers from npm, in the versions that the tests install.
"""

import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.benchmarks.gateway import ours
from tests.benchmarks.gateway.contender import SDK, Contender, Place, Upstream, Way
from tests.benchmarks.gateway.http_client import HttpClient
from tests.benchmarks.gateway.processes import free_port
from tests.benchmarks.gateway.running import Running, started, until_answered
from tests.benchmarks.gateway.speech import Era
from tests.benchmarks.programs.outage_reports import OutageReports
from tests.conformance import tools

SDK_SERVER, FILES, MEMORY = "sdk", "files", "memory"
_TOOLS: Final = 2
_SETTINGS: Final = {"code": {"enabled": True}}


@dataclass(frozen=True, slots=True)
class ProgramsGuard:
    """Such a guard. `place` is its folder, `reports` the one that the server for files shows."""

    process: int
    port: int
    place: Path
    reports: Path

    def client(self) -> HttpClient:
        """An agent at the guard face."""
        return HttpClient(self.port, "/mcp", Era.MODERN)


@asynccontextmanager
async def programs_guard(folder: Path, written: OutageReports) -> AsyncIterator[ProgramsGuard]:
    """A guard whose servers a person has approved. Raises CannotRun, and NotInstalled without the packages from npm."""
    async with AsyncExitStack() as stack:
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mcpguard-benchmark-", dir=folder)))
        reports, graph = own / "reports", own / "memory.jsonl"
        reports.mkdir()
        for name, text in written.texts.items():
            (reports / name).write_text(text)
        graph.write_text(written.graph)
        launch = ours.served(Place(own, free_port(), _upstreams(reports, graph)), ours.COUNTED, _SETTINGS)
        contender = Contender(ours.SERVED, Way.HTTP, Way.STDIO, Era.MODERN, ours.served, ours=True)
        began = time.perf_counter()
        processes = started(launch, own, stack)
        assert processes is not None
        await until_answered(Running(contender, launch, began, processes, None), _TOOLS)
        yield ProgramsGuard(processes.first.pid, launch.port, own, reports)


def _upstreams(reports: Path, graph: Path) -> list[Upstream]:
    node, env = str(tools.node()), shutil.which("env")
    assert env is not None, "every system has it"
    files, memory = (str(tools.package(f"server-{name}") / "dist" / "index.js") for name in ("filesystem", "memory"))
    return [
        Upstream(SDK_SERVER, command=SDK.command(Way.STDIO, str(_TOOLS))),
        Upstream(FILES, command=(node, files, str(reports))),
        Upstream(MEMORY, command=(env, f"MEMORY_FILE_PATH={graph}", node, memory)),
    ]
