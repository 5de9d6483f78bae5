"""Finds paths in a declaration that the confined server cannot see, often because a mount was forgotten."""

from pathlib import Path

from mcpguard.domain.servers.launches import Profile, StdioLaunch
from mcpguard.upstreams.sandbox.bwrap_command import TEMPORARY
from mcpguard.upstreams.sandbox.places import in_system

_THERE = ("/dev", "/proc")


def unmounted_paths(launch: StdioLaunch) -> tuple[str, ...]:
    """Return the paths among the arguments, and the working folder, that are neither mounted nor the system's."""
    if launch.profile is Profile.NONE:
        return ()
    named = (*launch.arguments, *([launch.folder] if launch.folder else []))
    paths = (each.partition("=")[2] if each.startswith("-") else each for each in named)
    return tuple(dict.fromkeys(path for path in paths if _is_path(path) and not _seen(Path(path), launch)))


def _is_path(text: str) -> bool:
    return text.startswith("/") and not text.startswith("//") and "\n" not in text and len(text) > 1


def _seen(path: Path, launch: StdioLaunch) -> bool:
    roots = (*_THERE, *(mount.path for mount in launch.mounts))
    return path == Path(TEMPORARY) or in_system(path) or any(path.is_relative_to(root) for root in roots)
