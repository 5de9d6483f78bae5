"""How long it takes to prove a long ledger whole, and how much memory."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
from sqlalchemy import URL

from mcpguard.app import places as app_places
from mcpguard.store.engine.offline import Place
from tests.benchmarks import places
from tests.benchmarks.filling import fill
from tests.benchmarks.report import Row, Sheet, medians


def sheets(folder: Path, server: str | None, runs: int, records: int) -> Iterator[Sheet]:
    """Fill a store once, then verify it several times, each time in a new process."""
    rows: list[Row] = []
    for store in ("sqlite", "postgres") if server else ("sqlite",):
        with places.fresh(folder, server if store == "postgres" else None) as settings:
            began = time.perf_counter()
            fill(settings, records)
            filling = time.perf_counter() - began
            place = app_places.database(settings)
            for _ in range(runs):
                for how in ("alone", "shared"):
                    figures = {**_walked(place, how), "filled_in_s": filling}
                    rows.append(Row({"store": store, "processes": how}, figures))
    about = f"median of {runs} runs, each in a process of its own; every record has a body, of 100 to 1,900 bytes"
    yield Sheet("verify", about, medians(rows))


def _walked(place: Place, how: str) -> dict[str, float]:
    text = place.render_as_string(hide_password=False) if isinstance(place, URL) else str(place)
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.walking", how],
        input=text.encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    found = orjson.loads(done.stdout)
    if not found["whole"]:
        raise RuntimeError("the ledger that was filled is not whole")
    return {
        "records": found["records"],
        "seconds": found["seconds"],
        "records_per_s": found["records"] / found["seconds"],
        "cpu_us_per_record": found["cpu_seconds"] / found["records"] * 1e6,
        "peak_mib": found["peak_mib"],
        "helper_peak_mib": found["helper_peak_mib"],
        "of_it_imports_mib": found["before_mib"],
    }
