"""Routes of the guard itself: its status."""

from dataclasses import asdict, replace

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.status import Status
from mcpguard.web.gate.access import may
from mcpguard.web.gate.peer import OperatorPeer
from mcpguard.web.gate.sender import whoever
from mcpguard.web.gate.strict_routes import api_router


def guarding(guard: Guard) -> APIRouter:
    router = api_router("guard")

    @router.get("/status", dependencies=[may(Right.LOOK)], response_model=Status)
    async def status(request: Request) -> JSONResponse:
        """Get the status of the guard, its audit log, its sandbox and all its servers.

        Members that name files are filled at the operator's socket only: `data_dir`, `database`, the cause of an
        outage, and the file of the anchors with its trouble.
        """
        status = guard.status()
        if not isinstance(whoever(request), OperatorPeer):
            anchors = status.ledger.anchors and replace(status.ledger.anchors, file="", trouble="")
            ledger, ready = replace(status.ledger, anchors=anchors), replace(status.ready, cause="")
            status = replace(status, data_dir="", database="", ready=ready, ledger=ledger)
        return JSONResponse(asdict(status))

    return router
