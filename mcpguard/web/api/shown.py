"""Servers and capabilities as they are shown, each with the tag of what can be decided about it.

The tag is taken before what is shown: where something moves in between, it is too old, and no decision rests on it.
One that lists very much is written down aside, so that nobody else waits for it.
"""

from collections.abc import Mapping

from anyio import to_thread
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import CapabilityKey
from mcpguard.guard.guard import Guard
from mcpguard.web.gate.matching import etag


async def shown(
    guard: Guard, server: str, status: int = 200, headers: Mapping[str, str] | None = None, **more: object
) -> JSONResponse:
    """All that is known of a server, with what is to be said besides. Raises Unknown."""
    told = {**(headers or {}), **etag(guard.queries.tag(server))}
    said = await guard.queries.server(server)
    return await to_thread.run_sync(lambda: JSONResponse(said | more, status, told))


async def shown_one(guard: Guard, server: str, key: CapabilityKey) -> JSONResponse:
    """All that is known of a capability. Raises Unknown."""
    told = etag(guard.queries.tag(server, key))
    return JSONResponse(await guard.queries.capability(server, key), headers=told)
