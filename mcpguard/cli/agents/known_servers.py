"""What the guard of these settings has already, as far as it can be asked."""

from mcpguard.agents.candidates import Guarded
from mcpguard.app.places import server_secrets
from mcpguard.cli.shared.guard_client import SERVERS, Operator, server_path
from mcpguard.settings.model import Settings


def guarded_by(settings: Settings, operator: Operator | None) -> Guarded:
    """Nothing, if there is nobody to ask."""
    every = operator.every(SERVERS, "servers")["servers"] if operator else []
    standings = {str(each["name"]): str(each["standing"]) for each in every}
    launches = {name: operator.get(server_path(name))["launch"] for name in standings} if operator else {}
    return Guarded(launches, standings, (f"http://{settings.listen}",), server_secrets(settings))
