"""Health for whatever keeps the guard running. Both answer from memory, also while the ledger is down.

`/healthz`: the process lives. `/readyz`: it can take calls; while it cannot, 503 with the reason and what to do, so
that a load balancer sends agents elsewhere. The cause names files, so only the operator's socket tells it.
"""

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from mcpguard.guard.guard import Guard


def health(guard: Guard, *, causes: bool) -> APIRouter:
    router = APIRouter()

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @router.get("/readyz")
    async def readyz() -> JSONResponse:
        readiness = guard.readiness()
        if readiness.reason is None:
            return JSONResponse({"status": "ready"})
        answer: dict[str, object] = {
            "status": "unavailable",
            "reason": readiness.reason.value,
            "message": readiness.reason.sentence,
            "next": readiness.reason.next,
            "since": readiness.since,
        }
        if causes:
            answer["cause"] = readiness.cause
        return JSONResponse(answer, status_code=503)

    return router
