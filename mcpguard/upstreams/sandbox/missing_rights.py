"""Says which right the sandbox misses on this host or in this container, and who gives it, by what bubblewrap said."""

import os
from pathlib import Path
from typing import Final

MARKS: Final = ("/.dockerenv", "/run/.containerenv")
"""Files that container engines put into a container."""
KUBERNETES: Final = "KUBERNETES_SERVICE_HOST"
_PROC: Final = "mount proc"
_CALLS: Final = ("namespace", "set hostname", "mount", "uid map", "gid map", "pivot_root")
"""What bubblewrap names where the kernel or a filter refuses it a user namespace, or something within it."""
_HELP: Final = {
    (True, True): "the container hides parts of /proc: start it with --security-opt systempaths=unconfined (Docker), "
    "--security-opt unmask=ALL (Podman) or procMount: Unmasked (Kubernetes)",
    (True, False): "the container's system call filter forbids namespaces: start it with "
    "--security-opt seccomp=unconfined (Docker, Podman) or seccompProfile: {type: Unconfined} (Kubernetes)",
    (False, True): "something hides parts of /proc from this account",
    (False, False): "this account may make no user namespaces: set kernel.unprivileged_userns_clone=1, or "
    "kernel.apparmor_restrict_unprivileged_userns=0, with sysctl",
}


def is_in_container(root: Path = Path("/")) -> bool:
    """Tell whether this process runs in a container."""
    return KUBERNETES in os.environ or any((root / mark.lstrip("/")).exists() for mark in MARKS)


def missing_right(said: str, *, contained: bool) -> str:
    """Return what is missing and who gives it; empty where bubblewrap failed for another reason."""
    if not any(each in said for each in _CALLS):
        return ""
    return _HELP[contained, _PROC in said]
