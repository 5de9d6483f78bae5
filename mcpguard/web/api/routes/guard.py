"""How the guard itself is."""

from dataclasses import asdict, replace

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.status import Status
from mcpguard.web.gate.access import may, whoever
from mcpguard.web.gate.peer import OperatorPeer
from mcpguard.web.gate.strict_routes import api_router


def guarding(guard: Guard) -> APIRouter:
    router = api_router("guard")

    @router.get("/status", dependencies=[may(Right.LOOK)], response_model=Status)
    async def status(request: Request) -> JSONResponse:
        """How the guard is, with its ledger, its sandbox and all its servers.

        What names files is told at the operator's socket only: `data_dir`, `database`, the cause of an outage, and
        which file has the anchors and what is wrong with it.
        """
        status = guard.status()
        if not isinstance(whoever(request), OperatorPeer):
            anchors = status.ledger.anchors and replace(status.ledger.anchors, file="", trouble="")
            ledger, ready = replace(status.ledger, anchors=anchors), replace(status.ready, cause="")
            status = replace(status, data_dir="", database="", ready=ready, ledger=ledger)
        return JSONResponse(asdict(status))

    return router
