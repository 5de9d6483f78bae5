"""People at a guard in this process: let in, signed in, and what their browsers send."""

from mcpguard.domain.decisions import Actor, Decision, is_never_revoked
from mcpguard.domain.people import Role, User
from mcpguard.web.gate.cookies import NAME
from tests.gate import Gate
from tests.world import PORT, World

BY = Decision(Actor.with_full_rights("uid:1000 (operator)", "operator socket"), "they work here")
NARROW = Decision(Actor("uid:1000 (operator)", "operator socket", may_widen=False, holds=is_never_revoked), "a shell")
PASSWORD = "seven brown horses"  # noqa: S105 - nobody's
PEER = "192.0.2.7"
OURS = {"origin": f"http://127.0.0.1:{PORT}", "sec-fetch-site": "same-origin"}
"""What a browser sends with what our own pages make it send."""


async def user(guard: World | Gate, name: str = "ada", role: Role = Role.ADMIN, password: str = PASSWORD) -> User:
    """Somebody who was let in."""
    return await guard.now.guard.users.add(name, role, password, BY)


async def cookie(guard: World | Gate, name: str = "ada", password: str = PASSWORD, before: str = "") -> str:
    """What the browser of somebody shows who has signed in just now."""
    return (await guard.now.guard.signing_in.with_password(name, password, PEER, before)).shown


async def token(guard: World | Gate, role: Role = Role.ADMIN, name: str = "ci", seconds: int | None = None) -> str:
    """An operator's token."""
    return (await guard.now.guard.operators.add(name, role, seconds, BY))[1]


def shows(shown: str) -> dict[str, str]:
    """The header with which a browser shows it."""
    return {"cookie": f"{NAME}={shown}"}


def bears(token: str) -> dict[str, str]:
    """The header with which a program shows it."""
    return {"authorization": f"Bearer {token}"}
