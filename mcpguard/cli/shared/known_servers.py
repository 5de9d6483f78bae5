"""The servers that the guard already has, as far as the guard can be queried."""

from mcpguard.agents.candidates import GuardedServers
from mcpguard.app.places import server_secrets
from mcpguard.cli.shared.guard_client import SERVERS, GuardClient, server_path
from mcpguard.settings.address import TLS
from mcpguard.settings.model import Settings


def guarded_by(settings: Settings, guard: GuardClient | None) -> GuardedServers:
    """The servers of the guard; none if there is no guard to ask."""
    every = guard.get_all(SERVERS, "servers")["servers"] if guard else []
    standings = {str(each["name"]): str(each["standing"]) for each in every}
    launches = {name: guard.get(server_path(name))["launch"] for name in standings} if guard else {}
    names = (settings.listen, *(each.removeprefix(TLS) for each in settings.hosts))
    own = () if settings.public_url is None else (settings.public_url,)
    urls = (*own, *(f"{scheme}{name}" for scheme in ("http://", TLS) for name in names))
    return GuardedServers(launches, standings, urls, server_secrets(settings))
