"""The responses about one server or capability, with the ETag that decisions about it must name.

The ETag is computed before the content: if something changes in between, the ETag is stale and no decision can use it.
A large response is serialized in a thread, so that other requests do not wait for it.
"""

from collections.abc import Mapping

from anyio import to_thread
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import CapabilityKey
from mcpguard.guard.guard import Guard
from mcpguard.web.gate.matching import etag


async def server_response(
    guard: Guard, server: str, status: int = 200, headers: Mapping[str, str] | None = None, **more: object
) -> JSONResponse:
    """Answer with everything about a server, and with more members if given. Raises Unknown."""
    told = {**(headers or {}), **etag(guard.queries.tag(server))}
    said = await guard.queries.server(server)
    return await to_thread.run_sync(lambda: JSONResponse(said | more, status, told))


async def capability_response(guard: Guard, server: str, key: CapabilityKey) -> JSONResponse:
    """Answer with everything about a capability. Raises Unknown."""
    told = etag(guard.queries.tag(server, key))
    return JSONResponse(await guard.queries.capability(server, key), headers=told)
