"""`/audit/{seq}`: one record with its proof of integrity."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.codec.canonical import LARGEST
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.guard.audit.audit_log import RecordUnknown
from mcpguard.guard.guard import Guard
from mcpguard.ledger import single_record
from mcpguard.web.gate.access import may
from mcpguard.web.pages.audit.record_rows import body, fields, hashed_text, moment, row
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.route import PageRoute


def record(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/audit/{seq:int}", dependencies=[may(Right.AUDIT)])
    async def one(request: Request, seq: int) -> Response:
        newest = guard.depth().records
        try:
            found = await guard.auditing.record(seq if 0 < seq <= LARGEST else 0)
        except RecordUnknown:
            sentence = f"There is no record with this number. Records are numbered from 1 to {newest:,}."
            return desk.page(request, "audit", "missing.html", 404, title="No such record", sentence=sentence)
        content = found["content"] or {}
        return desk.page(
            request,
            "audit",
            "record.html",
            record=found,
            row=row(found),
            fields=fields(found),
            body=body(found),
            recorded=hashed_text(found),
            call=content.get("entry"),
            newest=newest,
            proof=proof(found, guard.depth().key),
        )

    return router


def proof(record: Json, key: str) -> Json:
    """Check the hash and the signature of one record, as far as that is possible without the rest of the chain."""
    content, covering = record["content"], record["checkpoint"]
    follows = None
    if content is not None:
        follows = single_record.hash_matches(content, record["seq"], record["previous"], record["hash"])
    signed = None
    if covering is not None and covering["content"] is not None:
        signed = single_record.verified_checkpoint(covering["content"], covering["signature"])
    names = signed is None or signed.seq != record["seq"] or signed.hash == record["hash"]
    at = None if signed is None else moment(signed.at)
    ours = signed is not None and signed.key == key
    return {"follows": follows, "signed": signed, "at": at, "names": names, "ours": ours}
