"""The application of the network listener: pages, health checks and the API.

What agents send does not come here: the connection hands it to their door (`app/http_connection.py`).
"""

from starlette.types import ASGIApp

from mcpguard.domain.clock import Ids
from mcpguard.guard.guard import Guard
from mcpguard.policy.shares import Shares
from mcpguard.settings.address import OwnHosts
from mcpguard.web.api.api_door import Api
from mcpguard.web.gate.credentials import Credentials
from mcpguard.web.gate.problem import is_of_programs
from mcpguard.web.gate.requests import Requests
from mcpguard.web.gate.security import BodyLimit, Headers, Hosts
from mcpguard.web.health import health
from mcpguard.web.lazy_app import LazyApp
from mcpguard.web.registry_api import RegistryApi, is_of_registry
from mcpguard.web.request_shares import RequestShares
from mcpguard.web.split_app import SplitApp


def network_app(guard: Guard, api: Api, hosts: OwnHosts, new_id: Ids) -> ASGIApp:
    """Build the application. Requests pass the same gates, outermost first: log, headers, host, size, credentials, and
    the limit of concurrent requests.
    """
    quick = health(guard, causes=False)

    def build() -> ASGIApp:
        from mcpguard.web.pages.pages_app import pages  # noqa: PLC0415 - many guards are never asked for one

        return pages(guard, quick)

    app = quick.app_before(LazyApp(build))
    limits = guard.settings.limits
    shares = Shares(limits.of_person, limits.of_people)
    both = RequestShares(SplitApp(api, is_of_programs, app), shares, guard.tallies)
    known: ASGIApp = Credentials(both, guard.people, guard.tallies)
    if guard.settings.registry.enabled:
        known = SplitApp(RegistryApi(guard), is_of_registry, known)
    return Requests(Headers(Hosts(BodyLimit(known, limits.body_bytes), hosts)), "network", new_id)
