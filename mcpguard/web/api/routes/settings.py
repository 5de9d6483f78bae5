"""Settings that carry trust: which wait to be confirmed, and confirming them."""

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
    """What is confirmed: the value that was seen of every setting that waits."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    values: Mapping[str, SettingValue]


def settings(guard: Guard) -> APIRouter:
    router = api_router("settings", "/settings")

    @router.get("/unconfirmed", dependencies=[may(Right.LOOK)], response_model=list[WaitingAnswer])
    async def unconfirmed() -> JSONResponse:
        """The settings that carry trust and wait to be confirmed."""
        return JSONResponse([asdict(each) for each in guard.confirming.waiting])

    @router.post("/confirm", dependencies=[may(Right.ADMINISTER)], response_model=ConfirmedAnswer)
    async def confirm(request: Request, body: ConfirmationBody) -> JSONResponse:
        """Confirm all that waits, as it was seen. It is in force from the next start on."""
        return JSONResponse({"confirmed": await guard.confirm(body.values, actor(request, guard))})

    return router
