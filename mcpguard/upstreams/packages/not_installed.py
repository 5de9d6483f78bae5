"""Errors for packages that are not run: they cannot be installed, or no longer match the installation."""

from mcpguard.domain.errors import NotStarted


class NotInstalled(NotStarted):
    """A package could not be installed. The message says why, without a full stop."""


class ChangedPackage(NotStarted):
    """An installed package is missing or was modified. The message says so, without a full stop."""
