"""Errors of packages: one that cannot be installed, or is not the installed one any more, is not run."""

from mcpguard.domain.errors import NotStarted


class NotInstalled(NotStarted):
    """A package could not be installed. The message says why, without a full stop."""


class ChangedPackage(NotStarted):
    """An installed package is missing or was modified. The message says so, without a full stop."""
