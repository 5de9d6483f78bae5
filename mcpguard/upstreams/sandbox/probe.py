"""Whether processes can be confined here, found out by confining one.

Rules kept here:
1. What does not work is said, with the reason; nothing weaker takes its place.
2. What the kernel says of the confined process decides, not that it could be started: no capability, no new privilege,
   a filter, somebody else's account or a number of processes that counts, the limits that were asked for.
3. The programs are the system's own. The guard's PATH may lead into somebody's folder.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mcpguard.domain.servers.launches import Profile
from mcpguard.text.visible import visible
from mcpguard.upstreams.process.secret_arguments import opened
from mcpguard.upstreams.sandbox.accounts import GROUP, NUMBERS
from mcpguard.upstreams.sandbox.filter import processor
from mcpguard.upstreams.sandbox.limits import MEBIBYTE, ProcessLimits
from mcpguard.upstreams.sandbox.memory_watch import EVERY
from mcpguard.upstreams.sandbox.places import system
from mcpguard.upstreams.sandbox.wrapping import OUR_PATH, Sandbox, WantedProgram, wrapped

SECONDS = 10
APART_SINCE = (5, 14)
"""The first kernel that counts the processes of each sandbox by themselves."""
SHOWN = ("/proc/self/status", "/proc/self/limits", "/proc/self/uid_map")


@dataclass(frozen=True, slots=True)
class Works:
    """`in_force` says in sentences what bounds a confined process here."""

    sandbox: Sandbox
    in_force: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fails:
    """There is no sandbox here. `why` is a sentence without its end."""

    why: str


def probed(limits: ProcessLimits | None = None, path: str = OUR_PATH) -> Works | Fails:
    """Starts a process and waits for it. `path` is where the programs are that confine others."""
    limits = limits or ProcessLimits()
    sandbox = _tools(path)
    if isinstance(sandbox, Fails):
        return sandbox
    try:
        told = _told(sandbox, limits)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Fails(f"bubblewrap cannot be run: {error}")
    if told.returncode:
        said = told.stderr.strip().splitlines() or [f"exit code {told.returncode}"]
        return Fails(f"bubblewrap does not work here: {visible(said[-1])}")
    if weak := list(_weaknesses(told.stdout, limits)):
        return Fails(f"what bubblewrap confines is not confined: {', '.join(weak)}")
    return Works(sandbox, tuple(_in_force(sandbox, limits)))


def _tools(path: str) -> Sandbox | Fails:
    if sys.platform != "linux":
        return Fails("only Linux has what confines processes")
    found = {name: shutil.which(name, path=path) for name in ("bwrap", "prlimit", "setpriv", "env", "cat")}
    if missing := [name for name, where in found.items() if where is None]:
        packages = "bubblewrap" if missing == ["bwrap"] else "bubblewrap, util-linux and coreutils"
        return Fails(f"{', '.join(missing)} is not installed: install {packages}")
    filtered = processor()
    if filtered is None:
        return Fails(f"there is no filter of system calls for {platform.machine()}")
    paths = {name: where for name, where in found.items() if where and name != "cat"}
    account, group = (os.geteuid(), os.getegid()) if os.geteuid() else (GROUP, GROUP)
    return Sandbox(**paths, processor=filtered, account=account, group=group)


def _told(sandbox: Sandbox, limits: ProcessLimits) -> subprocess.CompletedProcess[str]:
    wanted = WantedProgram(
        ["cat", *SHOWN], {"PATH": OUR_PATH}, "/", list(system(network=False)), Profile.STRICT, limits
    )
    with opened(wrapped(sandbox, wanted)) as (words, descriptors):
        return subprocess.run(  # noqa: S603 - the programs are the system's own
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            pass_fds=descriptors,
            cwd=Path("/"),
            env={"PATH": OUR_PATH},
            start_new_session=True,
            timeout=SECONDS,
        )


def _weaknesses(told: str, limits: ProcessLimits) -> Iterator[str]:
    for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
        if not re.search(rf"^Cap{kind}:\s+0+$", told, re.MULTILINE):
            yield f"it has capabilities ({kind})"
    if not re.search(r"^NoNewPrivs:\s+1$", told, re.MULTILINE):
        yield "it may gain privileges"
    if not re.search(r"^Seccomp:\s+2$", told, re.MULTILINE):
        yield "its system calls are not filtered"
    asked = next(limits.options()).rpartition(":")[2]
    if not re.search(rf"^Max processes\s+{asked}\s+{asked}\s", told, re.MULTILINE):
        yield "its processes are not limited"
    if not re.search(r"^\s+\d+\s+\d+\s+1$", told, re.MULTILINE):
        yield "it has no user namespace of its own"


def _in_force(sandbox: Sandbox, limits: ProcessLimits) -> Iterator[str]:
    apart = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2]) >= APART_SINCE
    own = apart or sandbox.drops
    counted = "in each sandbox" if own else f"of user {sandbox.account}, as this old kernel counts them"
    yield f"{limits.processes} processes and threads {counted}"
    yield f"{limits.memory // MEBIBYTE} MiB of its own memory in each process (the kernel)"
    yield f"{limits.memory // MEBIBYTE} MiB resident in all of them together (watched every {EVERY:g} s, then killed)"
    yield f"{limits.scratch // MEBIBYTE} MiB in its home and /tmp, as much again in /dev/shm"
    yield f"{limits.file // MEBIBYTE} MiB in a file, {limits.open_files} open files"
    if sandbox.drops:
        numbers = f"{NUMBERS[0]} to {NUMBERS[-1]}"
        yield f"it runs as a user of its own ({numbers}) in group {sandbox.group}, as the guard is root"
    else:
        yield f"it runs as user {sandbox.account}, as the guard does"
