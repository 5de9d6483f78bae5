"""Checks who could be anonymous on this host, and what an anonymous agent may do.

Rules kept here:
1. Loopback means this host, not this account: every local account, and anything that shares the network of this
   process, can be anonymous. The known ones are named; the check never claims that there are no others.
"""

import os
import pwd
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.cli.shared.guard_client import CALLERS
from mcpguard.settings.address import is_on_loopback
from mcpguard.settings.entries.entry import list_names
from mcpguard.upstreams.sandbox.accounts import GROUP

PEOPLE: Final = 1000
NOBODY: Final = 65_000
NO_LOGIN: Final = frozenset({"nologin", "false", "sync", "halt", "shutdown"})
MOST: Final = 10
CLOSE: Final = "anonymous.enabled=false, and a token for each agent (mcpguard caller add), close this"


def anonymous(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """What agents without a token may do, and who could be one."""
    scope = _in_force(evidence)
    if not scope["enabled"]:
        yield ok("anonymous.enabled", "anonymous access is off: every agent needs a token")
        return
    where = _where(scope["tools"], scope["servers"])
    yield notice(
        "anonymous.enabled",
        f"without a token, agents can find all that is approved and call what is {_effects(scope['effects'])}{where}; "
        "so can every account on this host, and every process and container that shares its network",
        f"{CLOSE}; anonymous.servers, anonymous.tools and anonymous.effects narrow it",
    )
    people = _people(evidence.account)
    if people:
        yield notice("anonymous.people", f"other accounts that can log in on this host: {_some(people)}", CLOSE)
    else:
        yield ok("anonymous.people", "no other account is known that can log in on this host")
    if running := _running(evidence.account):
        yield notice("anonymous.programs", f"other accounts with running programs: {_some(running)}", CLOSE)
    networked = sorted(each["name"] for each in evidence.servers if each["sandbox"] in ("contained", "none"))
    if networked:
        yield notice(
            "anonymous.servers",
            f"servers with network access, which can reach the guard as anonymous agents: {_some(networked)}",
            f"give them the sandbox profile strict where they need no network; {CLOSE}",
        )


def _in_force(evidence: DoctorEvidence) -> Any:  # noqa: ANN401 - JSON of our own
    if evidence.status is not None:
        answer = evidence.guard.get_or_none(f"{CALLERS}?limit=1")
        if answer is not None:
            return answer["anonymous"]
    return evidence.settings.anonymous.model_dump(mode="json")


def listen(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell who can reach the guard. Without TLS it refuses other addresses than loopback; another version may not."""
    where = urlsplit(evidence.status["console"]).netloc if evidence.status is not None else evidence.settings.listen
    if _is_local(where):
        yield ok("anonymous.listen", f"{where} can be reached from this host only")
    elif evidence.settings.tls.certificate is None and not evidence.settings.proxies:
        yield problem("anonymous.listen", f"{where} can be reached from other hosts", "listen on 127.0.0.1 only")
    elif evidence.settings.tls.certificate is None:
        yield ok("anonymous.listen", f"{where} can be reached through its proxies only; every agent needs a token")
    else:
        yield ok("anonymous.listen", f"{where} can be reached from other hosts, over TLS; every agent needs a token")


def _is_local(where: str) -> bool:
    try:
        return is_on_loopback(where)
    except ValueError:  # a name, which other hosts know, too
        return False


def _people(account: int) -> list[str]:
    return sorted(
        f"{each.pw_name} ({each.pw_uid})"
        for each in pwd.getpwall()
        if (each.pw_uid == 0 or PEOPLE <= each.pw_uid < NOBODY)
        and each.pw_uid != account
        and Path(each.pw_shell or "/bin/sh").name not in NO_LOGIN
    )


def _running(account: int) -> list[str]:
    """The accounts of all processes, except the guard's, root's, and those of servers that a guard as root confines."""
    found: set[int] = set()
    with suppress(OSError), os.scandir("/proc") as entries:
        for each in entries:
            if each.name.isdecimal():
                with suppress(OSError):
                    about = each.stat()
                    if about.st_gid != GROUP:
                        found.add(about.st_uid)
    return sorted(map(_named, found - {0, account}))


def _named(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    except KeyError:
        return str(uid)


def _effects(effects: list[str]) -> str:
    return " or ".join(effects) or "of no effect"


def _where(tools: list[str], servers: list[str]) -> str:
    """The limits of the scope in words; empty if there are none."""
    limits = (
        f" {what} {' '.join(some) or 'none'}" for what, some in (("named", tools), ("of", servers)) if "*" not in some
    )
    return "".join(limits)


def _some(names: list[str]) -> str:
    more = [f"{len(names) - MOST} more"] if len(names) > MOST else []
    return list_names([*names[:MOST], *more])
