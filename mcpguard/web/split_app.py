"""Serves two applications at one listener."""

from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Receive, Scope, Send


class SplitApp:
    """Sends some requests to one application, and all others to another."""

    def __init__(self, some: ASGIApp, wanted: Callable[[Scope], bool], others: ASGIApp) -> None:
        self._some = some
        self._wanted = wanted
        self._others = others

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        to = self._some if scope["type"] == "http" and self._wanted(scope) else self._others
        return to(scope, receive, send)
