"""What cannot be confined is not started."""

from mcpguard.domain.errors import NotStarted


class NotConfined(NotStarted):
    """A process cannot be confined as it was asked for. Says why in a sentence."""
