"""Makes error answers for programs: application/problem+json (RFC 9457)."""

from typing import Final

from fastapi.responses import JSONResponse
from starlette.types import Scope

MEDIA_TYPE: Final = "application/problem+json"
API: Final = "/api"
METRICS: Final = "/metrics"


def problem(word: str, status: int, title: str, detail: str, **more: object) -> JSONResponse:
    """Make an error answer. `word`: the kind of error, in lower case with hyphens."""
    content = {"type": f"urn:mcpguard:{word}", "title": title, "status": status, "detail": detail, **more}
    return JSONResponse(content, status, {"cache-control": "no-store"}, media_type=MEDIA_TYPE)


def is_of_programs(scope: Scope) -> bool:
    """Return whether a request is to the API or for the metrics, not to a page."""
    path: str = scope["path"]
    return path in (API, METRICS) or path.startswith(f"{API}/")
