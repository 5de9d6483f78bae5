"""The seccomp filter for the system calls of a confined process, applied by bubblewrap.

Rules kept here:
1. Only internet and netlink sockets are allowed. A Unix socket could reach any visible listener (an abstract one even
   without a file), and a vsock the host of a virtual machine. Connected socket pairs are allowed: interpreters talk to
   their children over them.
2. Memory that belongs to no process is denied, since no limit would count it: shared segments, files without a name.
3. Calls that a server does not need and that sandbox escapes have used are denied: namespaces, mounts, tracing,
   io_uring, bpf, keys, modules.
4. Only regular files can be created, and none with setuid or setgid: a file in a writable mount exists outside too,
   where it would give the owner's rights to any user who runs it. One socket of a pair can still be bound to a path
   there.
5. A processor architecture that is not listed has no filter, and therefore no sandbox.
"""

import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from errno import EAFNOSUPPORT, ENOSYS, EPERM, EPROTONOSUPPORT
from socket import AF_INET, AF_INET6, AF_NETLINK, SOCK_DGRAM
from stat import S_IFREG, S_ISGID, S_ISUID

_BOTH = {"clone3": 435, "openat2": 437, "fchmodat2": 452, "memfd_secret": 447, "pidfd_getfd": 438} | {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
}
_X86_64 = _BOTH | {
    "socket": 41,
    "socketpair": 53,
    "clone": 56,
    "open": 2,
    "openat": 257,
    "creat": 85,
    "chmod": 90,
    "fchmod": 91,
    "fchmodat": 268,
    "mknod": 133,
    "mknodat": 259,
    "shmget": 29,
    "semget": 64,
    "msgget": 68,
    "mq_open": 240,
    "memfd_create": 319,
    "ptrace": 101,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "kcmp": 312,
    "unshare": 272,
    "setns": 308,
    "mount": 165,
    "umount2": 166,
    "pivot_root": 155,
    "chroot": 161,
    "bpf": 321,
    "perf_event_open": 298,
    "userfaultfd": 323,
    "keyctl": 250,
    "add_key": 248,
    "request_key": 249,
    "syslog": 103,
    "kexec_load": 246,
    "kexec_file_load": 320,
    "init_module": 175,
    "finit_module": 313,
    "delete_module": 176,
    "open_by_handle_at": 304,
    "name_to_handle_at": 303,
    "quotactl": 179,
    "fanotify_init": 300,
    "acct": 163,
    "swapon": 167,
    "reboot": 169,
    "modify_ldt": 154,
    "ioperm": 173,
    "iopl": 172,
}
_AARCH64 = _BOTH | {
    "socket": 198,
    "socketpair": 199,
    "clone": 220,
    "openat": 56,
    "fchmod": 52,
    "fchmodat": 53,
    "mknodat": 33,
    "shmget": 194,
    "semget": 190,
    "msgget": 186,
    "mq_open": 180,
    "memfd_create": 279,
    "ptrace": 117,
    "process_vm_readv": 270,
    "process_vm_writev": 271,
    "kcmp": 272,
    "unshare": 97,
    "setns": 268,
    "mount": 40,
    "umount2": 39,
    "pivot_root": 41,
    "chroot": 51,
    "bpf": 280,
    "perf_event_open": 241,
    "userfaultfd": 282,
    "keyctl": 219,
    "add_key": 217,
    "request_key": 218,
    "syslog": 116,
    "kexec_load": 104,
    "kexec_file_load": 294,
    "init_module": 105,
    "finit_module": 273,
    "delete_module": 106,
    "open_by_handle_at": 265,
    "name_to_handle_at": 264,
    "quotactl": 60,
    "fanotify_init": 262,
    "acct": 89,
    "swapon": 224,
    "reboot": 142,
}
_MODES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1}
"""The position of the argument with the file's mode, counted from 0."""
_NODES = {"mknod": 1, "mknodat": 2}
_OPENING = {"open": 1, "openat": 2}
"""The position of the argument with the flags. The mode follows, and counts only where a file is created."""
_OUT_OF_SIGHT = {"clone3", "openat2"}
"""Calls whose arguments lie in memory, where no filter can read them. Told that these do not exist, programs fall back
to `clone` and `openat`."""
_WITH_A_CLOSER_LOOK = {"socket", "socketpair", "clone", *_OUT_OF_SIGHT, *_MODES, *_NODES, *_OPENING}


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor architecture: its audit number in the kernel, and the numbers of its system calls."""

    audit: int
    calls: dict[str, int]


PROCESSORS = {"x86_64": Processor(0xC000003E, _X86_64), "aarch64": Processor(0xC00000B7, _AARCH64)}
OTHER_NUMBERS = 0x40000000
"""From here on, the numbers of the x32 calls on x86_64, which would bypass the filter."""
NEW_NAMESPACES = 0x7E020000
TYPE_OF_SOCKET = 0xF
KIND_OF_FILE = 0o170000
SET_ID = S_ISUID | S_ISGID
MAKING = 0o20000100
"""O_CREAT, and the bit of O_TMPFILE that no other flag has."""

_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER, _AUDIT, _FIRST, _SECOND = 0, 4, 16, 24
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
Step = tuple[int, int, int, int]


def program(processor: Processor) -> bytes:
    """Return the filter in the kernel's binary form."""
    return b"".join(struct.pack("=HBBI", *step) for step in _steps(processor))


