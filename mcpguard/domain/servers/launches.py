"""The declaration of a server: how it is started or reached.

Rules kept here:
1. Values are compared as a whole, so a declaration that differs in anything is a different one.
2. Any sandbox setting that a declaration omits is the strictest choice.
3. Values of the environment and of headers are templates with unresolved references. A `repr` shows only their names,
   because a value may be a literal secret.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal, Self

from mcpguard.domain.servers.requests import ServerRequest
from mcpguard.domain.servers.upstreams import Transport


class Era(StrEnum):
    """The era of the protocol that is spoken with a server; `auto` negotiates."""

    AUTO = "auto"
    LEGACY = "legacy"
    MODERN = "modern"


class StdioFraming(StrEnum):
    """How messages are delimited on the standard streams of a server."""

    LINES = "lines"
    HEADERS = "headers"


class Profile(StrEnum):
    """The sandbox of a process."""

    STRICT = "strict"
    CONTAINED = "contained"
    NONE = "none"

    @property
    def sentence(self) -> str:
        return _MEANING[self]


_MEANING: Final = {
    Profile.STRICT: "no network; sees only its own files and its mounts",
    Profile.CONTAINED: "network access; sees only its own files and its mounts",
    Profile.NONE: "NOT SANDBOXED: it can do whatever mcpguard's own account can do",
}


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder that a sandboxed process sees, at the same path as outside.

    Written as `PATH`, `PATH:ro` or `PATH:rw`. Any other colon belongs to the path.
    """

    path: str
    writable: bool = False

    def __str__(self) -> str:
        if self.writable:
            return f"{self.path}:rw"
        return f"{self.path}:ro" if self.path.endswith((":rw", ":ro")) else self.path

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the written form. Whether the path is absolute is not checked."""
        path = text[:-3] if text.endswith((":rw", ":ro")) else text
        return cls(path, writable=text.endswith(":rw"))


@dataclass(frozen=True, slots=True)
class Confinement:
    """The sandbox of a process and the folders that it sees."""

    profile: Profile
    mounts: tuple[Mount, ...] = ()


class Templates(Mapping[str, str]):
    """Templates of values by name: immutable, compared by value, and without the values in their representation."""

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
    """A server that mcpguard starts as a child process, without a shell.

    `instead_of`: the declared confinement, where a reviewer has chosen another one.
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

    def with_confinement(self, confinement: Confinement) -> Self:
        """Return the launch with a confinement that a reviewer has chosen."""
        declared = self.as_declared()
        chosen = replace(declared, profile=confinement.profile, mounts=confinement.mounts)
        if chosen == declared:
            return declared
        return replace(chosen, instead_of=Confinement(declared.profile, declared.mounts))

    def without_sandbox(self) -> Self:
        """Return the launch without a sandbox, for which a user must have given consent."""
        return self.with_confinement(Confinement(Profile.NONE, self.as_declared().mounts))

    def as_declared(self) -> Self:
        """Return the launch with the declared confinement."""
        if self.instead_of is None:
            return self
        return replace(self, profile=self.instead_of.profile, mounts=self.instead_of.mounts, instead_of=None)

    @property
    def transport(self) -> Literal[Transport.STDIO]:
        return Transport.STDIO


@dataclass(frozen=True, slots=True)
class RemoteLaunch:
    """A server that runs already and is reached by its URL, or the guard's own (`OWN_SERVER`)."""

    transport: Literal[Transport.HTTP, Transport.SSE, Transport.OWN]
    url: str
    headers: Mapping[str, str] = _NONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", Templates(self.headers))


Launch = StdioLaunch | RemoteLaunch
OWN_SERVER: Final = RemoteLaunch(Transport.OWN, "mcpguard:scripts")
"""The server whose tools are approved scripts. Nothing is started or reached for it."""


@dataclass(frozen=True, slots=True)
class DeclaredServer:
    """A server as it was declared. Trust is no part of it: that is a reviewer's decision, kept elsewhere."""

    name: str
    label: str
    launch: Launch
    enabled: bool = True
    timeout: float | None = None
    """Time limit of a call in seconds; None for the one in the settings."""
    era: Era = Era.AUTO
    artifact: str | None = None
    """The artifact of a package that was installed and inspected; nothing else is run. The guard adds it."""
    requests: tuple[ServerRequest, ...] = field(default=(), compare=False)
    """What callers request beside the declaration. None of it takes effect, so it does not count in comparisons:
    nothing is restarted because of it."""
    since: int | None = field(default=None, compare=False)
    """Since when the server is launched like this, in microseconds of UTC; None if unknown. Not declared and not
    compared either."""

    @property
    def sandbox(self) -> Profile | None:
        """The sandbox profile; None for a server that mcpguard does not start."""
        return self.launch.profile if isinstance(self.launch, StdioLaunch) else None

    def with_consent_of(self, before: "DeclaredServer") -> "DeclaredServer":
        """Return this declaration with the confinement that a reviewer chose before, if the launch is the same."""
        if isinstance(before.launch, StdioLaunch) and before.launch.as_declared() == self.launch:
            return replace(self, launch=before.launch)
        return self
