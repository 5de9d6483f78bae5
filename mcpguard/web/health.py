"""Health checks for supervisors and load balancers. Both respond from memory, even while the audit log is down.

`/healthz`: the process is alive. `/readyz`: it can accept calls.

Rules kept here:
1. While the audit log cannot be written, `/readyz` returns 503 with the reason and what to do, so that a load balancer
   sends agents elsewhere. The cause names files, so only the operator's socket shows it.
2. After a start, it returns 503 until each approved server was tried once, for at most `upstreams.settle_seconds`.
   After that, no server makes the guard unready: the others can be called.
3. Everyone sees how many approved servers are not connected. Their names are shown on the operator's socket, and to
   signed-in users who may view servers.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from mcpguard.domain.people import Principal, Right
from mcpguard.guard.guard import Guard
from mcpguard.web.gate.peer import OperatorPeer
from mcpguard.web.gate.sender import whoever
from mcpguard.web.quick_routes import QuickRoutes

STARTING = "Servers are still connecting for the first time since the start."


def health(guard: Guard, *, causes: bool) -> QuickRoutes:
    router = QuickRoutes()

    @router.get("/healthz")
    async def healthz(_: Request) -> JSONResponse:
        return JSONResponse({"status": "alive"})

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
        servers = _unconnected(guard, names=_may_look(request)) | _certificate(guard)
        if guard.servers.has_settled:
            return JSONResponse({"status": "ready", **servers})
        starting = {"status": "starting", "message": STARTING, **servers}
        return JSONResponse(starting, status_code=503, headers={"retry-after": "1"})

    return router


def _unconnected(guard: Guard, *, names: bool) -> dict[str, Any]:
    """Return how many approved servers are not connected, and which; empty where all are."""
    found = guard.servers.unconnected_servers()
    if not found:
        return {}
    return {"not_connected": len(found), **({"servers": list(found)} if names else {})}


def _certificate(guard: Guard) -> dict[str, Any]:
    """Return what is wrong with the certificate; empty where nothing is, or without TLS."""
    if guard.tls is None:
        return {}
    if guard.tls.days_left <= 0:
        return {"tls": "The certificate has expired."}
    return {"tls": "The files of the certificate cannot be used; the one before is."} if guard.tls.trouble else {}


def _may_look(request: Request) -> bool:
    by = whoever(request)
    return isinstance(by, OperatorPeer) or (isinstance(by, Principal) and by.may(Right.LOOK))
