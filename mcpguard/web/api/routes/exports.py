"""Routes of exports of the audit log: a stream of records, a signed bundle, or only a checkpoint.

Rules kept here:
1. An export is recorded before its first byte is sent. A HEAD request sends nothing, so nothing is recorded.
2. An interrupted export can be continued with `after`, because record numbers never change. An incomplete export never
   ends as if it were complete.
"""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from mcpguard.codec.canonical import LARGEST
from mcpguard.codec.filters import parse_strictly
from mcpguard.domain.people import Right
from mcpguard.guard.audit.exports import AuditExportRequest
from mcpguard.guard.guard import Guard
from mcpguard.ledger.export.formats import FORMS, WORDS
from mcpguard.ledger.export.selection import Fitting
from mcpguard.web.api.answers import ExportedAnswer, KeptAnswer
from mcpguard.web.api.api_door import HEAD
from mcpguard.web.api.bodies import ExportingBody, SigningBody
from mcpguard.web.api.routes.records import FilterText
from mcpguard.web.downloads import GZIP, TAR, check_export, export_response, media
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router

_BYTES: Final = {"schema": {"type": "string", "format": "binary"}}
_STREAMED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": dict.fromkeys((*(each.media for each in FORMS), GZIP, TAR), _BYTES)}
}
Word = Annotated[str, Query(alias="format", pattern=f"^({'|'.join(WORDS)})$", description="The format of the records.")]
After = Annotated[int, Query(ge=0, le=LARGEST, description="Only records after this number.")]
Upto = Annotated[int | None, Query(ge=0, le=LARGEST, description="Only records up to this number.")]
Compressed = Annotated[bool, Query(description="Compress with gzip; in a bundle, the files with records.")]
Bundled = Annotated[bool, Query(description="A signed bundle, as a tar.")]


def exports(guard: Guard) -> APIRouter:
    router = api_router("exports")

    @router.post("/exports", dependencies=[may(Right.AUDIT)], response_model=ExportedAnswer, status_code=201)
    async def begin(request: Request, body: ExportingBody) -> JSONResponse:
        """Record an export that the sender makes from the store itself, as `mcpguard audit export` does."""
        wanted = check_export(body.wanted_export(Fitting(parse_strictly(body.q, guard.clock.now()))))
        begun = await guard.exporting.begin(wanted, actor(request, guard))
        span = begun.span
        record = {"chain": begun.chain, "seq": begun.seq}
        return JSONResponse({"record": record, "chain": span.chain, "after": span.after, "upto": span.upto}, 201)

    @router.post("/checkpoints", dependencies=[may(Right.AUDIT)], response_model=KeptAnswer, status_code=201)
    async def checkpoint(request: Request, _: SigningBody) -> JSONResponse:
        """Sign a checkpoint of everything recorded so far, to be kept where the guard's host cannot change it.

        If nothing was recorded since the newest checkpoint, that one is returned. The request itself adds no record.
        """
        return JSONResponse((await guard.auditing.checkpoint(actor(request, guard))).as_json(), 201)

    @router.get("/records/export", dependencies=[may(Right.AUDIT)], response_class=Response, responses=_STREAMED)
    async def export(
        request: Request,
        word: Word,
        after: After = 0,
        upto: Upto = None,
        q: FilterText = "",
        compressed: Compressed = False,
        bundle: Bundled = False,
    ) -> Response:
        """Export records as a file; the export is recorded first. One that breaks can be continued with `after`.

        It ends at the checkpoint that was signed when it began. The file name has the number after which it begins and
        the number with which it ends.
        """
        wanted = check_export(
            AuditExportRequest((word,), Fitting(parse_strictly(q, guard.clock.now())), after, upto, compressed, bundle)
        )
        if request.scope.get(HEAD):
            return Response(media_type=media(wanted))
        return await export_response(guard.exporting, wanted, actor(request, guard))

    return router
