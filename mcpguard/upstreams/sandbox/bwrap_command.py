"""Builds the command line that confines a program.

Rules kept here:
1. The program gets separate namespaces for users, processes, mounts, IPC, host names and control groups, and for the
   network where it gets none; no capabilities, no way to gain any, no further namespaces; a new session; it ends with
   the guard.
2. It sees only the places that it is given, an empty home and /tmp of limited size, a private /proc and a /dev of six
   device files. All but the home, /tmp, /dev/shm and writable places is read-only. The first process inside, which
   kills the others when the guard ends, is hidden: a server that could write to its memory could disable that.
3. The server's environment is set inside and passed through a descriptor. bubblewrap and setpriv run without it: a
   variable of the dynamic loader (LD_PRELOAD) would run the server's code outside. Inside, such variables are set after
   the limits, which they could otherwise evade. They are code and not secrets, so they may be on the command line.
4. If the guard is root, the server runs as another account, because root is exempt from the process limit. That account
   may not reach every file that root can, so root assembles the places first; the account then creates the namespaces.
   Root's stage has a process namespace, too: a child of another account gets no signal when its parent dies, but the
   end of the first process in a namespace kills all the others.
5. Where folders are rebuilt around a program (`kept_files`), the places are assembled first as well, by the account
   itself: entries of those folders are then looked up among the places, and nowhere else.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcpguard.domain.servers.launches import Profile
from mcpguard.upstreams.process.secret_arguments import SecretArgument, Word
from mcpguard.upstreams.sandbox.filter import Processor, program
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.places import Copy, Place, bwrap_options, staged_places

TEMPORARY = "/tmp"  # noqa: S108 - it is one of its own
HOME = f"{TEMPORARY}/home"
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - likewise
FIRST = "/proc/1"
OUR_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
LOADER = ("LD_", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH")
_APART = ["user", "pid", "ipc", "uts", "cgroup-try"]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The programs that confine processes on this host. `account` and `group` are the user and group outside."""

    bwrap: str
    prlimit: str
    setpriv: str
    env: str
    processor: Processor
    account: int
    group: int

    @property
    def drops(self) -> bool:
        return self.account != os.geteuid()


@dataclass(frozen=True, slots=True)
class WantedProgram:
    """A program to confine, and everything that decides how. `profile` is never `none`.

    `first` are places to put together in a first step; empty where all sources are found on the host itself.
    """

    program: Sequence[Word]
    environment: Mapping[str, str]
    folder: str
    places: Sequence[Place]
    profile: Profile
    limits: ProcessLimits
    first: Sequence[Place] = ()


def bwrap_command(sandbox: Sandbox, wanted: WantedProgram) -> tuple[Word, ...]:
    first = wanted.first or (wanted.places if sandbox.drops else ())
    if not first:
        return tuple(_confining(sandbox, wanted, wanted.places))
    return (*_staging(sandbox, first), *_confining(sandbox, wanted, staged_places(wanted.places)))


def _staging(sandbox: Sandbox, places: Iterable[Place]) -> Iterator[Word]:
    yield from (sandbox.bwrap, "--die-with-parent", "--unshare-pid")
    if sandbox.drops:
        yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    yield from ("--bind", "/proc", "/proc", "--dev", "/dev", "--tmpfs", TEMPORARY)
    # Copies are made in the second step: their descriptors can be read only once.
    yield from bwrap_options(place for place in places if not isinstance(place, Copy))
    yield from ("--chdir", "/", "--")
    if sandbox.drops:
        yield from (sandbox.setpriv, f"--reuid={sandbox.account}", f"--regid={sandbox.group}", "--clear-groups")
        # Root puts the places together and then becomes the server's account: no capability may survive that step.
        yield from ("--inh-caps=-all", "--bounding-set=-all", "--")


def _confining(sandbox: Sandbox, wanted: WantedProgram, places: Sequence[Place]) -> Iterator[Word]:
    size = str(wanted.limits.scratch)
    yield sandbox.bwrap
    yield from (f"--unshare-{kind}" for kind in _APART)
    if wanted.profile is Profile.STRICT:
        yield "--unshare-net"
    yield from ("--disable-userns", "--hostname", "sandbox", "--new-session", "--die-with-parent", "--cap-drop", "ALL")
    # /proc/1 is covered: bubblewrap's first process runs with the same account, so its memory could be written to.
    yield from ("--proc", "/proc", "--size", "4096", "--perms", "0555", "--tmpfs", FIRST, "--remount-ro", FIRST)
    yield from ("--dev", "/dev", "--size", size, "--tmpfs", SHARED_MEMORY, "--remount-ro", "/dev")
    yield from ("--size", size, "--tmpfs", TEMPORARY, "--perms", "0700", "--dir", HOME)
    yield from (*bwrap_options(places), "--remount-ro", "/", "--chdir", wanted.folder)
    # Through a descriptor: a command line can be read by every account of the host, and the environment holds secrets.
    yield from ("--clearenv", "--args", SecretArgument(_set(wanted.environment)))
    yield from ("--seccomp", SecretArgument(program(sandbox.processor)), "--")
    # After the filter and inside the namespace, where the kernel counts processes for this sandbox alone.
    yield from (sandbox.prlimit, *wanted.limits.options(), "--")
    if code := [f"{name}={value}" for name, value in wanted.environment.items() if _of_the_loader(name)]:
        # Last of all: a variable of the loader would take effect in `prlimit` too, before the limits are set.
        yield from (sandbox.env, *code)
    yield from wanted.program


def _set(environment: Mapping[str, str]) -> bytes:
    words = (("--setenv", name, value) for name, value in environment.items() if not _of_the_loader(name))
    return b"".join(os.fsencode(word) + b"\0" for each in words for word in each)


def _of_the_loader(name: str) -> bool:
    return name.startswith(LOADER)


def is_visible(path: Path, places: Sequence[Place]) -> bool:
    """Tell whether the folder exists inside: in one of the places, or as the sandbox's own home or /tmp."""
    return any(path.is_relative_to(place.at) for place in places) or str(path) in (TEMPORARY, HOME)
