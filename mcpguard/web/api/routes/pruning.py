"""Routes that remove content from the audit log: old records, old bodies, or the bodies of one call.

Hashes are kept, so that the rest stays verifiable.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse
from pydantic import Field, StrictBool

from mcpguard.codec.canonical import LARGEST
from mcpguard.codec.filters import moment
from mcpguard.domain.decisions import Decision, Undecidable
from mcpguard.domain.people import Right
from mcpguard.guard.audit.retention import PruningRequest
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import PrunedAnswer, RedactedAnswer
from mcpguard.web.api.bodies import Number, WhyBody, example
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router

Seq = Annotated[int, Path(ge=1, le=LARGEST, description="The number of any record of the call.")]
CallId = Annotated[str, Path(min_length=1, max_length=64, description="The id of a call.")]


class PruningBody(WhyBody):
    """What to prune: everything before a time (`before`), or all but the newest records (`keep`). `bodies`: prune
    bodies only, and keep the records. `dry`: only report what would be pruned."""

    model_config = example({"why": "a year is over", "before": "365d", "dry": True})

    before: Annotated[str, Field(max_length=40)] | None = None
    keep: Number | None = None
    bodies: StrictBool = False
    dry: StrictBool = False

    def wanted_pruning(self, now: int) -> PruningRequest:
        """Raise Undecidable or BadFilter."""
        if (self.before is None) == (self.keep is None):
            raise Undecidable("send either `before`, a time, or `keep`, the number of newest records to keep")
        return PruningRequest(None if self.before is None else moment(self.before, now), self.keep, self.bodies)


def pruning(guard: Guard) -> APIRouter:
    router = api_router("audit")
    administer = [may(Right.ADMINISTER)]

    @router.post("/records/prune", dependencies=administer, response_model=PrunedAnswer)
    async def prune(request: Request, body: PruningBody) -> JSONResponse:
        """Prune old records or old bodies, up to a limit for each request; `more` says whether to send it again."""
        decision = Decision(actor(request, guard), body.why)
        return JSONResponse(
            await guard.retention.prune_on_request(body.wanted_pruning(guard.clock.now()), decision, dry=body.dry)
        )

    @router.post("/records/{seq}/redact", dependencies=administer, response_model=RedactedAnswer)
    async def redact(request: Request, seq: Seq, body: WhyBody) -> JSONResponse:
        """Remove the bodies of the call that a record is about, and of the calls that it continues."""
        return JSONResponse(await guard.redacting.redact(seq, Decision(actor(request, guard), body.why)))

    @router.post("/calls/{call}/redact", dependencies=administer, response_model=RedactedAnswer)
    async def redact_call(request: Request, call: CallId, body: WhyBody) -> JSONResponse:
        """Remove the bodies of a call, and of the calls that it continues. Its records stay."""
        return JSONResponse(await guard.redacting.redact(call, Decision(actor(request, guard), body.why)))

    return router
