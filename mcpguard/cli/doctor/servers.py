"""The servers: which are not ready, why, and what they wrote last; how many wait for a person.

Rules kept here:
1. Nothing is started or contacted. What the guard knows is told; without a guard, only how they stand.
2. Of servers in quarantine only the number is told.
3. What a server wrote is told as the guard stored it, secrets masked, and no more than a few lines of it.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from mcpguard.app.places import server_logs
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.cli.doctor.sight import MICROSECONDS, Sight
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.upstreams.process.logs import last_lines

LINES: Final = 5
LOG_BYTES: Final = 8192
LONGEST_LINE: Final = 300
PATIENCE: Final = 60 * MICROSECONDS
"""Of a server that is being connected to."""


def servers(sight: Sight) -> Iterator[DoctorFinding]:
    if sight.status is None:
        yield from _stored(sight)
        return
    known = sight.servers
    wanted = [each for each in known if each["standing"] == "approved" and each["enabled"]]
    ready = [each for each in wanted if each["state"] == "ready"]
    yield ok("servers.ready", f"{len(ready)} of {len(wanted)} approved servers are ready")
    for each in wanted:
        if each["state"] != "ready":
            yield _not_ready(sight, each)
        elif each["left_out"]:
            yield notice(
                "servers.left_out",
                f"not everything that {each['name']} lists is taken: {'; '.join(each['left_out'])}",
                f"mcpguard server show {each['name']}",
                of=each["name"],
            )
    yield from _waiting(known, int(sight.status["held"]))


def _not_ready(sight: Sight, server: Mapping[str, Any]) -> DoctorFinding:
    name = server["name"]
    since = datetime.fromtimestamp(server["since"] / MICROSECONDS, UTC)
    why = f": {server['error']}" if server["error"] else ""
    sentence = f"{name} is approved and not ready ({server['state']} since {since:%Y-%m-%d %H:%M:%S} UTC){why}"
    lines = _wrote(sight, name) if server["transport"] == Transport.STDIO else ()
    if not server["error"] and sight.now - server["since"] < PATIENCE:
        return notice("servers.ready", sentence, "it is still being connected to: look again in a minute", of=name)
    look = f"mcpguard server show {name}"
    if server["transport"] == Transport.STDIO:
        look = f"mcpguard server logs {name}, which has all that it wrote; {look}, which has its command"
    return problem("servers.ready", sentence, f"{look}. The guard tries again by itself", of=name, lines=lines)


def _wrote(sight: Sight, name: str) -> tuple[str, ...]:
    lines = last_lines(server_logs(sight.settings), name, LOG_BYTES)[-LINES:]
    return tuple(line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} […]" for line in lines)


def _waiting(known: list[Mapping[str, Any]], held: int) -> Iterator[DoctorFinding]:
    quarantined = sum(each["standing"] == "quarantined" for each in known)
    capabilities = sum(each["waiting"] for each in known if each["standing"] == "approved")
    if quarantined:
        yield notice("servers.quarantined", f"servers in quarantine: {quarantined}. They wait", "mcpguard server list")
    if capabilities:
        yield notice(
            "servers.waiting",
            f"capabilities of approved servers that are new or have changed: {capabilities}. They wait for a person",
            "mcpguard server list",
        )
    if held:
        yield notice("calls.held", f"calls that wait for a person: {held}", "mcpguard held list")


def _stored(sight: Sight) -> Iterator[DoctorFinding]:
    if sight.stored.there and not sight.stored.known:
        yield notice("servers.known", "which servers there are cannot be told: the database was not read")
        return
    standings = [each.standing.value for each in sight.stored.upstreams]
    counts = ", ".join(f"{standings.count(each)} {each}" for each in dict.fromkeys(standings)) or "none"
    yield ok("servers.known", f"servers that are known: {counts}. Whether they start is known while a guard runs")
