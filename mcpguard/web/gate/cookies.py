"""The session cookie of a signed-in user.

Rules kept here: no script can read the cookie, no page of another site can send it, over TLS only this host can set it,
and it ends with the browser session. A request with two of them is ambiguous about its user and is refused
(`credentials`).
"""

from typing import Final

from starlette.responses import Response
from starlette.types import Scope

NAME: Final = "mcpguard_session"


def session_cookies(scope: Scope) -> list[str]:
    """Return the session cookies of a request; more than one if another site has planted one."""
    sent = b";".join(value for name, value in scope["headers"] if name == b"cookie").decode("latin-1")
    pairs = (part.strip().partition("=") for part in sent.split(";"))
    return [value for name, _, value in pairs if name == _name(scope)]


def give(response: Response, scope: Scope, value: str) -> None:
    """Set the session cookie in the browser."""
    response.set_cookie(_name(scope), value, path="/", httponly=True, samesite="strict", secure=_is_secure(scope))


def take(response: Response, scope: Scope) -> None:
    """Delete the session cookie in the browser."""
    response.delete_cookie(_name(scope), path="/", httponly=True, samesite="strict", secure=_is_secure(scope))


def _name(scope: Scope) -> str:
    return f"__Host-{NAME}" if _is_secure(scope) else NAME


def _is_secure(scope: Scope) -> bool:
    return bool(scope["scheme"] == "https")
