"""Routes of servers: listing, adding, changing and removing them. None of these approves a server."""

from functools import partial
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from mcpguard.codec.capability_keys import write_key
from mcpguard.domain.decisions import Actor
from mcpguard.domain.people import Right
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.admission import DeclarationSource
from mcpguard.web.api.answers import DescriptionsAnswer, NewServerAnswer, ServerAnswer, ServersAnswer
from mcpguard.web.api.bodies import AddedBody, PatchedBody, RevisionBody
from mcpguard.web.api.etag_responses import server_response
from mcpguard.web.api.pages import Cursor, Limit, page
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, bind_to_if_match
from mcpguard.web.gate.strict_routes import api_router

BEGINNING: Final = 300
"""The number of characters that are returned of a description."""


def servers(guard: Guard) -> APIRouter:
    router = api_router("servers")
    decide = [may(Right.DECIDE)]

    def by(request: Request, server: str) -> Actor:
        return bind_to_if_match(request, actor(request, guard), partial(guard.queries.tag, server))

    @router.get("/servers", dependencies=[may(Right.LOOK)], response_model=ServersAnswer)
    async def every(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """List the servers, by name, with their status and connection."""
        found, after = page(guard.queries.servers(), lambda server: str(server["name"]), limit, cursor)
        return JSONResponse({"servers": list(found), "next": after})

    @router.get("/servers/{server}", dependencies=[may(Right.LOOK)], response_model=ServerAnswer, openapi_extra=SHOWN)
    async def one(server: str) -> JSONResponse:
        """Get everything about one server, with all its capabilities."""
        return await server_response(guard, server)

    @router.get("/servers/{server}/descriptions", dependencies=[may(Right.LOOK)], response_model=DescriptionsAnswer)
    async def descriptions(server: str) -> JSONResponse:
        """Get the beginning of each description that a server lists now, as the server wrote it."""
        every = await guard.queries.definitions(server)
        said = {write_key(key): text for key, definition in every.items() if (text := _description(definition))}
        return JSONResponse({"descriptions": said})

    @router.post("/servers", dependencies=decide, response_model=NewServerAnswer, status_code=201, openapi_extra=SHOWN)
    async def add(request: Request, body: AddedBody) -> JSONResponse:
        """Add a server. It is quarantined and not started."""
        origin = Origin.IMPORT if body.imported else Origin.CLI
        added = await guard.admission.add(body.name, body.config, DeclarationSource(origin, actor(request, guard)))
        there = {"location": f"{request.url.path}/{added.name}"}
        return await server_response(guard, added.name, 201, there, notices=added.notices)

    @router.patch(
        "/servers/{server}", dependencies=decide, response_model=NewServerAnswer, openapi_extra=AS_SEEN | SHOWN
    )
    async def patch(request: Request, server: str, body: PatchedBody) -> JSONResponse:
        """Change the declaration of a server. If its launch changes, it is quarantined."""
        patched = await guard.admission.patch(server, body.patch, body.revision, by(request, server))
        return await server_response(guard, server, notices=patched.notices)

    @router.post(
        "/servers/{server}/pin", dependencies=decide, response_model=NewServerAnswer, openapi_extra=AS_SEEN | SHOWN
    )
    async def pin(request: Request, server: str, body: RevisionBody) -> JSONResponse:
        """Pin a server to the version of its package that was inspected. Its launch changes, so it is quarantined."""
        pinned = await guard.admission.pin_version(server, body.revision, by(request, server))
        return await server_response(guard, server, notices=pinned.notices)

    @router.delete("/servers/{server}", dependencies=decide, status_code=204, openapi_extra=AS_SEEN)
    async def remove(request: Request, server: str, revision: int) -> Response:
        """Remove a server. Decisions about it are kept."""
        await guard.admission.remove(server, revision, by(request, server))
        return Response(status_code=204)

    return router


def _description(definition: object) -> str:
    """Return the beginning of the description in a definition; instructions are plain text."""
    said = definition.get("description") if isinstance(definition, dict) else definition
    return said[:BEGINNING] if isinstance(said, str) else ""
