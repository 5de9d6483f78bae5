"""`/calls/{call}`: what happened to one call, step by step, with what was sent and answered, and what proves it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.codec.filters import write
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.guard.audit.audit_log import RecordUnknown
from mcpguard.guard.audit.call_context import CallContext
from mcpguard.guard.guard import Guard
from mcpguard.web.gate.access import may
from mcpguard.web.pages.audit.call_arguments import argument_rows
from mcpguard.web.pages.audit.call_story import by_kind, call_sentence, call_steps
from mcpguard.web.pages.audit.call_times import time_parts
from mcpguard.web.pages.audit.log_queries import address
from mcpguard.web.pages.audit.log_rows import call_name, log_row, state
from mcpguard.web.pages.audit.record import proof
from mcpguard.web.pages.audit.record_rows import body, duration, moment, row
from mcpguard.web.pages.audit.reply_text import error_line, reply_text
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.route import PageRoute

LONGEST_CALL: Final = 64
MOST_CALLS: Final = 200
"""Calls of a program that a page lists."""
MOST_PROVED: Final = 12
"""Records whose proof the page shows; the others are linked."""
MINUTES_AROUND: Final = 5
_MINUTE: Final = 60_000_000
Said = Mapping[str, Any]


def call_page(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/calls/{call}", dependencies=[may(Right.AUDIT)])
    async def one(request: Request, call: str) -> Response:
        found = await _records(guard, call)
        if not found:
            sentence = "There are no records of a call with this id. Pruned records cannot be found by call id."
            return desk.page(request, "audit", "missing.html", 404, title="No such call", sentence=sentence)
        said = by_kind(found)
        context = await _context(guard, found)
        shown = _told(found, said, context) | _bodies(found) | _facts(guard, said)
        shown["proofs"] = await _proofs(guard, found)
        made = await _made_by(guard, call) if "ran" in said or _is_script(guard, said) else None
        return desk.page(request, "audit", "call.html", call=call, made=made, ran="ran" in said, **shown)

    return router


async def outcome_of(guard: Guard, call: str) -> str:
    """Return in one sentence what became of a call; empty where there are no records of it."""
    found = await _records(guard, call)
    return _sentence(found, await _context(guard, found)) if found else ""


async def _records(guard: Guard, call: str) -> list[Json]:
    try:
        return await guard.auditing.call(call) if len(call) <= LONGEST_CALL else []
    except RecordUnknown:
        return []


async def _context(guard: Guard, found: Sequence[Json]) -> CallContext:
    return await guard.auditing.context(found[0]) if "opened" in by_kind(found) else CallContext()


def _sentence(found: Sequence[Json], context: CallContext) -> str:
    held = next((part.took for part in time_parts(found) if part.kind == "held"), "")
    is_failed = by_kind(found).get("closed", {}).get("outcome") == "failed"
    return call_sentence(found, context.decisions, held, error_line(_text(found, "closed")) if is_failed else "")


def _told(found: Sequence[Json], said: Mapping[str, Said], context: CallContext) -> Json:
    """Return what happened, and what happened around it."""
    reply = _text(found, "closed")
    parts, first = time_parts(found), _first(said)
    last = said.get("closed", said.get("ended_run", {}))
    before, after = ([log_row(each) for each in some] for some in (context.before, context.after))
    return {
        "state": state(said, reply),
        "what": call_name(first),
        "effect_word": first.get("effect") if first.get("effect") in ("read", "write", "destructive") else "",
        "who_label": row(found[0]).who,
        "began": moment(first.get("at")),
        "sentence": _sentence(found, context),
        "steps": call_steps(found, context.decisions),
        "records": len(found),
        "parts": parts,
        "took": duration(last.get("took_us")),
        "before": before,
        "after": after,
        "around": _around(first),
    }


def _bodies(found: Sequence[Json]) -> Json:
    """Return what was sent and answered: of each record with a body, the body, and what it says in another form."""
    bodies = []
    for each in found:
        if shown := body(each):
            kind = (each["content"] or {}).get("kind")
            text = (each["body"] or {}).get("text") or ""
            rows = argument_rows(text) if kind == "opened" else []
            bodies.append(
                {
                    "seq": each["seq"],
                    "body": shown,
                    "rows": rows,
                    "text": reply_text(text) if kind == "closed" else "",
                    "scanned": each["content"] if kind in ("closed", "ended_run") else None,
                }
            )
    return {"bodies": bodies}


def _facts(guard: Guard, said: Mapping[str, Said]) -> Json:
    """Return what the aside says: links to what the call is about, and whether its tool is still the same."""
    first = _first(said)
    server, kind, name = (first.get(key) for key in ("server", "capability", "name"))
    known = guard.servers.find(server) if isinstance(server, str) else None
    caller = first.get("caller")
    facts: Json = {"first": first, "caller_link": "", "tool_link": "", "same_version": None}
    if isinstance(caller, str) and guard.callers.find(caller) is not None:
        facts["caller_link"] = f"/callers/{quote(caller, safe='')}"
    if known is not None and isinstance(name, str) and kind in [each.value for each in CapabilityKind]:
        pin = known.pins.get((CapabilityKind(kind), name))
        facts["tool_link"] = address(f"/servers/{server}/capability", kind=kind, name=name) if pin else ""
        if pin and pin.listed and first.get("fingerprint"):
            facts["same_version"] = pin.listed.text == first["fingerprint"]
    return facts


async def _proofs(guard: Guard, found: Sequence[Json]) -> list[Json]:
    key = guard.depth().key
    records = [await guard.auditing.record(each["seq"]) for each in found[:MOST_PROVED]]
    return [{"record": each, "row": row(each), "proof": proof(each, key)} for each in records]


async def _made_by(guard: Guard, run: str) -> Json:
    """The calls that a program made, the first of them, or the run of a script."""
    mine = Filter((FilterTerm(FilterKey.PARENT, (run,)),))
    page = await guard.auditing.calls(mine, limit=MOST_CALLS, newest_first=False)
    return {"calls": [log_row(each) for each in page.rows], "more": page.more}


def _is_script(guard: Guard, said: Mapping[str, Said]) -> bool:
    """Tell whether these are the records of a call of a script."""
    server = _first(said).get("server")
    known = guard.servers.find(server) if isinstance(server, str) else None
    return known is not None and known.upstream.transport is Transport.OWN


def _around(first: Said) -> str:
    """Return the address of what the caller did in the minutes around a call."""
    at, caller = moment(first.get("at")), first.get("caller")
    if at is None or not isinstance(caller, str):
        return ""
    span = (max(0, at - MINUTES_AROUND * _MINUTE), at + MINUTES_AROUND * _MINUTE)
    return address("/audit", q=write(Filter((FilterTerm(FilterKey.CALLER, (caller,)),), *span)))


def _first(said: Mapping[str, Said]) -> Said:
    """The content of the first record of a call that is still there."""
    return next(iter(said.values()), {})


def _text(found: Sequence[Json], kind: str) -> str:
    """The body of the record of this kind, if it is text."""
    bodies = (each["body"] for each in found if (each["content"] or {}).get("kind") == kind)
    return next((str(kept["text"]) for kept in bodies if kept and kept["text"]), "")
