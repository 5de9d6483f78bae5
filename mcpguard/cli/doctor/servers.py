"""Checks the servers: which are not ready, the reason, and their last output; and how many need review.

Rules kept here:
1. No server is started or contacted. The guard is queried; without one, only the status is known.
2. Of servers in quarantine, only the number is printed.
3. A server's output is printed as the guard stored it, with secrets masked, and only its last few lines.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from mcpguard.app.places import server_logs
from mcpguard.cli.doctor.evidence import MICROSECONDS, DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.upstreams.process.logs import last_lines

LINES: Final = 5
LOG_BYTES: Final = 8192
LONGEST_LINE: Final = 300
PATIENCE: Final = 60 * MICROSECONDS
"""Of a server that is being connected to."""


def servers(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    if evidence.status is None:
        yield from _stored(evidence)
        return
    known = evidence.servers
    wanted = [each for each in known if each["standing"] == "approved" and each["enabled"]]
    ready = [each for each in wanted if each["state"] == "ready"]
    yield ok("servers.ready", f"{len(ready)} of {len(wanted)} approved servers are ready")
    for each in wanted:
        if each["state"] != "ready":
            yield _not_ready(evidence, each)
        elif each["left_out"]:
            yield notice(
                "servers.left_out",
                f"not everything that {each['name']} lists is accepted: {'; '.join(each['left_out'])}",
                f"mcpguard server show {each['name']}",
                of=each["name"],
            )
    yield from _waiting(known, int(evidence.status["held"]))


def _not_ready(evidence: DoctorEvidence, server: Mapping[str, Any]) -> DoctorFinding:
    name = server["name"]
    since = datetime.fromtimestamp(server["since"] / MICROSECONDS, UTC)
    why = f": {server['error']}" if server["error"] else ""
    sentence = f"{name} is approved and not ready ({server['state']} since {since:%Y-%m-%d %H:%M:%S} UTC){why}"
    lines = _wrote(evidence, name) if server["transport"] == Transport.STDIO else ()
    if not server["error"] and evidence.now - server["since"] < PATIENCE:
        return notice("servers.ready", sentence, "it is still connecting: look again in a minute", of=name)
    look = f"mcpguard server show {name}"
    if server["transport"] == Transport.STDIO:
        look = f"mcpguard server logs {name}, for its output; {look}, for its command"
    return problem("servers.ready", sentence, f"{look}. The guard retries by itself", of=name, lines=lines)


def _wrote(evidence: DoctorEvidence, name: str) -> tuple[str, ...]:
    lines = last_lines(server_logs(evidence.settings), name, LOG_BYTES)[-LINES:]
    return tuple(line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} […]" for line in lines)


def _waiting(known: list[Mapping[str, Any]], held: int) -> Iterator[DoctorFinding]:
    quarantined = sum(each["standing"] == "quarantined" for each in known)
    capabilities = sum(each["waiting"] for each in known if each["standing"] == "approved")
    if quarantined:
        yield notice(
            "servers.quarantined", f"servers in quarantine: {quarantined}. They need review", "mcpguard server list"
        )
    if capabilities:
        yield notice(
            "servers.waiting",
            f"new or changed capabilities of approved servers: {capabilities}. They need review",
            "mcpguard server list",
        )
    if held:
        yield notice("calls.held", f"held calls: {held}. They need review", "mcpguard held list")


def _stored(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    if evidence.stored.there and not evidence.stored.was_read:
        yield notice("servers.known", "the servers are not known: the database was not read")
        return
    standings = [each.standing.value for each in evidence.stored.upstreams]
    counts = ", ".join(f"{standings.count(each)} {each}" for each in dict.fromkeys(standings)) or "none"
    yield ok("servers.known", f"known servers: {counts}. Whether they start is known while a guard is running")
