"""Checks the clock, on which the times of records and every expiry depend.

Rules kept here:
1. The clock is compared with the newest record; it can be behind that only if it was set back.
2. The system is asked whether the clock is synchronized, if it can tell, and nothing depends on the answer.
"""

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mcpguard.cli.doctor.evidence import MICROSECONDS, DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem

EARLIEST: Final = datetime(2026, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)
TOLERATED: Final = MICROSECONDS
SET: Final = "set the clock, and synchronize it over the network (chrony, systemd-timesyncd)"
SYSTEM: Final = Path("/run/systemd/system")
SYSTEM_PATH: Final = "/usr/bin:/bin"
SECONDS: Final = 1.0


def clock(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    now = datetime.fromtimestamp(evidence.now / MICROSECONDS, UTC)
    if not EARLIEST <= now < LATEST:
        yield problem("clock.plausible", f"the clock says {now:%Y-%m-%d %H:%M} UTC, which cannot be", SET)
    behind = (evidence.stored.at - evidence.now) // MICROSECONDS
    if evidence.stored.at > evidence.now + TOLERATED:
        yield problem(
            "clock.behind",
            f"the clock says {now:%Y-%m-%d %H:%M:%S} UTC and is {behind:,} s behind the newest "
            f"record of the audit log ({evidence.stored.records:,})",
            SET,
        )
    elif evidence.stored.was_read:
        yield ok("clock.behind", f"it is {now:%Y-%m-%d %H:%M:%S} UTC, and no record is newer")
    else:
        yield ok("clock.behind", f"it is {now:%Y-%m-%d %H:%M:%S} UTC; there is no record to compare that with")
    synchronized = _synchronized()
    if synchronized == "yes":
        yield ok("clock.synchronized", "it is synchronized over the network")
    elif synchronized == "no":
        yield notice("clock.synchronized", "the system says that its clock is not synchronized over the network", SET)


def _synchronized() -> str | None:
    """The answer of the system; None if it cannot be asked."""
    program = shutil.which("timedatectl", path=SYSTEM_PATH)
    if program is None or not SYSTEM.is_dir():
        return None
    try:
        told = subprocess.run(  # noqa: S603 - the program is the system's own
            [program, "show", "--property=NTPSynchronized", "--value"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=SECONDS,
            env={"PATH": SYSTEM_PATH},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return told.stdout.strip()
