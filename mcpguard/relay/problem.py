"""The error with which a relay ends."""

from mcpguard.domain.errors import GuardError


class CannotRelay(GuardError):
    """The relay cannot do its work. The sentence tells whoever configured the agent why. It never repeats a token."""
