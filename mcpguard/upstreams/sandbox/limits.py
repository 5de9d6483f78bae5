"""How much a confined process may use, all that it starts included where it says so.

Rules kept here:
1. A limit is never above the guard's own: nobody can raise those but the system's owner.
2. The limit on processes is set inside, where the kernel counts them for each sandbox apart; root's it never counts.
3. There is none on address space: some interpreters reserve hundreds of gigabytes that they never touch. A process's
   own memory is bounded, and what all of them occupy together is watched (`memory_watch`).
"""

import resource
from collections.abc import Iterator
from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """`processes` counts threads, `memory` is for all of them together, `scratch` is for the home and /tmp together."""

    processes: int = 256
    memory: int = 1024 * MEBIBYTE
    scratch: int = 64 * MEBIBYTE
    file: int = 256 * MEBIBYTE
    open_files: int = 1024

    def options(self) -> Iterator[str]:
        """Those of `prlimit`."""
        yield _option("nproc", resource.RLIMIT_NPROC, self.processes)
        yield _option("data", resource.RLIMIT_DATA, self.memory)
        yield _option("fsize", resource.RLIMIT_FSIZE, self.file)
        yield _option("nofile", resource.RLIMIT_NOFILE, self.open_files)
        yield _option("core", resource.RLIMIT_CORE, 0)
        yield _option("msgqueue", resource.RLIMIT_MSGQUEUE, 0)


def _option(name: str, kind: int, wanted: int) -> str:
    ours = resource.getrlimit(kind)[1]
    value = wanted if ours == resource.RLIM_INFINITY else min(wanted, ours)
    return f"--{name}={value}:{value}"
