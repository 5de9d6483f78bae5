"""The base of every page of the console: its frame, its reader, the notice of what was done, and how forms are carried
out.

Rules kept here:
1. A page shows only what its reader may see, in the rail too.
2. The notice of what somebody did is on the next page that they see, once, and nobody else can make a page show it.
3. A form with a password proves its sender again before anything is done. What was typed is not lost.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from anyio import to_thread
from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from mcpguard.domain.decisions import Actor
from mcpguard.domain.errors import GuardError
from mcpguard.domain.people import Principal, Right
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import LARGEST, MOST_FIELDS, PageProblem, SentForm, form, page_problem
from mcpguard.web.gate import cookies
from mcpguard.web.gate.actors import actor, peer_of
from mcpguard.web.gate.matching import bind_to_tag
from mcpguard.web.pages.base.help_targets import help_address
from mcpguard.web.pages.base.looks import Looks
from mcpguard.web.pages.base.rail import chain, rail
from mcpguard.web.pages.base.route import RENEWED
from mcpguard.web.pages.base.single_use_forms import SingleUseForms
from mcpguard.web.pages.help.help_documents import HelpDocuments
from mcpguard.web.views import PageViews

VIA: Final = "console"
MOST_TOLD: Final = 1000
PART: Final = "x-page-part"
"""The header of a request whose answer a script takes parts from: nobody sees the rest of that page."""
Work = Callable[[Actor, SentForm], Awaitable["tuple[str, DoneNotice] | Response"]]
"""Does what a form says; where to go then, and what is told there. Or the page itself, of what is shown only once."""
Again = Callable[[SentForm, PageProblem], Awaitable[Response]]
"""Shows the form once more, with what was typed and why nothing was done."""


@dataclass(frozen=True, slots=True)
class DoneNotice:
    """The notice on the next page. `kind` is the status or verdict whose icon it has."""

    sentence: str
    kind: str = "approved"
    link: str = ""
    link_text: str = ""


class Console:
    """Renders the pages of the console."""

    def __init__(self, guard: Guard, views: PageViews, documents: HelpDocuments) -> None:
        self.guard = guard
        self.documents = documents
        self._views = views
        self._told: OrderedDict[str, DoneNotice] = OrderedDict()
        self.single_use_forms = SingleUseForms()

    def page(self, request: Request, word: str, template: str, code: int = 200, /, **values: object) -> HTMLResponse:
        """Render a page; `word` is its place in the rail."""
        return self._views.page(template, code, **self._shell(request, word, template), **values)

    async def long_page(
        self, request: Request, word: str, template: str, code: int = 200, /, **values: object
    ) -> HTMLResponse:
        """Render a page that may be very long, in a thread, so that nobody else waits for it.

        `leads_on` says that the page soon leads to another by itself, so the notice is left for that one.
        """
        shell = self._shell(request, word, template, leads_on=values.get("leads_on") is True)
        return await to_thread.run_sync(lambda: self._views.page(template, code, **shell, **values))

    def _shell(self, request: Request, word: str, template: str, *, leads_on: bool = False) -> dict[str, object]:
        me = principal(request)
        return {
            "page": word,
            "path": request.url.path,
            "help": help_address(template),
            "me": me,
            "decides": me.may(Right.DECIDE),
            "audits": me.may(Right.AUDIT),
            "administers": me.may(Right.ADMINISTER),
            "now": self.guard.clock.now(),
            "looks": Looks.from_request(request),
            "rail": rail(self.guard, me),
            "chain": chain(self.guard),
            "ready": self.guard.readiness().ready,
            "told": None if leads_on or PART in request.headers else self._told.pop(me.session, None),
        }

    def bare(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """Render a page for somebody who may not be signed in."""
        return self._views.page(template, status, **values)

    def missing(self, request: Request, sentence: str) -> HTMLResponse:
        """Render the page for something that does not exist."""
        return self.page(request, "", "missing.html", 404, title="Not found", sentence=sentence)

    async def carried_out(
        self,
        request: Request,
        work: Work,
        again: Again,
        *,
        largest: int = LARGEST,
        most: int = MOST_FIELDS,
    ) -> Response:
        """Do what a form says, or show the form again."""
        given = SentForm([])
        try:
            given = await form(request, largest, most)
            by = await self._sender(request, given)
            done = await work(by, given)
        except GuardError as error:
            return await again(given, page_problem(error))
        if isinstance(done, Response):
            return done
        path, said = done
        return self.go(request, path, said)

    def go(self, request: Request, path: str, done: DoneNotice) -> Response:
        """Redirect to a page that shows the notice."""
        self.tell(request, done)
        return redirect(path)

    def tell(self, request: Request, done: DoneNotice) -> None:
        """Keep a notice for the next page that this reader sees."""
        session = principal(request).session
        if session:
            self._told[session] = done
            while len(self._told) > MOST_TOLD:
                self._told.popitem(last=False)

    def bind_to_page(self, by: Actor, given: SentForm, now: Callable[[], str]) -> Actor:
        """Return the actor, whose decision holds only while what their page showed is unchanged. Raises Moved, NotNamed
        or Misshapen.
        """
        return bind_to_tag(given.one("seen"), by, now)

    async def _sender(self, request: Request, given: SentForm) -> Actor:
        """Return who sends a form; with their password they get a new session."""
        me, password = principal(request), given.one("password")
        if password and me.kind == "user":
            before = next(iter(cookies.session_cookies(request.scope)), "")
            renewed = await self.guard.signing_in.with_password(me.name, password, peer_of(request), before)
            setattr(request.state, RENEWED, renewed.shown)
            request.state.principal = self.guard.people.by_session(renewed.shown)
        return actor(request, self.guard, VIA)


def redirect(path: str) -> Response:
    """Redirect to another page."""
    return RedirectResponse(path, 303, {"cache-control": "no-store"})


def principal(request: Request) -> Principal:
    """Return the reader of a page that needs a right, who is always somebody."""
    found: Principal = request.state.principal
    return found
