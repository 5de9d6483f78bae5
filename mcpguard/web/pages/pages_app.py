"""The application of all pages, and the pages for what does not exist or fails."""

from fastapi import FastAPI, Request
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from structlog.contextvars import get_contextvars

from mcpguard import assets
from mcpguard.domain.errors import GuardError
from mcpguard.domain.people import Principal
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import page_problem
from mcpguard.web.gate.access import RightLacking
from mcpguard.web.gate.sender import whoever
from mcpguard.web.gate.strict_routes import framework_routes
from mcpguard.web.pages.agents.add_caller import caller_adding
from mcpguard.web.pages.agents.callers_page import callers
from mcpguard.web.pages.agents.held_page import held_calls
from mcpguard.web.pages.agents.live import live
from mcpguard.web.pages.agents.policy import policy
from mcpguard.web.pages.agents.search_page import search_page
from mcpguard.web.pages.audit.audit import audit
from mcpguard.web.pages.audit.call_page import call_page
from mcpguard.web.pages.audit.exports_page import exporting
from mcpguard.web.pages.audit.record import record
from mcpguard.web.pages.audit.verification import verifying
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.find_page import find
from mcpguard.web.pages.help.help_documents import HelpDocuments
from mcpguard.web.pages.help.help_page import help_pages
from mcpguard.web.pages.numbers.activity import activity
from mcpguard.web.pages.numbers.overview import overview
from mcpguard.web.pages.people.me import me
from mcpguard.web.pages.people.sessions import sessions
from mcpguard.web.pages.people.setup import setup
from mcpguard.web.pages.people.sign_in import signing
from mcpguard.web.pages.people.tokens import tokens
from mcpguard.web.pages.people.user import user
from mcpguard.web.pages.people.users import users
from mcpguard.web.pages.servers.add import adding
from mcpguard.web.pages.servers.capability import capability
from mcpguard.web.pages.servers.configuration import configuration
from mcpguard.web.pages.servers.edit import editing
from mcpguard.web.pages.servers.findings_page import findings
from mcpguard.web.pages.servers.inbox import inbox
from mcpguard.web.pages.servers.inspection import inspection
from mcpguard.web.pages.servers.review import review
from mcpguard.web.pages.servers.scripts_page import scripts
from mcpguard.web.pages.servers.servers_page import servers
from mcpguard.web.pages.servers.tabs import logs, tabs
from mcpguard.web.pages.settings.settings_page import settings
from mcpguard.web.quick_routes import QuickRoutes
from mcpguard.web.views import PageViews

SUBJECTS = (
    inbox,
    overview,
    find,
    help_pages,
    held_calls,
    servers,
    scripts,
    adding,
    review,
    inspection,
    tabs,
    activity,
    logs,
    capability,
    configuration,
    editing,
    findings,
    audit,
    verifying,
    exporting,
    record,
    call_page,
    caller_adding,
    callers,
    policy,
    search_page,
    settings,
    users,
    user,
    sessions,
    tokens,
    me,
    live,
)


def pages(guard: Guard, quick: QuickRoutes) -> FastAPI:
    """Build the application of all pages, behind those routes."""
    app = FastAPI(title="mcpguard", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    views = PageViews(assets.webui() / "templates")
    desk = Console(guard, views, HelpDocuments(assets.documents()))
    subjects = [subject(guard, desk) for subject in SUBJECTS]
    app.router.routes.extend(framework_routes(quick))
    for router in (*subjects, signing(guard, views), setup(guard, views)):
        app.router.routes.extend(router.routes)  # to include a router would build its routes a second time
    app.mount("/static", StaticFiles(directory=assets.webui() / "static"))

    def plainly(status: int, title: str, sentence: str) -> Response:
        return views.page("error.html", status, title=title, sentence=sentence)

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        if error.status_code == 404:
            return plainly(404, "Not found", "This page does not exist.")
        return plainly(error.status_code, "Not accepted", "This page does not accept that request.")

    @app.exception_handler(GuardError)
    async def foreseen(request: Request, error: GuardError) -> Response:
        by = whoever(request)
        if isinstance(error, RightLacking) and isinstance(by, Principal):
            guard.tallies.count_refused(door="network", why="right", by=f"{by.kind}:{by.id}")
            return plainly(
                403, "Not permitted", f"You are signed in as {by.name}; the role {by.role} does not permit this."
            )
        said = page_problem(error)
        return plainly(said.status, "Not found" if said.status == 404 else "Not done", said.sentence)

    @app.exception_handler(Exception)
    async def broken(_: Request, __: Exception) -> Response:
        """Show only what to look for in the log, which has the traceback."""
        reference = get_contextvars().get("request", "")
        sentence = f"Internal error. Look for {reference} in the guard's log; the audit log shows what was done."
        return plainly(500, "Something went wrong", sentence)

    return app
