"""A server as it is shown. One that lists very much is written down aside, so that nobody else waits for it."""

from collections.abc import Mapping

from anyio import to_thread
from fastapi.responses import JSONResponse

from mcpguard.guard.guard import Guard


async def shown(
    guard: Guard, server: str, status: int = 200, headers: Mapping[str, str] | None = None, **more: object
) -> JSONResponse:
    """All that is known of it, with what is to be said besides. Raises Unknown."""
    said = await guard.queries.server(server)
    return await to_thread.run_sync(lambda: JSONResponse(said | more, status, headers))
