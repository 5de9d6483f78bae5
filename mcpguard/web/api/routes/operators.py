"""Routes of API tokens: listing, creating and revoking them. A token's secret is returned once, when it is created."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import StrictInt

from mcpguard.domain.grants import USUAL_SECONDS
from mcpguard.domain.people import OperatorToken, Right, Role
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import NewOperatorAnswer, OperatorsAnswer, RevokedOperatorAnswer
from mcpguard.web.api.bodies import example
from mcpguard.web.api.pages import Cursor, Limit, page
from mcpguard.web.api.routes.people import OptionalWhyBody, because
from mcpguard.web.gate.access import may
from mcpguard.web.gate.strict_routes import api_router


class TokenAddedBody(OptionalWhyBody):
    """An API token to create. `expires_in`: seconds until it expires; left out: 90 days; null: never."""

    model_config = example({"name": "ci", "role": "auditor", "expires_in": 2592000})

    name: str
    role: Role
    expires_in: StrictInt | None = USUAL_SECONDS


def operators(guard: Guard) -> APIRouter:
    router = api_router("operators")
    administer = [may(Right.ADMINISTER)]

    @router.get("/operators", dependencies=administer, response_model=OperatorsAnswer)
    async def tokens(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """List the API tokens, by name, without their secrets."""
        found, after = page([*guard.people.tokens()], lambda token: token.name, limit, cursor)
        return JSONResponse({"operators": [_token(guard, token) for token in found], "next": after})

    @router.post("/operators", dependencies=administer, response_model=NewOperatorAnswer, status_code=201)
    async def add_token(request: Request, body: TokenAddedBody) -> JSONResponse:
        """Create an API token. Only this answer has its secret."""
        made = await guard.operators.add(body.name, body.role, body.expires_in, because(request, guard, body))
        said = _token(guard, made[0]) | {"token": made[1]}
        return JSONResponse(said, 201, headers={"cache-control": "no-store"})

    @router.post("/operators/{token}/revoke", dependencies=administer, response_model=RevokedOperatorAnswer)
    async def revoke(request: Request, token: str, body: OptionalWhyBody) -> JSONResponse:
        """Revoke an API token, by its id."""
        revoked = await guard.operators.revoke(token, because(request, guard, body))
        return JSONResponse(_token(guard, revoked) | {"standing": "revoked"})

    return router


def _token(guard: Guard, token: OperatorToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "standing": "active" if token.holds(guard.clock.now()) else "expired",
        "created_at": token.created_at,
        "created_by": token.created_by,
        "expires_at": token.expires_at,
    }
