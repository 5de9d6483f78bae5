"""Checks the requirements on the host: a sandbox, installed modules, and enough open files."""

import platform
import re
import resource
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.domain.servers.launches import Profile
from mcpguard.upstreams.sandbox.probe import NoSandbox, probe_sandbox

BESIDES: Final = 200
"""Open files besides those of connections: the database, logs, servers."""
LEAST: Final = 256


def machine(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether everything is installed."""
    yield ok("machine.python", f"Python {platform.python_version()} on {platform.system()} {platform.release()}")
    yield from _sandbox(evidence)
    if evidence.settings.store.url is not None and find_spec("psycopg") is None:
        yield problem(
            "machine.postgresql", "store.url names a PostgreSQL server, and its driver is not installed",
            "install psycopg, which the distribution's requirements name",
        )  # fmt: skip


def _sandbox(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    why = _no_sandbox(evidence)
    if not why:
        yield ok("machine.sandbox", "servers can be sandboxed")
        return
    wanting = [each["name"] for each in evidence.servers if each["sandbox"] not in ("", Profile.NONE)]
    declared = evidence.loaded.servers.servers if evidence.loaded else ()
    wanting += [each.name for each in declared if each.enabled and each.sandbox not in (None, Profile.NONE)]
    said, next_ = f"servers cannot be sandboxed: {why}", "install bubblewrap, or see the sandbox in docs/operating.md"
    if wanting:
        yield problem("machine.sandbox", f"{said}; so these do not start: {', '.join(sorted({*wanting}))}", next_)
    else:
        yield notice("machine.sandbox", said, next_)


def _no_sandbox(evidence: DoctorEvidence) -> str:
    if evidence.status is not None:
        found = evidence.status["sandbox"]
        return "" if found["works"] else str(found["why"])
    tried = probe_sandbox()
    return tried.why if isinstance(tried, NoSandbox) else ""


def open_files(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether as many connections as the settings allow can be open."""
    most = _limit(evidence)
    connections = evidence.settings.limits.connections
    if most is None or most >= connections + BESIDES:
        yield ok("machine.files", f"the guard may have {'any number of' if most is None else f'{most:,}'} files open")
        return
    tell = problem if most < LEAST else notice
    yield tell(
        "machine.files",
        f"the guard may have {most:,} files open, too few for limits.connections ({connections:,}) and its servers",
        f"raise its limit (ulimit -n {connections * 4}, LimitNOFILE=), or lower limits.connections",
    )


def _limit(evidence: DoctorEvidence) -> int | None:
    """The limit of open files of the guard's process, else of this one; None if there is none."""
    if evidence.process is not None:
        text = Path(f"/proc/{evidence.process}/limits").read_text()
        if found := re.search(r"^Max open files\s+(\d+|unlimited)\s", text, re.MULTILINE):
            return None if found[1] == "unlimited" else int(found[1])
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
