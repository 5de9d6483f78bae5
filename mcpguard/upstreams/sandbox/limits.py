"""The resource limits of a confined process and, where stated, of all processes that it starts.

Rules kept here:
1. A limit is never above the guard's own limit, which only the host's owner can raise.
2. The limit on processes is set inside, where the kernel counts them per sandbox; the kernel never counts root's
   processes.
3. Address space is not limited: some interpreters reserve hundreds of gigabytes that they never touch. The memory of
   each process is limited instead, and the total of all of them is watched (`memory_watch`).
"""

import resource
from collections.abc import Iterator
from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """`processes` includes threads, `memory` is for all of them together, `scratch` for the home and /tmp together."""

    processes: int = 256
    memory: int = 1024 * MEBIBYTE
    scratch: int = 64 * MEBIBYTE
    file: int = 256 * MEBIBYTE
    open_files: int = 1024

    def options(self) -> Iterator[str]:
        """Yield the options of `prlimit`."""
        yield _option("nproc", resource.RLIMIT_NPROC, self.processes)
        yield _option("data", resource.RLIMIT_DATA, self.memory)
        yield _option("fsize", resource.RLIMIT_FSIZE, self.file)
        yield _option("nofile", resource.RLIMIT_NOFILE, self.open_files)
        yield _option("core", resource.RLIMIT_CORE, 0)
        yield _option("msgqueue", resource.RLIMIT_MSGQUEUE, 0)


def _option(name: str, kind: int, wanted: int) -> str:
    ours = resource.getrlimit(kind)[1]
    # Asking for more than the guard's own limit would make `prlimit` fail, and nothing would start.
    value = wanted if ours == resource.RLIM_INFINITY else min(wanted, ours)
    return f"--{name}={value}:{value}"
