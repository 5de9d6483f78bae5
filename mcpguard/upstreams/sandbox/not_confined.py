"""The sandbox's error for a process that cannot be confined and is therefore not started."""

from mcpguard.domain.errors import NotStarted


class NotConfined(NotStarted):
    """A process cannot be confined as its declaration demands. The message says why."""
