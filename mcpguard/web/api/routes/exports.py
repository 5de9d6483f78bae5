"""The audit log, let out: as a stream of records, as a signed bundle, or as nothing but a checkpoint.

Rules kept here:
1. What is let out is recorded before its first byte; a HEAD lets nothing out, and nothing is recorded.
2. A stream that breaks is gone on with `after`: numbers never change. It never ends as if it were whole when it is not.
"""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from mcpguard.codec.canonical import LARGEST
from mcpguard.codec.filters import parse
from mcpguard.domain.people import Right
from mcpguard.guard.audit.exports import AuditExportRequest
from mcpguard.guard.guard import Guard
from mcpguard.ledger.export.formats import FORMS, WORDS
from mcpguard.ledger.export.selection import Fitting
from mcpguard.web.api.answers import ExportedAnswer, KeptAnswer
from mcpguard.web.api.bodies import ExportingBody, SigningBody
from mcpguard.web.api.routes.records import Wanted as Chosen
from mcpguard.web.downloads import GZIP, TAR, checked, let_out, media
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router

HEAD: Final = "mcpguard.head"
"""In the scope of a request that was a HEAD."""
_BYTES: Final = {"schema": {"type": "string", "format": "binary"}}
_STREAMED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": dict.fromkeys((*(each.media for each in FORMS), GZIP, TAR), _BYTES)}
}
Word = Annotated[str, Query(alias="format", pattern=f"^({'|'.join(WORDS)})$", description="Of the records.")]
After = Annotated[int, Query(ge=0, le=LARGEST, description="Only what follows the record of this number.")]
Upto = Annotated[int | None, Query(ge=0, le=LARGEST, description="Only to the record of this number.")]
Compressed = Annotated[bool, Query(description="With gzip; in a bundle, the files with records.")]
Bundled = Annotated[bool, Query(description="A signed bundle, as a tar.")]


def exports(guard: Guard) -> APIRouter:
    router = api_router("exports")

    @router.post("/exports", dependencies=[may(Right.AUDIT)], response_model=ExportedAnswer, status_code=201)
    async def begin(request: Request, body: ExportingBody) -> JSONResponse:
        """Record an export that whoever asks makes from the store itself, as `mcpguard audit export` does."""
        wanted = checked(body.wanted(Fitting(parse(body.q, guard.clock.now()))))
        begun = await guard.exporting.begin(wanted, actor(request, guard))
        span = begun.span
        record = {"chain": begun.chain, "seq": begun.seq}
        return JSONResponse({"record": record, "chain": span.chain, "after": span.after, "upto": span.upto}, 201)

    @router.post("/checkpoints", dependencies=[may(Right.AUDIT)], response_model=KeptAnswer, status_code=201)
    async def checkpoint(request: Request, _: SigningBody) -> JSONResponse:
        """Sign the log as it stands, with everything recorded up to this moment, to be kept where the guard's machine
        cannot reach it.

        Where nothing was recorded since the newest checkpoint, it is that one. Asking adds no record.
        """
        return JSONResponse((await guard.auditing.checkpoint(actor(request, guard))).as_json(), 201)

    @router.get("/records/export", dependencies=[may(Right.AUDIT)], response_class=Response, responses=_STREAMED)
    async def export(
        request: Request,
        word: Word,
        after: After = 0,
        upto: Upto = None,
        q: Chosen = "",
        compressed: Compressed = False,
        bundle: Bundled = False,
    ) -> Response:
        """The records as a file; that they are let out is recorded first. One that breaks is gone on with `after`.

        It ends with the checkpoint that was signed when it began: `filename` says after which record it begins and with
        which it ends.
        """
        wanted = checked(
            AuditExportRequest((word,), Fitting(parse(q, guard.clock.now())), after, upto, compressed, bundle)
        )
        if request.scope.get(HEAD):
            return Response(media_type=media(wanted))
        return await let_out(guard.exporting, wanted, actor(request, guard))

    return router
