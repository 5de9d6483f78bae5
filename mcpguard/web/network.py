"""The network listener's application: pages, health and the API, and beside them the agents' faces."""

from functools import partial

from starlette.types import ASGIApp, Scope

from mcpguard.domain.clock import Ids
from mcpguard.guard.guard import Guard
from mcpguard.policy.shares import Shares
from mcpguard.web.api.api_app import Api
from mcpguard.web.gate.credentials import Credentials
from mcpguard.web.gate.problem import is_of_programs
from mcpguard.web.gate.requests import Requests
from mcpguard.web.gate.security import LOOPBACK, BodyLimit, Headers, Hosts
from mcpguard.web.lazy_app import Later
from mcpguard.web.pages.pages_app import pages
from mcpguard.web.shared import Shared
from mcpguard.web.split_app import Apart

AGENTS = "/mcp"


def network_app(guard: Guard, api: Api, agents: ASGIApp, port: int, new_id: Ids) -> ASGIApp:
    """Everything on the network goes through the same gates, outermost first: log, headers, host, size, who it is, and
    how much of theirs is under way.

    What agents ask is in the audit log and not in the program's, and they read no headers that are meant for browsers.
    """
    app = Later(partial(pages, guard))
    settings = guard.settings
    host = settings.address[0]
    ours = {f"{name}:{port}" for name in (*LOOPBACK, f"[{host}]" if ":" in host else host)}

    def gated(inner: ASGIApp) -> ASGIApp:
        return Hosts(BodyLimit(inner, settings.limits.body_bytes), ours | {*settings.hosts})

    shares = Shares(settings.limits.of_person, settings.limits.of_people)
    both = Shared(Apart(api, is_of_programs, app), shares, guard.tallies)
    known = Credentials(both, guard.people, guard.tallies)
    return Apart(gated(agents), _is_of_agents, Requests(Headers(gated(known)), "network", new_id))


def _is_of_agents(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == AGENTS or path.startswith(AGENTS + "/")
