"""The routes of the API, the same on the operator's socket and on the network. Every error is returned as a problem
document.
"""

from fastapi import FastAPI

from mcpguard import assets
from mcpguard.guard.guard import Guard
from mcpguard.web.api.routes.allowances import allowances
from mcpguard.web.api.routes.callers import callers
from mcpguard.web.api.routes.calls import calls, learned_words
from mcpguard.web.api.routes.capabilities import capabilities
from mcpguard.web.api.routes.counts import counts
from mcpguard.web.api.routes.decisions import decisions
from mcpguard.web.api.routes.documents import documents
from mcpguard.web.api.routes.exports import exports
from mcpguard.web.api.routes.guard import guarding
from mcpguard.web.api.routes.held_calls import held_calls
from mcpguard.web.api.routes.operators import operators
from mcpguard.web.api.routes.people import people, sessions
from mcpguard.web.api.routes.programs import programs
from mcpguard.web.api.routes.pruning import pruning
from mcpguard.web.api.routes.records import records
from mcpguard.web.api.routes.reviews import reviews
from mcpguard.web.api.routes.scripts import scripts
from mcpguard.web.api.routes.servers import servers
from mcpguard.web.api.routes.settings import settings
from mcpguard.web.api.routes.signing import signing
from mcpguard.web.gate.problems import tell_problems
from mcpguard.web.metrics.page import metrics
from mcpguard.web.views import PageViews

SUBJECTS = (
    servers,
    reviews,
    decisions,
    capabilities,
    calls,
    programs,
    scripts,
    held_calls,
    allowances,
    learned_words,
    callers,
    exports,
    records,
    counts,
    pruning,
    people,
    sessions,
    operators,
    settings,
    signing,
    guarding,
)


def routes(guard: Guard) -> FastAPI:
    """Build the routes, without the gates before them. Including a router would build its routes a second time."""
    app = FastAPI(title="mcpguard", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    tell_problems(app, guard.tallies)
    for subject in (*SUBJECTS, metrics):
        app.router.routes.extend(subject(guard).routes)
    app.router.routes.extend(documents(app, PageViews(assets.webui() / "templates")).routes)
    return app
