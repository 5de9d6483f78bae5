"""Builds an application at its first request: many guards started by agents never receive one."""

from collections.abc import Callable

import anyio
from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpguard.slow_libraries import freeze_loaded


class LazyApp:
    """An application that is built once, in a thread, for its first request."""

    def __init__(self, build: Callable[[], ASGIApp]) -> None:
        self._build = build
        self._app: ASGIApp | None = None
        self._building = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app or await self._built()
        await app(scope, receive, send)

    async def _built(self) -> ASGIApp:
        async with self._building:
            if self._app is None:
                self._app = await to_thread.run_sync(self._build)
                freeze_loaded()
            return self._app
