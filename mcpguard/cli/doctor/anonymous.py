"""Who could be anonymous here, and what they may do then.

Rules kept here:
1. Loopback is this machine, not this account: every local account, and whatever shares the network of this process, can
   be anonymous. Those that are known are named; that there are no others is never said.
"""

import os
import pwd
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.cli.doctor.sight import Sight
from mcpguard.cli.shared.guard_client import CALLERS
from mcpguard.settings.address import loopback
from mcpguard.settings.entries.entry import enumerated
from mcpguard.upstreams.sandbox.accounts import GROUP

PEOPLE: Final = 1000
NOBODY: Final = 65_000
NO_LOGIN: Final = frozenset({"nologin", "false", "sync", "halt", "shutdown"})
MOST: Final = 10
CLOSE: Final = "anonymous.enabled=false, and a token for each agent (mcpguard caller add), close this"


def anonymous(sight: Sight) -> Iterator[DoctorFinding]:
    """What whoever shows no token may do, and who that could be."""
    scope = _in_force(sight)
    if not scope["enabled"]:
        yield ok("anonymous.enabled", "nobody is anonymous: every agent needs a token")
        return
    where = _where(scope["tools"], scope["servers"])
    yield notice(
        "anonymous.enabled",
        f"without a token, an agent may find all that is approved and use what is {_effects(scope['effects'])}{where}; "
        "so may every account of this machine, and every process and container that shares its network",
        f"{CLOSE}; anonymous.servers, anonymous.tools and anonymous.effects narrow it",
    )
    people = _people(sight.account)
    if people:
        yield notice("anonymous.people", f"other accounts that can sign in here: {_some(people)}", CLOSE)
    else:
        yield ok("anonymous.people", "no other account that can sign in is known here")
    if running := _running(sight.account):
        yield notice("anonymous.programs", f"other accounts whose programs run now: {_some(running)}", CLOSE)
    networked = sorted(each["name"] for each in sight.servers if each["sandbox"] in ("contained", "none"))
    if networked:
        yield notice(
            "anonymous.servers",
            f"servers that have the network, and so reach the guard as anonymous agents: {_some(networked)}",
            f"give them the sandbox profile strict where they need no network; {CLOSE}",
        )


def _in_force(sight: Sight) -> Any:  # noqa: ANN401 - JSON of our own
    if sight.status is not None:
        answer = sight.operator.heard(f"{CALLERS}?limit=1")
        if answer is not None:
            return answer["anonymous"]
    return sight.settings.anonymous.model_dump(mode="json")


def listen(sight: Sight) -> Iterator[DoctorFinding]:
    """The guard refuses other addresses; a guard of another version may not."""
    where = urlsplit(sight.status["console"]).netloc if sight.status is not None else sight.settings.listen
    try:
        loopback(where)
    except ValueError:
        yield problem("anonymous.listen", f"{where} can be reached from elsewhere", "listen on 127.0.0.1 only")
    else:
        yield ok("anonymous.listen", f"{where} can be reached from this machine only")


def _people(account: int) -> list[str]:
    return sorted(
        f"{each.pw_name} ({each.pw_uid})"
        for each in pwd.getpwall()
        if (each.pw_uid == 0 or PEOPLE <= each.pw_uid < NOBODY)
        and each.pw_uid != account
        and Path(each.pw_shell or "/bin/sh").name not in NO_LOGIN
    )


def _running(account: int) -> list[str]:
    """The accounts of all processes that can be seen, but for the guard's, those of what a guard that is root confines,
    and root's: root may do everything anyway."""
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
    """Which of it; nothing where that is everything."""
    limits = (
        f" {what} {' '.join(some) or 'none'}" for what, some in (("named", tools), ("of", servers)) if "*" not in some
    )
    return "".join(limits)


def _some(names: list[str]) -> str:
    more = [f"{len(names) - MOST} more"] if len(names) > MOST else []
    return enumerated([*names[:MOST], *more])
