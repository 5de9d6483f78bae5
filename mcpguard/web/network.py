"""The application of the network listener: pages, health checks, the API, and the endpoints for agents."""

from starlette.types import ASGIApp, Scope

from mcpguard.domain.clock import Ids
from mcpguard.guard.guard import Guard
from mcpguard.policy.shares import Shares
from mcpguard.web.api.api_door import Api
from mcpguard.web.gate.credentials import Credentials
from mcpguard.web.gate.problem import is_of_programs
from mcpguard.web.gate.requests import Requests
from mcpguard.web.gate.security import LOOPBACK, BodyLimit, Headers, Hosts
from mcpguard.web.health import health
from mcpguard.web.lazy_app import LazyApp
from mcpguard.web.request_shares import RequestShares
from mcpguard.web.split_app import SplitApp

AGENTS = "/mcp"


def network_app(guard: Guard, api: Api, agents: ASGIApp, port: int, new_id: Ids) -> ASGIApp:
    """Build the application. Requests pass the same gates, outermost first: log, headers, host, size, credentials, and
    the limit of concurrent requests.

    Agents' requests are in the audit log, so they skip the request log; they also skip the headers for browsers.
    """
    quick = health(guard, causes=False)

    def build() -> ASGIApp:
        from mcpguard.web.pages.pages_app import pages  # noqa: PLC0415 - many guards are never asked for one

        return pages(guard, quick)

    app = quick.app_before(LazyApp(build))
    settings = guard.settings
    host = settings.address[0]
    ours = {f"{name}:{port}" for name in (*LOOPBACK, f"[{host}]" if ":" in host else host)}

    def gated(inner: ASGIApp) -> ASGIApp:
        return Hosts(BodyLimit(inner, settings.limits.body_bytes), ours | {*settings.hosts})

    shares = Shares(settings.limits.of_person, settings.limits.of_people)
    both = RequestShares(SplitApp(api, is_of_programs, app), shares, guard.tallies)
    known = Credentials(both, guard.people, guard.tallies)
    return SplitApp(gated(agents), _is_of_agents, Requests(Headers(gated(known)), "network", new_id))


def _is_of_agents(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == AGENTS or path.startswith(AGENTS + "/")
