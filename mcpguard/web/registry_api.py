"""The approved servers, in the form of the MCP registry's API (`/v0.1`), for programs that list what may be used.

Rules kept here:
1. Only programs with a token read it: an agent sees the servers in its scope, an operator's token all of them. Without
   a token, it is read only if `registry.public` says so. Cookies count for nothing here.
2. Pages of all origins may read the answers, as programs that run in browsers need that; no credential is sent along.
3. No answer may be stored: what is withdrawn is gone at once.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from mcpguard.domain.callers import Scope as CallerScope
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.people import Right
from mcpguard.guard.audit.approved_servers import ApprovedServer, approval_proof
from mcpguard.guard.guard import Guard
from mcpguard.text.visible import visible
from mcpguard.web.gate.credentials import CHALLENGE, DOOR, bearer_of

PREFIX: Final = "/registry/v0.1/servers"
OFFICIAL: Final = "io.modelcontextprotocol.registry/official"
SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
CORS: Final = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, OPTIONS",
    "access-control-allow-headers": "Authorization, Content-Type",
    "cache-control": "no-store",
}
USUAL_LIMIT: Final = 30
MOST: Final = 100
LONGEST_DESCRIPTION: Final = 100
_ONE: Final = re.compile(rf"{re.escape(PREFIX)}/(?P<name>[^/]+/[^/]+)/versions(?:/(?P<version>[^/]+))?")


class _Answered(Exception):
    """The request is answered with an error."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def is_of_registry(scope: Scope) -> bool:
    """Tell whether a request is for the registry."""
    path: str = scope["path"]
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def reverse_dns(url: str) -> str:
    """Return the namespace of the servers at an address: the name of its host, backwards."""
    host = urlsplit(url).hostname or "localhost"
    try:
        ip_address(host)
    except ValueError:
        return ".".join(reversed(host.split(".")))
    return host.replace(":", "-")


class RegistryApi:
    """Answers requests for the registry."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except StoreUnavailable:
            response = JSONResponse({"error": "the audit log cannot be read; try again in a moment"}, 503, CORS)
        except _Answered as error:
            headers = {**CORS, **({"www-authenticate": CHALLENGE} if error.status == 401 else {})}
            response = JSONResponse({"error": str(error)}, error.status, headers)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=CORS)
        if request.method not in ("GET", "HEAD"):
            raise _Answered(405, "the registry is read only")
        wanted = self._scope(request)
        path = unquote(request.scope.get("raw_path", b"").decode("latin-1").partition("?")[0])
        if path in (PREFIX, f"{PREFIX}/"):
            return JSONResponse(await self._page(request, wanted), headers=CORS)
        found = _ONE.fullmatch(path)
        namespace, _, name = (found["name"] if found else "").partition("/")
        server = await self._guard.approved_servers.find(name, wanted) if namespace == self._namespace else None
        if found is None or server is None or found["version"] not in (None, "latest", server.version):
            raise _Answered(404, "Server not found")
        one = self._entry(server)
        if found["version"] is None:
            return JSONResponse({"servers": [one], "metadata": {"count": 1}}, headers=CORS)
        return JSONResponse(one, headers=CORS)

    def _scope(self, request: Request) -> CallerScope | None:
        """Return the scope in which the sender sees servers; None for all. Raises _Answered."""
        given = request.headers.getlist("authorization")
        if not given and self._guard.settings.registry.public:
            return None
        token = bearer_of(given[0]) if len(given) == 1 else None
        if token is not None:
            principal, caller = self._guard.people.by_token(token), self._guard.callers.caller_of_token(token)
            if principal is not None and principal.may(Right.LOOK):
                return None
            if caller is not None:
                return caller.scope
        self._guard.tallies.count_refused(door=DOOR, why="credential")
        raise _Answered(401, "send a token of an agent or a program: Authorization: Bearer mcpg_… or mcpo_…")

    async def _page(self, request: Request, wanted: CallerScope | None) -> dict[str, Any]:
        query = request.query_params
        limit, since = _limit(query.get("limit")), _moment(query.get("updated_since"))
        servers = await self._guard.approved_servers.in_force(wanted)
        if since is not None or query.get("include_deleted") == "true":
            servers += await self._guard.approved_servers.withdrawn(wanted)
        text, version, cursor = query.get("search", "").lower(), query.get("version", "latest"), query.get("cursor", "")
        matching = [
            each
            for each in sorted(servers, key=lambda each: each.name)
            if each.name > cursor
            and text in f"{self._namespace}/{each.name}".lower()
            and version in ("latest", each.version)
            and (since is None or each.changed_at > since)
        ]
        shown = matching[:limit]
        more = {"nextCursor": shown[-1].name} if len(matching) > len(shown) else {}
        return {"servers": [*map(self._entry, shown)], "metadata": {"count": len(shown), **more}}

    @property
    def _namespace(self) -> str:
        return reverse_dns(self._guard.public_url)

    def _entry(self, server: ApprovedServer) -> dict[str, Any]:
        told: dict[str, Any] = {
            "$schema": SCHEMA,
            "name": f"{self._namespace}/{server.name}",
            "title": server.name,
            "description": _description(server),
            "version": server.version,
        }
        meta: dict[str, Any] = {
            OFFICIAL: {
                "status": "deleted" if server.is_withdrawn else "active",
                **dict(_times(server)),
                "isLatest": True,
            }
        }
        if not server.is_withdrawn:
            remote = {"type": "streamable-http", "url": f"{self._guard.public_url}/mcp/only/{server.name}"}
            told["remotes"] = [remote]
            meta[f"{self._namespace}/approval"] = approval_proof(server, told, self._guard.signing_key)
        return {"server": told, "_meta": meta}


def _description(server: ApprovedServer) -> str:
    if server.is_withdrawn:
        return "No longer approved."
    count, names = len(server.tools), visible(", ".join(server.tools))
    said = f"{count} approved tool{'' if count == 1 else 's'}{': ' if names else '.'}{names}"
    return said if len(said) <= LONGEST_DESCRIPTION else f"{said[: LONGEST_DESCRIPTION - 1]}…"


def _times(server: ApprovedServer) -> Iterator[tuple[str, str]]:
    for name, at in (("publishedAt", server.approved_at), ("updatedAt", server.changed_at)):
        if at:
            yield name, datetime.fromtimestamp(at / 1e6, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _limit(given: str | None) -> int:
    if given is None:
        return USUAL_LIMIT
    if not (given.isascii() and given.isdecimal() and len(given) <= 6 and int(given) > 0):
        raise _Answered(400, f"limit must be a number from 1 to {MOST}")
    return min(int(given), MOST)


def _moment(given: str | None) -> int | None:
    """Return a time in microseconds. Raises _Answered."""
    if given is None:
        return None
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        at = datetime.min  # noqa: DTZ901 - has no zone, and is refused for that
    if at.tzinfo is None:
        raise _Answered(400, "updated_since must be a time with its zone, as in 2026-11-01T00:00:00Z")
    return int(at.timestamp() * 1_000_000)
