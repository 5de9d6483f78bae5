"""The routes of the API, which all check the sender's right and the form of the request.

Rules kept here:
1. A sender who may not use a route is refused before the body is read.
2. A body is unambiguous JSON, or it is refused: input that decides about trust is parsed by the strict parser only.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from anyio import to_thread
from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from mcpguard.codec.strict import StrictError, parse
from mcpguard.web.gate.access import Needs, needs_of
from mcpguard.web.quick_routes import QuickRoutes

PREFIX: Final = "/api/v1"
LARGE: Final = 64 * 1024
"""Larger bodies, in bytes, are parsed in a thread, because that may take long."""
MOST_VALUES: Final = 100_000


class StrictRoute(APIRoute):
    """A route that names the right it needs, and whose body is strict JSON."""

    @property
    def needs(self) -> Needs:
        """The right that the route needs. Raises ValueError where it names none, or more than one."""
        return needs_of(self)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler, needs, has_body = super().get_route_handler(), self.needs, self.body_field is not None

        async def strictly(request: Request) -> Response:
            await needs(request)
            if has_body:
                _check_type(request)
            return await handler(_Strict(request.scope, request.receive))

        return strictly


def api_router(tag: str, prefix: str = "") -> APIRouter:
    """Make a router for one subject, with full paths, so that the routes need not be built a second time."""
    return APIRouter(prefix=PREFIX + prefix, tags=[tag], route_class=StrictRoute)


def _check_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    coded = request.headers.get("content-encoding", "identity").strip().lower()
    if kind != "application/json" or coded != "identity":
        raise HTTPException(415, "send application/json, uncompressed")


class _Strict(Request):
    async def json(self) -> object:
        body = await self.body()  # `BodyLimit` has limited its size
        read = partial(parse, body, max_bytes=len(body), max_values=MOST_VALUES)
        try:
            return await to_thread.run_sync(read) if len(body) > LARGE else read()
        except StrictError as error:
            raise HTTPException(400, f"the body is not strict JSON: {error.message}") from error


def framework_routes(quick: QuickRoutes) -> list[BaseRoute]:
    """Return routes that are answered elsewhere as routes of the framework, so that it refuses their other methods."""
    router = APIRouter()
    for path, endpoint in quick.endpoints.items():
        router.get(path)(endpoint)
    return router.routes
