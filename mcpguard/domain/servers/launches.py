"""How a server that somebody declared is reached.

Rules kept here:
1. Values are compared whole, so a declaration that changed in anything is another one.
2. What a declaration does not say of the sandbox is the strictest of it.
3. What is put into the environment and the headers is a template whose references are unresolved, and no
   representation of it shows more than the names: it may be a secret that was written out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal, Self

from mcpguard.domain.servers.requests import ServerRequest
from mcpguard.domain.servers.upstreams import Transport


class Era(StrEnum):
    """Which protocol era to speak to a server; `auto` negotiates."""

    AUTO = "auto"
    LEGACY = "legacy"
    MODERN = "modern"


class StdioFraming(StrEnum):
    """How messages are told apart on the standard streams of a server."""

    LINES = "lines"
    HEADERS = "headers"


class Profile(StrEnum):
    """How much of the machine a process gets to see."""

    STRICT = "strict"
    CONTAINED = "contained"
    NONE = "none"

    @property
    def sentence(self) -> str:
        return _MEANING[self]


_MEANING: Final = {
    Profile.STRICT: "no network, and no files but its own and what is mounted",
    Profile.CONTAINED: "the network, and no files but its own and what is mounted",
    Profile.NONE: "NOT CONFINED: it may do everything that the guard's own account may do",
}


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder that a confined process gets to see, where it is outside as well.

    Written as `PATH`, `PATH:ro` or `PATH:rw`. What else follows a colon belongs to the path.
    """

    path: str
    writable: bool = False

    def __str__(self) -> str:
        if self.writable:
            return f"{self.path}:rw"
        return f"{self.path}:ro" if self.path.endswith((":rw", ":ro")) else self.path

    @classmethod
    def written(cls, text: str) -> Self:
        """What was written so. Whether it is a whole path is not looked at."""
        path = text[:-3] if text.endswith((":rw", ":ro")) else text
        return cls(path, writable=text.endswith(":rw"))


@dataclass(frozen=True, slots=True)
class Confinement:
    """How a process is confined: how much of the machine it sees, and which folders."""

    profile: Profile
    mounts: tuple[Mount, ...] = ()


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
    """A child process of ours. No shell reads the arguments.

    `instead_of`: the confinement that is declared, where a person has decided on another one.
    """

    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = _NONE
    folder: str | None = None
    framing: StdioFraming = StdioFraming.LINES
    profile: Profile = Profile.STRICT
    mounts: tuple[Mount, ...] = ()
    instead_of: Confinement | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "environment", Templates(self.environment))
        object.__setattr__(self, "mounts", tuple(sorted(self.mounts, key=lambda each: (each.path, each.writable))))

    def confined(self, how: Confinement) -> Self:
        """As it runs when a person has decided on this confinement."""
        declared = self.as_declared()
        chosen = replace(declared, profile=how.profile, mounts=how.mounts)
        if chosen == declared:
            return declared
        return replace(chosen, instead_of=Confinement(declared.profile, declared.mounts))

    def unconfined(self) -> Self:
        """As it runs when a person has agreed to that."""
        return self.confined(Confinement(Profile.NONE, self.as_declared().mounts))

    def as_declared(self) -> Self:
        """As it runs when nobody has decided otherwise."""
        if self.instead_of is None:
            return self
        return replace(self, profile=self.instead_of.profile, mounts=self.instead_of.mounts, instead_of=None)

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
    artifact: str | None = None
    """Of a package, what was installed and looked at, which alone is run. It is known to the guard, not declared."""
    requests: tuple[ServerRequest, ...] = field(default=(), compare=False)
    """What callers ask of people beside this. Nothing of it is in force, so it makes no difference between two
    declarations: nothing is started or connected anew because of it."""
    since: int | None = field(default=None, compare=False)
    """When it came to be launched so, in microseconds of UTC; None where that was not kept. It is not declared either,
    and makes no difference between two declarations."""

    @property
    def sandbox(self) -> Profile | None:
        """How it is confined; None where we do not start it."""
        return self.launch.profile if isinstance(self.launch, StdioLaunch) else None

    def with_consent_of(self, before: "Declared") -> "Declared":
        """The same, confined as a person has decided where it is launched just as then."""
        if isinstance(before.launch, StdioLaunch) and before.launch.as_declared() == self.launch:
            return replace(self, launch=before.launch)
        return self
