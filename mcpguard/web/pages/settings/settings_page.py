"""`/settings`: the appearance, the settings in force and those to confirm, the signing key, what runs here.

Rules kept here:
1. Settings are changed in the file and the environment. Loosened ones are confirmed here, exactly as they were shown;
   whatever else changed meanwhile is not.
2. Of secrets only whether they are set is shown. Paths of the guard's files are for admins.
"""

from typing import Any, Final

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.settings.fields import leaves, public_values
from mcpguard.settings.model import Settings
from mcpguard.web.forms import FINE, Misshapen, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Again, Console, DoneNotice, principal
from mcpguard.web.pages.base.looks import THEMES, Looks
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.settings.shown_settings import sections

LARGEST: Final = 256 * 1024
NOTHING: Final = SentForm([])
LETTING_GO: Final = (
    "retention.record_days",
    "retention.records",
    "retention.database_bytes",
    "retention.body_days",
)
KEEPING: Final = (
    *LETTING_GO,
    "audit.bodies",
    "audit.body_bytes",
    "audit.checkpoint_records",
    "audit.checkpoint_seconds",
)


def settings(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    def again(request: Request, about: str) -> Again:
        async def once_more(given: SentForm, problem: PageProblem) -> Response:
            return _shown(guard, desk, request, given, problem, about)

        return once_more

    @router.get("/settings", dependencies=[may(Right.LOOK)])
    async def page(request: Request) -> Response:
        return _shown(guard, desk, request)

    @router.post("/settings/looks", dependencies=[may(Right.LOOK)])
    async def looks(request: Request) -> Response:
        async def work(_: Actor, given: SentForm) -> Response:
            chosen = _looks(given)
            answer = desk.go(request, "/settings", DoneNotice("Saved the appearance for this browser."))
            chosen.give(answer, secure=request.url.scheme == "https")
            return answer

        return await desk.carried_out(request, work, again(request, "looks"))

    @router.post("/settings/confirm", dependencies=[may(Right.ADMINISTER)])
    async def confirm(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            keys = await guard.confirm(_seen(given.one("seen")), by)
            return "/settings", DoneNotice(f"Confirmed {', '.join(keys)}. Takes effect after a restart.")

        return await desk.carried_out(request, work, again(request, "confirm"), largest=LARGEST)

    @router.post("/settings/key", dependencies=[may(Right.ADMINISTER)])
    async def rotate(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            done = await guard.rotating.rotate(Decision(by, given.one("why")))
            link = f"/audit/{done.record}"
            return "/settings", DoneNotice(
                "Rotated the audit signing key.", "approved", link, f"Record {done.record:,}"
            )

        return await desk.carried_out(request, work, again(request, "key"))

    return router


def _shown(
    guard: Guard,
    desk: Console,
    request: Request,
    given: SentForm = NOTHING,
    problem: PageProblem = FINE,
    about: str = "",
) -> Response:
    """Show the page. `about` is the form that failed, with why and with what was typed."""
    full = principal(request).may(Right.ADMINISTER)
    waiting = guard.confirming.waiting
    return desk.page(
        request,
        "settings",
        "settings.html",
        problem.status,
        waiting=waiting,
        seen=orjson.dumps({each.key: each.found for each in waiting}, option=orjson.OPT_SORT_KEYS).decode(),
        sections=sections(guard.settings, full=full),
        known=leaves(Settings),
        ledger=guard.depth(),
        facts=guard.facts,
        forever=all(public_values(guard.settings)[key] is None for key in LETTING_GO),
        keeping=[(key, public_values(guard.settings)[key]) for key in KEEPING],
        said={"about": about, "why": given.one("why"), "problem": problem.sentence, "moved": problem.moved},
    )


def _looks(given: SentForm) -> Looks:
    theme = given.one("theme")
    return Looks(theme if theme in THEMES else "", given.one("space") == "roomy", given.one("keys") == "on")


def _seen(text: str) -> dict[str, Any]:
    """Return the values that the form showed, which are confirmed. Raises Misshapen."""
    try:
        seen = parse(text.encode(), max_bytes=LARGEST)
    except StrictError:
        seen = None
    if not isinstance(seen, dict):
        raise Misshapen(422, "the form is incomplete; reload the page and try again")
    return seen
