"""The route that rotates the audit signing key."""

from dataclasses import asdict

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import RotatedAnswer
from mcpguard.web.api.routes.people import OptionalWhyBody, because
from mcpguard.web.gate.access import may
from mcpguard.web.gate.strict_routes import api_router


def signing(guard: Guard) -> APIRouter:
    router = api_router("audit")

    @router.post("/signing-key/rotate", dependencies=[may(Right.ADMINISTER)], response_model=RotatedAnswer)
    async def rotate(request: Request, body: OptionalWhyBody) -> JSONResponse:
        """Rotate the audit signing key. The old key signs the new one into the log, and is deleted then."""
        return JSONResponse(asdict(await guard.rotating.rotate(because(request, guard, body))))

    return router
