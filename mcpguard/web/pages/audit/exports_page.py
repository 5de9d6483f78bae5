"""`/audit/export`: the audit log, or what matches a filter, as a file.

Rules kept here:
1. The export is that of the API and the command: it is recorded before its first byte, and contains its own record.
2. An export that is refused is reported on the form, with everything that was chosen.
"""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.codec.canonical import LARGEST
from mcpguard.codec.filters import parse_strictly
from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.errors import GuardError
from mcpguard.domain.people import Right
from mcpguard.guard.audit.exports import AuditExportRequest
from mcpguard.guard.guard import Guard
from mcpguard.ledger.export.formats import OWN, WORDS
from mcpguard.ledger.export.selection import Fitting
from mcpguard.web.downloads import check_export, export_response
from mcpguard.web.forms import FINE, PageProblem, page_problem
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.pages.base.console import VIA, Console
from mcpguard.web.pages.base.route import PageRoute


def exporting(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    def shown(request: Request, problem: PageProblem = FINE) -> Response:
        given = request.query_params
        return desk.page(
            request,
            "audit",
            "export.html",
            problem.status,
            problem=problem.sentence,
            q=given.get("q", ""),
            words=WORDS,
            word=given.get("format", OWN.word),
            after=given.get("after", ""),
            compressed=given.get("compressed") == "yes",
            bundle=given.get("bundle") == "yes",
            depth=guard.depth(),
        )

    @router.get("/audit/export", dependencies=[may(Right.AUDIT)])
    async def form(request: Request) -> Response:
        return shown(request)

    @router.get("/audit/export/file", dependencies=[may(Right.AUDIT)])
    async def file(request: Request) -> Response:
        try:
            return await export_response(guard.exporting, _wanted(request, guard), actor(request, guard, VIA))
        except GuardError as error:
            return shown(request, page_problem(error))

    return router


def _wanted(request: Request, guard: Guard) -> AuditExportRequest:
    """Return the export that the form asks for. Raises BadFilter and Undecidable."""
    given = request.query_params
    word, after = given.get("format", ""), given.get("after", "").strip()
    if word not in WORDS:
        raise Undecidable(f"unknown format; use one of {', '.join(WORDS)}")
    if after and not (after.isascii() and after.isdecimal() and int(after[:17]) <= LARGEST):
        raise Undecidable("the number of a record is written in digits only")
    chosen = Fitting(parse_strictly(given.get("q", ""), guard.clock.now()))
    packed, bundle = given.get("compressed") == "yes", given.get("bundle") == "yes"
    return check_export(AuditExportRequest((word,), chosen, int(after or 0), None, packed, bundle))