def processor() -> Processor | None:
    return PROCESSORS.get(platform.machine())


def _steps(processor: Processor) -> Iterator[Step]:
    calls = processor.calls
    # First the architecture: the same number is another call on another one, so no rule below would mean anything.
    yield from (_load(_AUDIT), (_EQUAL, 1, 0, processor.audit), _answer(_KILL))
    yield from (_load(_NUMBER), (_AT_LEAST, 0, 1, OTHER_NUMBERS), _fail(EPERM))
    # EPERM and not a kill: an interpreter that only tries such a call goes on without it.
    for name in sorted(calls.keys() - _WITH_A_CLOSER_LOOK):
        yield from ((_EQUAL, 0, 1, calls[name]), _fail(EPERM))
    for name in sorted(_OUT_OF_SIGHT):
        yield from ((_EQUAL, 0, 1, calls[name]), _fail(ENOSYS))
    yield from _files(calls)
    yield from _looked_at(calls["clone"], [_load(_FIRST), (_ANY_BIT, 0, 1, NEW_NAMESPACES), _fail(EPERM)])
    families = [(_EQUAL, 3 - after, 0, family) for after, family in enumerate((AF_INET, AF_INET6, AF_NETLINK))]
    yield from _looked_at(calls["socket"], [_load(_FIRST), *families, _fail(EAFNOSUPPORT)])
    kind = [_load(_SECOND), (_AND, 0, 0, TYPE_OF_SOCKET), (_EQUAL, 0, 1, SOCK_DGRAM), _fail(EPROTONOSUPPORT)]
    # A datagram socket of a pair could send to any other socket as well, so only connected kinds are allowed.
    yield from _looked_at(calls["socketpair"], kind)
    # Everything else is allowed: servers are interpreters with many calls, and the namespaces hold what is left.
    yield _answer(_ALLOW)


def _files(calls: dict[str, int]) -> Iterator[Step]:
    no_set_id = [(_ANY_BIT, 0, 1, SET_ID), _fail(EPERM)]
    regular = [(_AND, 0, 0, KIND_OF_FILE), (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, S_IFREG), _fail(EPERM)]
    for name, at in _MODES.items():
        if name in calls:
            yield from _looked_at(calls[name], [_load(_argument(at)), *no_set_id])
    for name, at in _NODES.items():
        if name in calls:
            yield from _looked_at(calls[name], [_load(_argument(at)), *no_set_id, *regular])
    for name, at in _OPENING.items():
        if name in calls:
            making = (_ANY_BIT, 0, 1 + len(no_set_id), MAKING)
            steps = [_load(_argument(at)), making, _load(_argument(at + 1)), *no_set_id]
            yield from _looked_at(calls[name], steps)


def _argument(at: int) -> int:
    return _FIRST + 8 * at


def _looked_at(call: int, steps: list[Step]) -> list[Step]:
    """Return the steps for one call, which allow it if none of them ends the filter before."""
    return [(_EQUAL, 0, len(steps) + 1, call), *steps, _answer(_ALLOW)]


def _load(offset: int) -> Step:
    return (_LOAD, 0, 0, offset)


def _answer(how: int) -> Step:
    return (_RETURN, 0, 0, how)


def _fail(error: int) -> Step:
    return _answer(_FAIL | error)
