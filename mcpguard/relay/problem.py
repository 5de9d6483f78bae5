"""Why a relay cannot do its work."""

from mcpguard.domain.errors import GuardError


class CannotRelay(GuardError):
    """The sentence says why, for whoever configured the agent. It never repeats a token."""
