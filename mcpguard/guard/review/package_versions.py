"""Which version of its package a server could be pinned to."""

from mcpguard.domain.servers.launches import StdioLaunch
from mcpguard.guard.servers.registry import ServerState
from mcpguard.upstreams.packages.exact_version import arguments_with_version


def pinned_arguments(known: ServerState) -> tuple[str, ...] | None:
    """Return a server's arguments with the version that was inspected; None where they name it, or none is known."""
    launch = known.declared.launch
    if not isinstance(launch, StdioLaunch):
        return None
    return arguments_with_version(launch.command, launch.arguments, known.upstream.artifact)
