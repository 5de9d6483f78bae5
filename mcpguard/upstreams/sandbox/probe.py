"""Finds out whether this host has a working sandbox, by confining a process.

Rules kept here:
1. If the sandbox does not work, the reason is reported; no weaker confinement takes its place.
2. A successful start is not enough: the kernel's report on the confined process decides. It must show no capabilities,
   no new privileges, a filter, a separate user namespace, and the process limit that was set.
3. Only the system's own programs are used: the guard's PATH may lead into a user's folder.
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
from mcpguard.upstreams.process.secret_arguments import open_arguments
from mcpguard.upstreams.sandbox.accounts import GROUP, NUMBERS
from mcpguard.upstreams.sandbox.bwrap_command import OUR_PATH, Sandbox, WantedProgram, bwrap_command
from mcpguard.upstreams.sandbox.filter import processor
from mcpguard.upstreams.sandbox.limits import MEBIBYTE, ProcessLimits
from mcpguard.upstreams.sandbox.memory_watch import EVERY
from mcpguard.upstreams.sandbox.missing_rights import is_in_container, missing_right
from mcpguard.upstreams.sandbox.places import system_places

SECONDS = 10
APART_SINCE = (5, 14)
"""The first kernel version that counts the processes of each sandbox separately."""
SHOWN = ("/proc/self/status", "/proc/self/limits", "/proc/self/uid_map")


@dataclass(frozen=True, slots=True)
class UsableSandbox:
    """A sandbox that works. `in_force` lists the limits of a confined process, in sentences."""

    sandbox: Sandbox
    in_force: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """The host has no working sandbox. `why` is a sentence without a full stop."""

    why: str


def probe_sandbox(limits: ProcessLimits | None = None, path: str = OUR_PATH) -> UsableSandbox | NoSandbox:
    """Confine a process and check it. `path` is where bubblewrap and its helpers are searched. It blocks meanwhile."""
    limits = limits or ProcessLimits()
    sandbox = _tools(path)
    if isinstance(sandbox, NoSandbox):
        return sandbox
    try:
        told = _told(sandbox, limits)
    except (OSError, subprocess.TimeoutExpired) as error:
        return NoSandbox(f"cannot run bubblewrap: {error}")
    if told.returncode:
        said = told.stderr.strip().splitlines() or [f"exit code {told.returncode}"]
        missing = missing_right(said[-1], contained=is_in_container())
        return NoSandbox(f"bubblewrap failed: {visible(said[-1])}{'; ' if missing else ''}{missing}")
    # That it started proves nothing: only what the kernel reports about the process counts.
    if weak := list(_weaknesses(told.stdout, limits)):
        return NoSandbox(f"a process in bubblewrap is not confined: {', '.join(weak)}")
    return UsableSandbox(sandbox, tuple(_in_force(sandbox, limits)))


def _tools(path: str) -> Sandbox | NoSandbox:
    if sys.platform != "linux":
        return NoSandbox("the sandbox needs Linux")
    found = {name: shutil.which(name, path=path) for name in ("bwrap", "prlimit", "setpriv", "env", "cat")}
    # Searched in the system's folders only: a program from the guard's PATH could be anybody's, and would run
    # everything.
    if missing := [name for name, where in found.items() if where is None]:
        packages = "bubblewrap" if missing == ["bwrap"] else "bubblewrap, util-linux and coreutils"
        return NoSandbox(f"{', '.join(missing)} is not installed: install {packages}")
    filtered = processor()
    if filtered is None:
        return NoSandbox(f"there is no system call filter for {platform.machine()}")
    paths = {name: where for name, where in found.items() if where and name != "cat"}
    account, group = (os.geteuid(), os.getegid()) if os.geteuid() else (GROUP, GROUP)
    return Sandbox(**paths, processor=filtered, account=account, group=group)


def _told(sandbox: Sandbox, limits: ProcessLimits) -> subprocess.CompletedProcess[str]:
    wanted = WantedProgram(
        ["cat", *SHOWN], {"PATH": OUR_PATH}, "/", list(system_places(network=False)), Profile.STRICT, limits
    )
    with open_arguments(bwrap_command(sandbox, wanted)) as (words, descriptors):
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
        yield "it can gain privileges"
    if not re.search(r"^Seccomp:\s+2$", told, re.MULTILINE):
        yield "its system calls are not filtered"
    asked = next(limits.options()).rpartition(":")[2]
    if not re.search(rf"^Max processes\s+{asked}\s+{asked}\s", told, re.MULTILINE):
        yield "the number of its processes is not limited"
    if not re.search(r"^\s+\d+\s+\d+\s+1$", told, re.MULTILINE):
        yield "it has no user namespace of its own"


def _in_force(sandbox: Sandbox, limits: ProcessLimits) -> Iterator[str]:
    apart = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2]) >= APART_SINCE
    own = apart or sandbox.drops
    counted = "in each sandbox" if own else f"of user {sandbox.account} (old kernel: counted for the user)"
    yield f"{limits.processes} processes and threads {counted}"
    yield f"{limits.memory // MEBIBYTE} MiB of private memory for each process (kernel limit)"
    yield f"{limits.memory // MEBIBYTE} MiB resident for all processes (checked every {EVERY:g} s; killed above that)"
    yield f"{limits.scratch // MEBIBYTE} MiB in its home and /tmp, the same again in /dev/shm"
    yield f"{limits.file // MEBIBYTE} MiB for each file, {limits.open_files} open files"
    if sandbox.drops:
        numbers = f"{NUMBERS[0]} to {NUMBERS[-1]}"
        yield f"runs as a user of its own ({numbers}) in group {sandbox.group}, because mcpguard runs as root"
    else:
        yield f"runs as user {sandbox.account}, like mcpguard"
