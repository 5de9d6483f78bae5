"""Routes of settings that weaken protection: listing those that need confirmation, and confirming them."""

from collections.abc import Mapping
from dataclasses import asdict

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict

from mcpguard.domain.json import SettingValue
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import ConfirmedAnswer, WaitingAnswer
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router


class ConfirmationBody(BaseModel):
    """The settings to confirm: for each, the value that was reviewed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    values: Mapping[str, SettingValue]


def settings(guard: Guard) -> APIRouter:
    router = api_router("settings", "/settings")

    @router.get("/unconfirmed", dependencies=[may(Right.LOOK)], response_model=list[WaitingAnswer])
    async def unconfirmed() -> JSONResponse:
        """List the settings that need confirmation."""
        return JSONResponse([asdict(each) for each in guard.confirming.waiting])

    @router.post("/confirm", dependencies=[may(Right.ADMINISTER)], response_model=ConfirmedAnswer)
    async def confirm(request: Request, body: ConfirmationBody) -> JSONResponse:
        """Confirm all settings that need it, as they were reviewed. They take effect after a restart."""
        return JSONResponse({"confirmed": await guard.confirm(body.values, actor(request, guard))})

    return router
