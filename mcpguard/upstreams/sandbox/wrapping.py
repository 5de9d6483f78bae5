"""The command line that confines a program.

Rules kept here:
1. Namespaces of its own for users, processes, mounts, messages, names and control groups, without network also that;
   no capability, no way to get one, no further namespace; a session of its own; it ends when the guard does.
2. It sees the places it is given, an empty home and /tmp of bounded size, its own /proc and a /dev of six files. All
   but the home, /tmp, /dev/shm and what is given as writable is read-only. The first of its processes, which ends it
   all when the guard ends, is hidden: who could write into its memory could make it forget that.
3. Its environment is set inside, and handed over unseen. The programs that confine it run with none of it: a variable
   of the loader would run the server's code outside. Inside, such variables are set after the limits, which they could
   avoid otherwise. They are code, so they are no secrets and may stand on the command line.
4. Started by root, it runs as somebody else: root is exempt from the limit on processes. As that account may not reach
   what root can, the places are put together by root first; the namespaces are then made by the account itself. Root's
   part has processes of its own, too: a parent's death is no signal to a child of another account, but the end of the
   first process among them is the end of all.
5. Where folders are made anew around a program (`keeping`), the places are put together first as well, by the account
   itself: what lies in those folders is then looked for among the places, and nowhere else.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcpguard.domain.servers.launches import Profile
from mcpguard.upstreams.process.secret_arguments import Handed, Word
from mcpguard.upstreams.sandbox.filter import Processor, program
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.places import Copy, Place, options, staged

TEMPORARY = "/tmp"  # noqa: S108 - it is one of its own
HOME = f"{TEMPORARY}/home"
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - likewise
FIRST = "/proc/1"
OUR_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
LOADER = ("LD_", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH")
_APART = ["user", "pid", "ipc", "uts", "cgroup-try"]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What confines processes here. `account` and `group` are who they are outside."""

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
    """A program to confine, and all that decides how. `profile` is not `none`.

    `first`: what has to be put together before the places can be; empty where they are found on the machine itself.
    """

    program: Sequence[Word]
    environment: Mapping[str, str]
    folder: str
    places: Sequence[Place]
    profile: Profile
    limits: ProcessLimits
    first: Sequence[Place] = ()


def wrapped(sandbox: Sandbox, wanted: WantedProgram) -> tuple[Word, ...]:
    first = wanted.first or (wanted.places if sandbox.drops else ())
    if not first:
        return tuple(_confining(sandbox, wanted, wanted.places))
    return (*_staging(sandbox, first), *_confining(sandbox, wanted, staged(wanted.places)))


def _staging(sandbox: Sandbox, places: Iterable[Place]) -> Iterator[Word]:
    yield from (sandbox.bwrap, "--die-with-parent", "--unshare-pid")
    if sandbox.drops:
        yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    yield from ("--bind", "/proc", "/proc", "--dev", "/dev", "--tmpfs", TEMPORARY)
    yield from options(place for place in places if not isinstance(place, Copy))
    yield from ("--chdir", "/", "--")
    if sandbox.drops:
        yield from (sandbox.setpriv, f"--reuid={sandbox.account}", f"--regid={sandbox.group}", "--clear-groups")
        yield from ("--inh-caps=-all", "--bounding-set=-all", "--")


def _confining(sandbox: Sandbox, wanted: WantedProgram, places: Sequence[Place]) -> Iterator[Word]:
    size = str(wanted.limits.scratch)
    yield sandbox.bwrap
    yield from (f"--unshare-{kind}" for kind in _APART)
    if wanted.profile is Profile.STRICT:
        yield "--unshare-net"
    yield from ("--disable-userns", "--hostname", "sandbox", "--new-session", "--die-with-parent", "--cap-drop", "ALL")
    yield from ("--proc", "/proc", "--size", "4096", "--perms", "0555", "--tmpfs", FIRST, "--remount-ro", FIRST)
    yield from ("--dev", "/dev", "--size", size, "--tmpfs", SHARED_MEMORY, "--remount-ro", "/dev")
    yield from ("--size", size, "--tmpfs", TEMPORARY, "--perms", "0700", "--dir", HOME)
    yield from (*options(places), "--remount-ro", "/", "--chdir", wanted.folder)
    yield from ("--clearenv", "--args", Handed(_set(wanted.environment)))
    yield from ("--seccomp", Handed(program(sandbox.processor)), "--")
    yield from (sandbox.prlimit, *wanted.limits.options(), "--")
    if code := [f"{name}={value}" for name, value in wanted.environment.items() if _of_the_loader(name)]:
        yield from (sandbox.env, *code)
    yield from wanted.program


def _set(environment: Mapping[str, str]) -> bytes:
    words = (("--setenv", name, value) for name, value in environment.items() if not _of_the_loader(name))
    return b"".join(os.fsencode(word) + b"\0" for each in words for word in each)


def _of_the_loader(name: str) -> bool:
    return name.startswith(LOADER)


def seen(path: Path, places: Sequence[Place]) -> bool:
    """Whether there is such a folder inside, for which places have to be given."""
    return any(path.is_relative_to(place.at) for place in places) or str(path) in (TEMPORARY, HOME)
