"""What is measured: a gateway in front of upstreams, or an upstream with nothing in front of it."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from tests.benchmarks.gateway.speech import Era

UPSTREAM = Path(__file__).with_name("upstream.py")
_UPSTREAM_COMMAND = (sys.executable, "-E", "-S", str(UPSTREAM))


class Way(StrEnum):
    """How messages are carried, to a gateway or from it."""

    HTTP = "http"
    STDIO = "stdio"


class CannotRun(Exception):
    """A contender does not take part. Says why in a sentence."""


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


def upstream_command(tools: int) -> tuple[str, ...]:
    """It speaks on its standard streams."""
    return (*_UPSTREAM_COMMAND, Way.STDIO, str(tools))


def is_upstream(command_line: Sequence[str]) -> bool:
    return tuple(command_line[1:4]) == _UPSTREAM_COMMAND[1:]  # a gateway may have ours in its own
