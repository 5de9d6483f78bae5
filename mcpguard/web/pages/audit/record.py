"""`/audit/{seq}`: one record with its proof of integrity; `/calls/{call}`: all records of a call."""

from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.codec.canonical import LARGEST
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.guard.audit.audit_log import RecordUnknown
from mcpguard.guard.guard import Guard
from mcpguard.ledger import single_record
from mcpguard.web.gate.access import may
from mcpguard.web.pages.audit.record_rows import body, fields, hashed_text, moment, row
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.route import PageRoute

LONGEST_CALL = 64
MOST_CALLS = 200
"""Calls of a program that a page lists."""


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

    @router.get("/calls/{call}", dependencies=[may(Right.AUDIT)])
    async def all_of(request: Request, call: str) -> Response:
        try:
            found = await guard.auditing.call(call) if len(call) <= LONGEST_CALL else []
        except RecordUnknown:
            found = []
        if not found:
            sentence = "There are no records of a call with this id. Pruned records cannot be found by call id."
            return desk.page(request, "audit", "missing.html", 404, title="No such call", sentence=sentence)
        steps = [{"row": row(each), "fields": fields(each), "body": body(each)} for each in found]
        kinds = {(each["content"] or {}).get("kind") for each in found}
        made = await _made_by(guard, call) if "ran" in kinds or _is_script(guard, found) else None
        closed = not kinds.isdisjoint(("closed", "ended_run"))
        shown = {"steps": steps, "first": row(found[0]), "closed": closed, "made": made, "ran": "ran" in kinds}
        return desk.page(request, "audit", "call.html", call=call, **shown)

    return router


async def _made_by(guard: Guard, run: str) -> Json:
    """The calls that a program made, the first of them, or the run of a script: each with its row and the id of its
    records."""
    found = await guard.auditing.page(Filter((FilterTerm(FilterKey.PARENT, (run,)),)), limit=MOST_CALLS)
    return {
        "calls": [{"row": row(each), "entry": each["content"]["entry"]} for each in found.records],
        "more": found.more,
    }


def _is_script(guard: Guard, found: Sequence[Json]) -> bool:
    """Tell whether these are the records of a call of a script."""
    known = guard.servers.find((found[0]["content"] or {}).get("server", ""))
    return known is not None and known.upstream.transport is Transport.OWN


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
