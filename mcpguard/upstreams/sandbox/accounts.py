"""The accounts of confined servers where the guard runs as root: each server runs as a separate user.

Rules kept here:
1. No two running servers share a user: the kernel's per-user limits then apply to one server alone, and a server can
   close its files to the others. All these users are in one group, so that servers can share folders.
2. User ids come from the range that systemd keeps for dynamic users. An id that is in use is not taken.
3. A server gets the same user id whenever possible, so that files it left in a shared folder still belong to it later.
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
"""The group of all servers, and the user that installs packages. No distribution assigns this number, and unlike 65534
(nobody) it has no other meaning."""
_OF_SYSTEMD: Final = Path("/run/systemd/dynamic-uid")


class LentAccount:
    """The account for one run of a server; its number is chosen when it is first needed."""

    def __init__(self, accounts: "Accounts", server: str) -> None:
        self._accounts = accounts
        self._server = server

    def __call__(self) -> int:
        """Return the number. Reads the disk. Raises NotConfined."""
        return self._accounts.number(self, self._server)


class Accounts:
    """Lends account numbers to servers, and knows which are in use."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: dict[LentAccount, int | None] = {}

    @contextmanager
    def lend(self, server: str) -> Iterator[LentAccount]:
        """Lend a server an account for the length of the block. No process may run as that user afterwards."""
        lent = LentAccount(self, server)
        with self._lock:
            # Reserved without a number: the number is chosen in a thread, and only where the server is really confined.
            self._taken[lent] = None
        try:
            yield lent
        finally:
            with self._lock:
                del self._taken[lent]

    def number(self, lent: LentAccount, server: str) -> int:
        """Return the number of a lent account. Raises NotConfined where it was given back, or none is left."""
        # A process that survived its server may still run as one of these: it could read the next server's files.
        others = _running()
        with self._lock:
            if lent not in self._taken:
                raise NotConfined("its start was cancelled")
            if (known := self._taken[lent]) is not None:
                return known
            taken = {*self._taken.values(), *others}
            # The search begins at a number that depends on the name only, so a server gets the same one whenever it is
            # free.
            first = int.from_bytes(sha256(server.encode()).digest()[:8]) % len(NUMBERS)
            for offset in range(len(NUMBERS)):
                number = NUMBERS[(first + offset) % len(NUMBERS)]
                # A number that an account of the host has could read that account's files.
                if number not in taken and not _known(number):
                    self._taken[lent] = number
                    return number
        raise NotConfined(f"all accounts from {NUMBERS[0]} to {NUMBERS[-1]} are in use; stop other servers")


def _running() -> set[int]:
    """Return the users of all visible processes."""
    found: set[int] = set()
    with suppress(OSError), os.scandir("/proc") as entries:
        for each in entries:
            if each.name.isdecimal():
                with suppress(OSError):
                    found.add(each.stat().st_uid)
    return found


def _known(number: int) -> bool:
    """Tell whether the host has an account with this number, or systemd has assigned it to a service."""
    with suppress(KeyError):
        return bool(pwd.getpwuid(number))
    return (_OF_SYSTEMD / str(number)).exists()
