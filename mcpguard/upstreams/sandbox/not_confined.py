"""The error of the sandbox: a process that cannot be confined is not started."""

from mcpguard.domain.errors import NotStarted


class NotConfined(NotStarted):
    """A process cannot be confined as its declaration demands. The message says why."""
