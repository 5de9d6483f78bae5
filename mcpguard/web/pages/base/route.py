"""Routes of pages that need a right; all take the same steps.

Rules kept here:
1. A reader without the right is refused before anything of the form is read.
2. Nobody signed in: redirect to the sign-in page, and back from there. Signed in without the right: a page that says
   who may.
"""

from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from mcpguard.web.gate import cookies
from mcpguard.web.gate.access import Needs, NobodyKnown, needs_of

RENEWED = "renewed"
"""In the state of a request: what the browser is to show from now on, where a password was given with a form."""


class PageRoute(APIRoute):
    """A route of a page that names the right it needs."""

    @property
    def needs(self) -> Needs:
        """Return the right that the page needs. Raises ValueError where it names none, or more than one."""
        return needs_of(self)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler, needs = super().get_route_handler(), self.needs

        async def guarded(request: Request) -> Response:
            try:
                await needs(request)
            except NobodyKnown:
                return to_sign_in(request)
            response = await handler(request)
            if renewed := getattr(request.state, RENEWED, ""):
                cookies.give(response, request.scope, renewed)
            return response

        return guarded


def to_sign_in(request: Request) -> Response:
    """Redirect to the sign-in page, and from there back to a page that is only read."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = f"?back={quote(wanted, safe='')}" if request.method in ("GET", "HEAD") and wanted != "/" else ""
    return RedirectResponse(f"/login{back}", 303, {"cache-control": "no-store"})
