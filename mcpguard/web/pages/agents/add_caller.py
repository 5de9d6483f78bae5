"""`/callers/add`: creating a token for an agent.

Rules kept here:
1. A token is in the answer to the form that created it and nowhere else; a reload neither shows it nor creates another.
2. An untouched form creates the narrowest caller: it only reads unless more is chosen.
"""

import json
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.decisions import Actor, Decision, Undecidable
from mcpguard.domain.people import Right
from mcpguard.guard.callers.grants import CallerRequest
from mcpguard.guard.guard import Guard
from mcpguard.policy.intents import BY_HARM
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base import times
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.route import PageRoute

NEW: Final = SentForm([("servers", "*"), ("tools", "*"), ("effects", "read"), ("expires", times.USUAL)])
LARGEST: Final = 64 * 1024


def caller_adding(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    async def asked(request: Request, given: SentForm = NEW, problem: PageProblem = FINE) -> Response:
        """Show the form with what was typed in it."""
        more = {"effects": BY_HARM, "times": times.CHOICES, "once": desk.single_use_forms.new_number()}
        return desk.page(
            request,
            "callers",
            "caller_add.html",
            problem.status,
            given=given,
            problem=problem.sentence,
            certificates=guard.settings.tls.client_ca is not None,
            **more,
        )

    @router.get("/callers/add", dependencies=[may(Right.ADMINISTER)])
    async def form(request: Request) -> Response:
        return await asked(request)

    @router.post("/callers/add", dependencies=[may(Right.ADMINISTER)])
    async def add(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> Response:
            wanted = _wanted(given)
            by.check_widening()
            desk.single_use_forms.use(given)
            grant, token = await guard.granting.add(wanted, Decision(by, given.one("why")))
            clients = snippets(f"{request.url.scheme}://{request.url.netloc}", token) if token else {}
            known = guard.granting.caller_json(grant)
            return desk.page(request, "callers", "caller_added.html", caller=known, token=token, clients=clients)

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await asked(request, given, problem)

        return await desk.carried_out(request, work, again, largest=LARGEST)

    return router


def _wanted(given: SentForm) -> CallerRequest:
    """Return the caller that the form asks for. Raises Undecidable."""
    chosen = given.every("effects")
    if not {*chosen} <= {*Effect}:
        raise Undecidable("an effect is read, write or destructive")
    scope = Scope(_lines(given.one("servers")), _lines(given.one("tools")), frozenset(map(Effect, chosen)))
    must_declare, manage = (given.one(each) == "yes" for each in ("must_declare", "manage"))
    name, certificate = given.one("name").strip(), given.one("certificate").strip()
    return CallerRequest(name, scope, times.seconds(given.one("expires")), must_declare, manage, certificate)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def snippets(url: str, token: str) -> dict[str, str]:
    """Return what to paste into a client that speaks HTTP, and into one that starts programs."""
    remote = {"type": "http", "url": f"{url}/mcp", "headers": {"Authorization": f"Bearer {token}"}}
    started = {"command": "mcpguard", "args": ["stdio"], "env": {"MCPGUARD_TOKEN": token}}
    entries = {"http": remote, "stdio": started}
    return {how: json.dumps({"mcpServers": {"mcpguard": entry}}, indent=2) for how, entry in entries.items()}
