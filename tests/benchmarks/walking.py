"""A process that verifies one store, alone or `shared` with helpers, and nothing else; what it needed goes to standard
output as JSON.

Apart, because the most memory that a process ever used includes what it did before.
"""

import resource
import sys
import time
from pathlib import Path

import orjson

from mcpguard.ledger.verify.helpers import ALONE, on_all_cores
from mcpguard.ledger.verify.report import LOG_ONLY
from mcpguard.ledger.verify.verify import verify
from mcpguard.store.engine.offline import open_offline, place_from, place_name


def main() -> None:
    place = place_from(sys.stdin.read())
    share = on_all_cores(place) if sys.argv[1:] == ["shared"] else ALONE
    before = _peak_mib()
    began, cpu = time.perf_counter(), time.process_time()
    with open_offline(place) as connect:
        report = verify(connect, place_name(place), (), LOG_ONLY, lambda _: None, share)
    helpers = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {
        "records": sum(chain.records for chain in report.chains),
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu + helpers.ru_utime + helpers.ru_stime,
        "peak_mib": _peak_mib(),
        "helper_peak_mib": helpers.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2),
        "before_mib": before,
        "whole": report.whole,
    }
    sys.stdout.buffer.write(orjson.dumps(figures))


def _peak_mib() -> float:
    """Most memory so far. Linux counts what the parent had when it started us in `ru_maxrss`, but not in `VmHWM`."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2  # in bytes on macOS


if __name__ == "__main__":
    main()
