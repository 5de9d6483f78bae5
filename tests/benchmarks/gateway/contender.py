"""What is measured: a gateway in front of upstreams, or an upstream with nothing in front of it."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from tests.benchmarks.gateway.speech import Era


class Way(StrEnum):
    """How messages are carried, to a gateway or from it."""

    HTTP = "http"
    STDIO = "stdio"


class CannotRun(Exception):
    """A contender does not take part. Says why in a sentence."""


@dataclass(frozen=True, slots=True)
class Program:
    """A server that can stand behind every gateway: how Python runs it, and its path over HTTP.

    Without a path it is the same at every path.
    """

    file: Path
    options: tuple[str, ...]
    path: str = ""

    def command(self, way: Way, *given: str) -> tuple[str, ...]:
        """Starts it; `given` are its port, over HTTP, and the number of its tools."""
        return (sys.executable, *self._own, way, *given)

    def runs_in(self, command_line: Sequence[str]) -> bool:
        """Tells whether this is a process of it; a gateway may have its command in its own."""
        return tuple(command_line[1 : 1 + len(self._own)]) == self._own

    @property
    def _own(self) -> tuple[str, ...]:
        return (*self.options, str(self.file))


FAST: Final = Program(Path(__file__).with_name("upstream.py"), ("-E", "-S"))
"""Answers in no time, so that what is measured is the gateway."""
SDK: Final = Program(Path(__file__).with_name("sdk_upstream.py"), ("-P",), "mcp")
"""What people run: made with the official SDK."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """One server behind a gateway. It has either a URL or a command."""

    name: str
    url: str = ""
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """What a contender is given: a folder of its own, a free port, and what to stand in front of."""

    folder: Path
    port: int
    upstreams: Sequence[Upstream]


@dataclass(frozen=True, slots=True)
class Launch:
    """How a contender is started, and at which port and path it answers; without a path on its standard streams.

    Without a command it runs already. `detached` stands in the command line of a process that it leaves to itself.
    """

    command: Sequence[str] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    path: str | None = None
    port: int = 0
    detached: str | None = None


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of the tables. `aggregates`: it is also measured in front of many upstreams."""

    name: str
    front: Way
    upstream: Way
    era: Era
    launch: Callable[[Place], Launch] = field(repr=False)
    ours: bool = False
    is_gateway: bool = True
    aggregates: bool = False


def is_upstream(command_line: Sequence[str]) -> bool:
    return any(program.runs_in(command_line) for program in (FAST, SDK))
