"""The application of the operator's socket, for processes of the guard's own account, identified by `peer`."""

from starlette.types import ASGIApp

from mcpguard.domain.clock import Ids
from mcpguard.guard.guard import Guard
from mcpguard.web.api.api_door import Api
from mcpguard.web.gate.problem import is_of_programs
from mcpguard.web.gate.requests import Requests
from mcpguard.web.gate.security import BodyLimit
from mcpguard.web.health import health
from mcpguard.web.lazy_app import LazyApp
from mcpguard.web.split_app import SplitApp


def operator_app(guard: Guard, api: Api, new_id: Ids) -> ASGIApp:
    quick = health(guard, causes=True)

    def build() -> ASGIApp:
        from mcpguard.web.operator_refusals import refusals  # noqa: PLC0415 - many guards are never asked for it

        return refusals(quick)

    both = SplitApp(api, is_of_programs, quick.app_before(LazyApp(build)))
    return Requests(BodyLimit(both, guard.settings.limits.body_bytes), "operator", new_id)
