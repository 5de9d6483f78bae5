"""As whom confined servers run where the guard is root: each as a user of its own.

Rules kept here:
1. No two that run at the same time are one user: what the kernel counts for each user is each server's own, and so is a
   file that a server closes to others. All of them are in one group, so that they can share folders.
2. The numbers are those that systemd keeps for users that come and go. What somebody else goes by now is not taken.
3. A server has the same number whenever it can, so that what it left in a shared folder is its own later, too.
"""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final

from mcpguard.upstreams.sandbox.not_confined import NotConfined

NUMBERS: Final = range(61184, 65520)
GROUP: Final = 65533
"""The group of all of them, and the user that installs packages: distributions give this number to nobody, and unlike
65534 it stands for nothing else."""
_OF_SYSTEMD: Final = Path("/run/systemd/dynamic-uid")


class Lent:
    """The number for one run of a server; it is chosen when it is first asked for."""

    def __init__(self, accounts: "Accounts", server: str) -> None:
        self._accounts = accounts
        self._server = server

    def __call__(self) -> int:
        """Looks at the disk. Raises NotConfined."""
        return self._accounts.number(self, self._server)


class Accounts:
    """Which numbers are in use."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: dict[Lent, int | None] = {}

    @contextmanager
    def lent(self, server: str) -> Iterator[Lent]:
        """A number that is this server's until the block ends. By then nothing may run as that user any more."""
        lent = Lent(self, server)
        with self._lock:
            self._taken[lent] = None
        try:
            yield lent
        finally:
            with self._lock:
                del self._taken[lent]

    def number(self, lent: Lent, server: str) -> int:
        """Raises NotConfined where it is not lent any more, or none is left."""
        others = _running()
        with self._lock:
            if lent not in self._taken:
                raise NotConfined("it was given up while it was being started")
            if (known := self._taken[lent]) is not None:
                return known
            taken = {*self._taken.values(), *others}
            first = int.from_bytes(sha256(server.encode()).digest()[:8]) % len(NUMBERS)
            for offset in range(len(NUMBERS)):
                number = NUMBERS[(first + offset) % len(NUMBERS)]
                if number not in taken and not _known(number):
                    self._taken[lent] = number
                    return number
        raise NotConfined(f"every user from {NUMBERS[0]} to {NUMBERS[-1]} is in use")


def _running() -> set[int]:
    """The users of all processes that can be seen."""
    found: set[int] = set()
    with suppress(OSError), os.scandir("/proc") as entries:
        for each in entries:
            if each.name.isdecimal():
                with suppress(OSError):
                    found.add(each.stat().st_uid)
    return found


def _known(number: int) -> bool:
    """Whether the machine has an account of this number, or systemd has given it to a service."""
    with suppress(KeyError):
        return bool(pwd.getpwuid(number))
    return (_OF_SYSTEMD / str(number)).exists()
