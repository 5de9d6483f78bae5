"""What cannot be installed, or is not what was installed, is not run."""

from mcpguard.domain.errors import NotStarted


class NotInstalled(NotStarted):
    """A package could not be installed. Says why in a sentence without its end."""


class ChangedPackage(NotStarted):
    """What was installed is not there as it was. Says so in a sentence without its end."""
