"""Health for whatever keeps the guard running. Both answer from memory, also while the ledger is down.

`/healthz`: the process lives. `/readyz`: it can take calls.

Rules kept here:
1. While it cannot record, `/readyz` answers 503 with the reason and what to do, so that a load balancer sends agents
   elsewhere. The cause names files, so only the operator's socket tells it.
2. After a start it answers 503 until each approved server was tried once, or for `upstreams.settle_seconds`. From then
   on no server makes it unready: the others can be called.
3. Everybody is told how many approved servers are not connected; which those are, only the operator's socket and
   whoever has signed in and may look at servers.
"""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.people import Principal, Right
from mcpguard.guard.guard import Guard
from mcpguard.web.gate.access import whoever
from mcpguard.web.gate.peer import OperatorPeer

STARTING = "Servers are still being connected for the first time since the start."


def health(guard: Guard, *, causes: bool) -> APIRouter:
    router = APIRouter()

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @router.get("/readyz")
    async def readyz(request: Request) -> JSONResponse:
        readiness = guard.readiness()
        if readiness.reason is not None:
            unavailable: dict[str, object] = {
                "status": "unavailable",
                "reason": readiness.reason.value,
                "message": readiness.reason.sentence,
                "next": readiness.reason.next,
                "since": readiness.since,
            }
            if causes:
                unavailable["cause"] = readiness.cause
            return JSONResponse(unavailable, status_code=503)
        servers = _unconnected(guard, names=_may_look(request))
        if guard.servers.has_settled:
            return JSONResponse({"status": "ready", **servers})
        starting = {"status": "starting", "message": STARTING, **servers}
        return JSONResponse(starting, status_code=503, headers={"retry-after": "1"})

    return router


def _unconnected(guard: Guard, *, names: bool) -> dict[str, Any]:
    """How many approved servers are not connected now, and which; nothing where there are none."""
    found = guard.servers.unconnected_servers()
    if not found:
        return {}
    return {"not_connected": len(found), **({"servers": list(found)} if names else {})}


def _may_look(request: Request) -> bool:
    by = whoever(request)
    return isinstance(by, OperatorPeer) or (isinstance(by, Principal) and by.may(Right.LOOK))
