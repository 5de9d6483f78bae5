"""The application of the operator's socket, for processes of the guard's own account, identified by `peer`."""

from fastapi import FastAPI
from starlette.types import ASGIApp

from mcpguard.domain.clock import Ids
from mcpguard.guard.guard import Guard
from mcpguard.web.api.api_app import Api
from mcpguard.web.gate.problem import is_of_programs
from mcpguard.web.gate.problems import tell_problems
from mcpguard.web.gate.requests import Requests
from mcpguard.web.gate.security import BodyLimit
from mcpguard.web.health import health
from mcpguard.web.split_app import SplitApp


def operator_app(guard: Guard, api: Api, new_id: Ids) -> ASGIApp:
    app = FastAPI(title="mcpguard operator", openapi_url=None, docs_url=None, redoc_url=None)
    tell_problems(app)
    app.router.routes.extend(health(guard, causes=True).routes)
    both = SplitApp(api, is_of_programs, app)
    return Requests(BodyLimit(both, guard.settings.limits.body_bytes), "operator", new_id)
