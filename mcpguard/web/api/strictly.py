"""Bodies of requests have one meaning or are refused: what decides about trust is read by the strict reader only."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from mcpguard.codec.strict import StrictError, parse


class StrictRoute(APIRoute):
    """A route whose body is strict JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handler(_Strict(request.scope, request.receive))

        return strictly


class _Strict(Request):
    async def json(self) -> object:
        body = await self.body()  # the gate before has measured it
        try:
            return parse(body, max_bytes=len(body))
        except StrictError as error:
            raise HTTPException(400, f"the body is not strict JSON: {error.message}") from error
