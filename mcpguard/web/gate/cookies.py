"""The cookie by which a browser shows that somebody is signed in.

Rules kept here: no script reads it, no other site's page sends it, over TLS nothing but this host sets it, and it goes
when the browser is closed. One that is there twice could mean two people, and is refused by whoever asks
(`credentials`).
"""

from typing import Final

from starlette.responses import Response
from starlette.types import Scope

NAME: Final = "mcpguard_session"


def shown(scope: Scope) -> list[str]:
    """What the browser shows; more than one where somebody else has set another."""
    sent = b";".join(value for name, value in scope["headers"] if name == b"cookie").decode("latin-1")
    pairs = (part.strip().partition("=") for part in sent.split(";"))
    return [value for name, _, value in pairs if name == _name(scope)]


def give(response: Response, scope: Scope, value: str) -> None:
    """Have the browser show this from now on."""
    response.set_cookie(_name(scope), value, path="/", httponly=True, samesite="strict", secure=_is_secure(scope))


def take(response: Response, scope: Scope) -> None:
    """Have it show nothing any more."""
    response.delete_cookie(_name(scope), path="/", httponly=True, samesite="strict", secure=_is_secure(scope))


def _name(scope: Scope) -> str:
    return f"__Host-{NAME}" if _is_secure(scope) else NAME


def _is_secure(scope: Scope) -> bool:
    return bool(scope["scheme"] == "https")
