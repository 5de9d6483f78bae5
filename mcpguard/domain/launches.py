"""How a server that somebody declared is reached.

Rules kept here:
1. Values are compared whole, so a declaration that changed in anything is another one.
2. What is put into the environment and the headers is a template whose references are unresolved, and no
   representation of it shows more than the names: it may be a secret that was written out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal

from mcpguard.domain.upstreams import Transport


class Era(StrEnum):
    """Which protocol era to speak to a server; `auto` negotiates."""

    AUTO = "auto"
    LEGACY = "legacy"
    MODERN = "modern"


class StdioFraming(StrEnum):
    """How messages are told apart on the standard streams of a server."""

    LINES = "lines"
    HEADERS = "headers"


class Templates(Mapping[str, str]):
    """Names with the templates of their values: fixed, equal by value, and silent about the values."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = MappingProxyType(dict(values or {}))

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return f"Templates({', '.join(self._values)})"


_NONE: Final = Templates()


@dataclass(frozen=True, slots=True)
class StdioLaunch:
    """A child process of ours. No shell reads the arguments."""

    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = _NONE
    folder: str | None = None
    framing: StdioFraming = StdioFraming.LINES

    def __post_init__(self) -> None:
        object.__setattr__(self, "environment", Templates(self.environment))

    @property
    def transport(self) -> Literal[Transport.STDIO]:
        return Transport.STDIO


@dataclass(frozen=True, slots=True)
class RemoteLaunch:
    """A server that runs already, at a URL."""

    transport: Literal[Transport.HTTP, Transport.SSE]
    url: str
    headers: Mapping[str, str] = _NONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", Templates(self.headers))


Launch = StdioLaunch | RemoteLaunch


@dataclass(frozen=True, slots=True)
class Declared:
    """A server as it was declared. It says nothing about trust: that is a person's decision, kept elsewhere."""

    name: str
    label: str
    launch: Launch
    enabled: bool = True
    timeout: float | None = None
    """Seconds that a call of this server may take; None is the guard's own."""
    era: Era = Era.AUTO
