"""`/scripts`: the scripts as they were written down, and the form that adds, changes and removes one.

None of it approves a script: that is done on the page of the capability, as with the tools of every other server.
"""

from typing import Final
from urllib.parse import urlencode

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.codec.names import parse_reference
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Actor, Undecidable
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.guard.scripts.scripts import PROGRAMS_OFF, ScriptRequest, Scripts, require_scripts
from mcpguard.web.forms import FINE, Misshapen, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.capability import url_of

LARGEST: Final = 512 * 1024
LARGEST_SCHEMA: Final = 64 * 1024
FIELDS: Final = ("name", "description", "code", "schema", "tools", "revision")
NEW: Final = dict.fromkeys(FIELDS, "") | {"schema": '{"type": "object"}', "revision": "0"}
NOTHING: Final = SentForm([])
OFF: Final = f"{PROGRAMS_OFF[:1].upper()}{PROGRAMS_OFF[1:]}."


def scripts(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/scripts", dependencies=[may(Right.LOOK)])
    async def page(request: Request) -> Response:
        if guard.scripts is None:
            return desk.missing(request, OFF)
        return desk.page(request, "servers", "scripts.html", rows=_rows(guard.scripts), server=guard.scripts.server)

    @router.get("/scripts/edit", dependencies=[may(Right.DECIDE)])
    async def form(request: Request) -> Response:
        return _form(guard, desk, request)

    @router.post("/scripts/edit", dependencies=[may(Right.DECIDE)])
    async def edit(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            return await _carried_out(require_scripts(guard.scripts), by, given)

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return _form(guard, desk, request, given, problem)

        return await desk.carried_out(request, work, again, largest=LARGEST)

    return router


def _form(
    guard: Guard, desk: Console, request: Request, given: SentForm = NOTHING, problem: PageProblem = FINE
) -> Response:
    """Show the form, empty or for the script that the URL names; `given`: what was typed already."""
    if guard.scripts is None:
        return desk.missing(request, OFF)
    name = request.query_params.get("name", "")
    before = next((each for each in guard.scripts if each.script.name == name), None)
    if name and before is None:
        return desk.missing(request, "There is no such script.")
    typed: Json = {field: given.one(field) for field in FIELDS}
    if given is NOTHING:
        typed = NEW if before is None else _typed(guard.scripts.script_json(before))
    shown = {"typed": typed, "name": name, "problem": problem.sentence}
    return desk.page(request, "servers", "script_edit.html", problem.status, **shown)


async def _carried_out(scripts: Scripts, by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
    """Save or remove the script of the form. Returns the page to show next, with a notice."""
    revision, name = given.one("revision"), given.one("name").strip()
    if not revision.isascii() or not revision.isdigit():
        raise Misshapen(400, "the form is incomplete; reload the page and try again")
    if given.one("answer") == "remove":
        await scripts.remove(name, int(revision), by)
        return "/scripts", DoneNotice(f"Removed {name}. Calls of it are denied.", "disabled")
    await scripts.put(_wanted(given), int(revision), by)
    sentence = f"Saved {name}. Nothing of it runs until this version is approved."
    return url_of(scripts.server or "", (CapabilityKind.TOOL, name)), DoneNotice(sentence, "pending")


def _wanted(given: SentForm) -> ScriptRequest:
    """Return the script that the form describes. Raises Undecidable."""
    try:
        schema = parse(given.one("schema").encode(errors="replace"), max_bytes=LARGEST_SCHEMA)
        named = tuple(parse_reference(line.strip()) for line in given.one("tools").split("\n") if line.strip())
    except StrictError as error:
        raise Undecidable(f"the input schema is not strict JSON: {error.message}") from None
    except InvalidName:
        raise Undecidable("write each tool as server:tool on a line of its own") from None
    if not isinstance(schema, dict):
        raise Undecidable("the input schema must be an object")
    source = given.one("code").replace("\r\n", "\n")
    return ScriptRequest(given.one("name").strip(), source, given.one("description").strip(), schema, named or None)


def _typed(script: Json) -> Json:
    """Return the fields of the form for a script."""
    schema, tools = script["input_schema"], "\n".join(script["tools"])
    return {**script, "schema": _indented(schema), "tools": tools, "revision": str(script["revision"])}


def _indented(schema: object) -> str:
    return orjson.dumps(schema, option=orjson.OPT_INDENT_2).decode()


def _rows(scripts: Scripts) -> list[Json]:
    server = scripts.server or ""
    rows = []
    for each in scripts:
        name = each.script.name
        paths = {
            "path": url_of(server, (CapabilityKind.TOOL, name)),
            "edit": f"/scripts/edit?{urlencode({'name': name})}",
        }
        rows.append(scripts.script_json(each) | paths)
    return rows
