"""The routes of the API: whoever may not use one is refused before its body is read, and bodies have one meaning.

What decides about trust is read by the strict reader only.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from mcpguard.codec.strict import StrictError, parse
from mcpguard.web.api.access import Needs


class StrictRoute(APIRoute):
    """A route that names the right it needs, and whose body is strict JSON."""

    @property
    def needs(self) -> Needs:
        """Raises ValueError for a route that does not say, or says more than one."""
        (needs,) = (each.dependency for each in self.dependencies if isinstance(each.dependency, Needs))
        return needs

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler, needs = super().get_route_handler(), self.needs

        async def strictly(request: Request) -> Response:
            await needs(request)
            return await handler(_Strict(request.scope, request.receive))

        return strictly


class _Strict(Request):
    async def json(self) -> object:
        body = await self.body()  # the gate before has measured it
        try:
            return parse(body, max_bytes=len(body))
        except StrictError as error:
            raise HTTPException(400, f"the body is not strict JSON: {error.message}") from error
