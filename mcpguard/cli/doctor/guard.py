"""Checks whether a guard is running here, has this version, and can be reached.

Rules kept here:
1. The user's own guard is asked for its health at the address that it reports. If none is running, nothing is
   contacted: whether the port is free is tested by binding it for a moment, without listening.
"""

import http.client
import json
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from mcpguard import __version__
from mcpguard.app.places import agents_socket, operator_socket
from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.store.files.datadir import LOCK

TIMEOUT: Final = 2.0
SERVE: Final = "start it: mcpguard serve"


def running(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    if evidence.status is not None:
        yield from _guard(evidence, evidence.status)
        yield from _listener(evidence.status)
        yield from _agents(evidence)
    elif evidence.listens:
        path = operator_socket(evidence.settings.data_dir)
        yield problem(
            "guard.answers",
            f"a guard may be running here, but does not answer at {path}: it hangs, refuses this process, or this "
            "account cannot reach it",
            "look at the guard's own log; run this command outside of any container or sandbox, in the guard's account",
        )
    else:
        yield from _none(evidence)
        yield from _port(evidence)


def _guard(evidence: DoctorEvidence, status: Any) -> Iterator[DoctorFinding]:  # noqa: ANN401 - JSON of our own
    ready = status["ready"]
    yield ok("guard.runs", f"a guard runs here, process {status['process']}")
    if status["version"] != __version__:
        yield notice(
            "guard.version",
            f"it is version {status['version']}, and this command is {__version__}",
            "restart the guard so that both are the same",
        )
    else:
        yield ok("guard.version", f"it is version {__version__}, as this command")
    if ready["ready"]:
        yield ok("guard.ready", "it takes calls")
    else:
        yield problem(
            "guard.ready",
            f"it takes no calls ({ready['reason']}): {ready['cause']}",
            "correct the cause; calls are refused until then",
        )
    if evidence.versions and status["settings"] not in evidence.versions:
        yield notice(
            "guard.settings",
            "it was started with other settings than this command reads",
            "mcpguard config show; give this command the same --config and environment, or restart the guard",
        )


def _listener(status: Any) -> Iterator[DoctorFinding]:  # noqa: ANN401 - JSON of our own
    console = status["console"]
    if not console:
        yield notice("listener.answers", "it does not say where it listens")
        return
    try:
        answer = _health(console)
    except (OSError, http.client.HTTPException, ValueError) as error:
        answer = str(error) or type(error).__name__
    if answer is None:
        yield ok("listener.answers", f"it answers at {console}")
    else:
        yield problem(
            "listener.answers",
            f"the guard does not answer at {console}: {answer}",
            "restart the guard; a firewall rule or another program may be in the way",
        )


def _health(console: str) -> str | None:
    """What is wrong with the answer; None if it is that of a guard."""
    there = urlsplit(console)
    connection = http.client.HTTPConnection(there.hostname or "", there.port, timeout=TIMEOUT)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        body = answer.read(1024)
    finally:
        connection.close()
    return None if json.loads(body) == {"status": "alive"} else f"the answer ({answer.status}) is not that of a guard"


def _agents(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    path = agents_socket(evidence.settings.data_dir)
    if path.exists() and stat.S_ISSOCK(path.lstat().st_mode):
        yield ok("agents.socket", f"agents' relays find it at {path}")
    else:
        yield problem(
            "agents.socket", f"the agents' socket {path} is gone, and `mcpguard stdio` cannot reach the guard",
            "restart the guard, and find out what removes files of its data directory",
        )  # fmt: skip


def _none(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    note: Any = {}
    with suppress(OSError, ValueError):
        note = json.loads((evidence.settings.data_dir / LOCK).read_bytes()[:1024])
    pid = note.get("pid") if isinstance(note, dict) else None
    if not isinstance(pid, int):
        yield notice("guard.runs", f"no guard runs in {evidence.settings.data_dir}", SERVE)
    elif _alive(pid):
        yield problem(
            "guard.runs",
            f"process {pid} holds the data directory, but does not listen at the operator socket",
            "wait if it is just starting or stopping; otherwise look at its log, and restart it",
        )
    else:
        yield notice(
            "guard.runs",
            f"no guard runs in {evidence.settings.data_dir}, and the last one was killed or crashed",
            f"{SERVE}; calls that it left open are then closed as unknown",
        )


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return Path(f"/proc/{pid}").exists() or not Path("/proc/self").exists()


def _port(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    listen, (host, port) = evidence.settings.listen, evidence.settings.address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as bound:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((host, port))
    except OSError as error:
        yield problem(
            "listener.free",
            f"a guard could not listen on {listen}: {error.strerror}",
            f"stop the program that has it (ss -ltnp 'sport = :{port}'), which may be a guard with another data "
            "directory, or choose another address with `listen`",
        )
    else:
        yield ok("listener.free", f"{listen} is free for a guard")
