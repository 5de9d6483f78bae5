"""What the operating system is to run: a command, and where it searches programs."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from mcpguard.domain.errors import GuardError
from mcpguard.text.visible import visible


class ServiceNotChanged(GuardError):
    """No file of a service was changed. The message says why."""


@dataclass(frozen=True, slots=True)
class GuardService:
    """The guard as a service. `log_file` is for systems that keep no log of their services themselves."""

    command: tuple[str, ...]
    search_path: str
    log_file: str

    def __post_init__(self) -> None:
        """Refuse what no unit and no property list can hold. Raises ServiceNotChanged."""
        for word in (*self.command, self.search_path, self.log_file):
            if not word.isprintable():
                raise ServiceNotChanged(f"{visible(word)} has characters that no service can have; move it elsewhere")
        if {*self.command[0]} & {*"\"'\\"}:
            raise ServiceNotChanged(f"{visible(self.command[0])} has quotes or backslashes, which systemd refuses")


def search_path(given: str) -> str:
    """The folders of PATH that mean the same wherever a program is started, each once."""
    return os.pathsep.join(_folders(given.split(os.pathsep)))


def _folders(given: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(each for each in given if each.startswith("/") and each.isprintable())
