"""What the operator's socket answers besides the API and the health checks: every error as a problem."""

from fastapi import FastAPI

from mcpguard.web.gate.problems import tell_problems
from mcpguard.web.gate.strict_routes import framework_routes
from mcpguard.web.quick_routes import QuickRoutes


def refusals(quick: QuickRoutes) -> FastAPI:
    """Build the application behind these routes, which refuses everything else."""
    app = FastAPI(title="mcpguard operator", openapi_url=None, docs_url=None, redoc_url=None)
    tell_problems(app)
    app.router.routes.extend(framework_routes(quick))
    return app
