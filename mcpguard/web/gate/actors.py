"""The actor of a decision, as the audit log records it, on the operator's socket and on the network.

Rules kept here:
1. On the socket, the kernel vouches for the account (`peer`). The program's name is only read from /proc: it helps
   readers of the record, but proves nothing.
2. An unknown sender cannot decide anything.
3. Settings state whether a shell, or a token whose role can decide, may weaken protection. Users may if their role can
   decide and they have entered their password recently.
"""

import os
import pwd
from functools import partial
from pathlib import Path
from typing import Final

from fastapi import Request

from mcpguard.domain.decisions import TOKENS, Actor, Forbidden, is_never_revoked
from mcpguard.domain.people import Principal, Right
from mcpguard.guard.guard import Guard
from mcpguard.text.visible import visible
from mcpguard.web.gate.peer import OperatorPeer
from mcpguard.web.gate.sender import whoever

VIA: Final = "operator socket"
API: Final = "api"
LONGEST: Final = 60
"""The longest name from outside, in characters."""
_UNIX98: Final = range(136, 144)
_CONSOLE: Final = 4


def actor(request: Request, guard: Guard, via: str = API) -> Actor:
    """Return the sender of a request; `via` names the door on the network. Raises Forbidden if unknown."""
    match whoever(request):
        case OperatorPeer(pid, uid):
            widens = guard.settings.authority.shell == "full"
            return Actor(account(uid), VIA, program(pid), may_widen=widens, holds=is_never_revoked)
        case Principal() as by:
            return _token(by, via, guard) if by.kind == "token" else _person(by, via, guard)
        case None:
            raise Forbidden("the sender of this request is unknown, so nothing was done")


def _person(by: Principal, via: str, guard: Guard) -> Actor:
    widens = by.recent and by.may(Right.DECIDE)
    return Actor(_id(by), via, may_widen=widens, recent=by.recent, holds=partial(guard.people.holds, by))


def _token(by: Principal, via: str, guard: Guard) -> Actor:
    widens = by.may(Right.DECIDE) and guard.settings.authority.tokens == "full"
    return Actor(_id(by), via, may_widen=widens, bound=TOKENS, holds=partial(guard.people.holds, by))


def _id(by: Principal) -> str:
    return f"{by.kind}:{by.id} ({by.name})"


def peer_of(request: Request) -> str:
    """Return the address of the sender; empty at a Unix socket."""
    return request.client.host if request.client else ""


def account(uid: int) -> str:
    """Name an account by its number, and by its name if it has one."""
    try:
        return f"uid:{uid} ({_short(pwd.getpwuid(uid).pw_name)})"
    except KeyError:
        return f"uid:{uid}"


def program(pid: int) -> str:
    """Name the executable, process and terminal as far as they can be read: `python3.11 (4711) on pts/3`."""
    here = Path("/proc") / str(pid)
    try:
        name = _short((here / "exe").readlink().name)
    except OSError:
        name = "process"
    terminal = _terminal(here)
    return f"{name} ({pid})" + (f" on {terminal}" if terminal else "")


def _terminal(here: Path) -> str:
    try:
        stat = (here / "stat").read_bytes()
    except OSError:
        return ""
    number = int(stat.rpartition(b")")[2].split()[4])  # the name before it may contain anything
    major, minor = os.major(number), os.minor(number)
    if major in _UNIX98:
        return f"pts/{minor}"
    return f"tty{minor}" if major == _CONSOLE else ""


def _short(name: str) -> str:
    return visible(name if len(name) <= LONGEST else name[:LONGEST] + "…")
