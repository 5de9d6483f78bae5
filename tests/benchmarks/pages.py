"""How long the pages of the console take with a long audit log and as many servers as a guard takes.

The calls of the log are of five of the servers. Each server lists tools of its own, at one port.
"""

import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx2
from sqlalchemy import select

from mcpguard.app import places
from mcpguard.guard.review.admission import MOST_SERVERS
from mcpguard.settings.model import Settings
from mcpguard.store.rows.records import last_record
from mcpguard.store.rows.tables import chains
from mcpguard.store.search.search_index import BLOCK, edge
from tests.benchmarks.filling import fill
from tests.benchmarks.gateway.processes import free_port
from tests.benchmarks.report import Row, Sheet
from tests.browser.desk import COOKIE, signed_in, told
from tests.patience import PATIENCE
from tests.process import ROOT, Served, serving, until
from tests.web.reviewing import seen
from tests.world import settings_for

TOOLS: Final = 25
CALLED: Final = ("files", "mail", "calendar", "tickets", "warehouse")
INSPECTED: Final = 100
"""So many servers have been inspected. Each inspection looks at the tools of all of them again, beside the new ones."""
WAITING: Final = 20
"""So many of these wait for a review."""
AT_ONCE: Final = 4
WHY: Final = {"why": "part of a measurement"}
TOOL: Final = "kind=tool&name=files_look_up_007"
PATHS: Final = (
    "/",
    "/overview",
    "/overview?range=30d",
    "/held",
    "/servers",
    "/servers?sort=errors",
    "/servers/s0000",
    "/servers/files",
    "/servers/files/activity",
    "/servers/files/capabilities",
    "/servers/files/changes",
    "/servers/files/calls",
    "/servers/files/configuration",
    "/servers/files/edit",
    "/servers/files/decisions",
    f"/servers/files/capability?{TOOL}",
    "/findings",
    "/audit",
    "/audit?q=server%3Amail",
    "/audit?q=-server%3Amail",
    "/audit?q=kind%3Adecided",
    "/audit?q=verdict%3Adeny",
    "/audit?q=nothing+says+this",
    "/audit/500",
    "/callers",
    "/policy",
    "/settings",
    "/find?q=look_up",
)


def sheets(folder: Path, runs: int, records: int, servers: int = MOST_SERVERS) -> Iterator[Sheet]:
    """Fill a guard once, then open every page several times, one after the other."""
    with tempfile.TemporaryDirectory(prefix="mcpguard-benchmark-", dir=folder) as own:
        settings = settings_for(Path(own))
        fill(settings, records, kept=False)
        environ = {"MCPGUARD_UPSTREAMS__NETWORKS": "127.0.0.0/8"}
        with _upstream() as url, serving(settings.data_dir, environ=environ) as guard:
            shown = signed_in(guard)
            _bring(guard, url, servers)
            until(lambda: told(guard, "GET", "/counts")["counted"]["behind"] == 0 or None, "every call is counted")
            until(lambda: _is_indexed(settings) or None, "every record is indexed")
            rows = [_opened(guard, shown, path, runs) for path in (*PATHS, _newest_call(guard))]
    some = f"{servers:,} servers, {min(servers, INSPECTED)} of them inspected, with {TOOLS} tools each"
    about = f"{records:,} records; {some}; {runs} runs of each page, one after the other"
    yield Sheet("pages", about, rows)


def _bring(guard: Served, url: str, count: int) -> None:
    names = [*CALLED, *(f"s{number:04}" for number in range(count - len(CALLED)))]

    def bring(name: str) -> None:
        told(guard, "POST", "/servers", {"name": name, "config": {"url": f"{url}/{name}"}})
        if name in names[INSPECTED:]:
            return
        told(guard, "POST", f"/servers/{name}/inspect", {**WHY, "consent": False})
        if name not in names[len(CALLED) : len(CALLED) + WAITING]:
            server = told(guard, "GET", f"/servers/{name}")
            body = {**WHY, "seen": seen(server), "findings_read": _read(server)}
            told(guard, "POST", f"/servers/{name}/approve", body)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(bring, name) for name in names]:
            done.result()


def _is_indexed(settings: Settings) -> bool:
    """Whether searches find in the index all but the newest records."""
    backend = places.backend(settings)
    with backend.connect() as connection:
        (chain,) = connection.execute(select(chains.c.id)).one()
        last = last_record(connection, chain)
        indexed = edge(connection, chain)
    backend.dispose()
    return last is not None and last[0] - indexed < 2 * BLOCK


def _read(server: dict[str, object]) -> dict[str, list[str]]:
    """All grave findings of a server, as they are confirmed."""
    capabilities = server["capabilities"]
    assert isinstance(capabilities, list)
    grave = {f"{each['kind']}:{each['name']}": [found["rule"] for found in each["findings"]] for each in capabilities}
    return {key: rules for key, rules in grave.items() if rules}


def _opened(guard: Served, shown: str, path: str, runs: int) -> Row:
    took, size = [], 0
    with httpx2.Client(base_url=guard.url, cookies={COOKIE: shown}, trust_env=False, timeout=PATIENCE) as browser:
        for _ in range(runs):
            began = time.perf_counter()
            answer = browser.get(path)
            took.append((time.perf_counter() - began) * 1000)
            if answer.status_code != 200:
                raise RuntimeError(f"{path} answers {answer.status_code}")
            size = len(answer.content)
    return Row({"page": path}, {"median_ms": statistics.median(took), "worst_ms": max(took), "kib": size / 1024})


def _newest_call(guard: Served) -> str:
    (call, *_) = told(guard, "GET", "/records?q=kind%3Aclosed&limit=1&order=newest")["records"]
    return f"/calls/{call['content']['entry']}"


@contextmanager
def _upstream() -> Iterator[str]:
    port = free_port()
    words = [sys.executable, "-m", "tests.benchmarks.named_upstream", str(port), str(TOOLS)]
    with subprocess.Popen(words, cwd=ROOT) as process:
        try:
            until(lambda: _answers(port), "the server answers")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def _answers(port: int) -> bool | None:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0 or None
