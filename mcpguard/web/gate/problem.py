"""Makes error answers for programs: application/problem+json (RFC 9457)."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from starlette.responses import JSONResponse
from starlette.types import Scope

MEDIA_TYPE: Final = "application/problem+json"
API: Final = "/api"
METRICS: Final = "/metrics"
SENTENCES: Final[Mapping[int, str]] = MappingProxyType(
    {
        404: "there is no such address; GET /api/v1/docs lists all routes",
        405: "this address does not accept this method",
    }
)
"""The sentences for what the framework refuses."""


def problem(word: str, status: int, title: str, detail: str, **more: object) -> JSONResponse:
    """Make an error answer. `word`: the kind of error, in lower case with hyphens."""
    content = {"type": f"urn:mcpguard:{word}", "title": title, "status": status, "detail": detail, **more}
    return JSONResponse(content, status, {"cache-control": "no-store"}, media_type=MEDIA_TYPE)


def nothing_here() -> JSONResponse:
    """Return the answer for an unknown address."""
    return problem("refused", 404, HTTPStatus.NOT_FOUND.phrase, SENTENCES[404])


def is_of_programs(scope: Scope) -> bool:
    """Return whether a request is to the API or for the metrics, not to a page."""
    path: str = scope["path"]
    return path in (API, METRICS) or path.startswith(f"{API}/")
