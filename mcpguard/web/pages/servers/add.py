"""`/servers/add`: adding a server. It is quarantined, and not started."""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, NotDeclared
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.admission import DeclarationSource
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.one_server import TAKEN, path_of

LARGEST: Final = 256 * 1024
FIELDS: Final = ("name", "command", "arguments", "environment", "folder", "sandbox", "url", "headers")
NOTHING: Final = SentForm([])
EITHER: Final = "enter either a command or a URL"


def adding(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    def shown(
        request: Request, given: SentForm = NOTHING, problem: PageProblem = FINE, problems: tuple[str, ...] = ()
    ) -> Response:
        typed = {name: given.one(name) for name in FIELDS}
        there = guard.servers.find(TAKEN) is not None
        return desk.page(
            request,
            "servers",
            "add_server.html",
            problem.status,
            typed=typed,
            problem="" if problems else problem.sentence,
            problems=problems,
            same_name=path_of(TAKEN) if there else "",
        )

    @router.get("/servers/add", dependencies=[may(Right.DECIDE)])
    async def page(request: Request) -> Response:
        return shown(request)

    @router.post("/servers/add", dependencies=[may(Right.DECIDE)])
    async def add(request: Request) -> Response:
        problems: tuple[str, ...] = ()

        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            nonlocal problems
            try:
                added = await guard.admission.add(given.one("name"), members(given), DeclarationSource(Origin.CLI, by))
            except NotDeclared as error:
                problems = error.problems
                raise
            more = f" Ignored: {'; '.join(added.notices)}." if added.notices else ""
            sentence = f"Added {added.name}. It is in quarantine and was not started.{more}"
            return path_of(added.name), DoneNotice(sentence, "quarantined")

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return shown(request, given, problem, problems)

        return await desk.carried_out(request, work, again, largest=LARGEST)

    return router


def members(given: SentForm) -> Json:
    """Return the entry that the form declares, as it would stand in a file. Raises NotDeclared."""
    command, url = given.one("command").strip(), given.one("url").strip()
    if bool(command) == bool(url):
        raise NotDeclared((EITHER,))
    if url:
        return {"url": url, "headers": _pairs(given.one("headers"), "a header", ":=")}
    arguments = given.one("arguments").rstrip("\n")
    said: Json = {"command": command, "args": arguments.split("\n") if arguments else []}
    said["env"] = _pairs(given.one("environment"), "a variable", "=")
    if folder := given.one("folder").strip():
        said["cwd"] = folder
    if sandbox := given.one("sandbox"):
        said["sandbox"] = sandbox
    return said


def _pairs(text: str, what: str, between: str) -> dict[str, str]:
    """Return the name and value on each line. Raises NotDeclared, which repeats no value."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        at = min((place for sign in between if (place := line.find(sign)) > 0), default=0)
        if not at:
            raise NotDeclared((f"line {number} is not {what}: write NAME=value",))
        name = line[:at].strip()
        if name in found:
            raise NotDeclared((f"line {number} repeats {what} of an earlier line",))
        found[name] = line[at + 1 :].strip() if ":" in between else line[at + 1 :]
    return found
