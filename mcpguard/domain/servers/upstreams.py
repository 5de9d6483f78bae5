"""The servers that the guard protects."""

import re
from dataclasses import dataclass
from enum import StrEnum

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.standing import UpstreamStanding

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class Transport(StrEnum):
    """The transport to a server."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"
    OWN = "own"
    """The guard itself, which has approved scripts."""


class Origin(StrEnum):
    """How a server was added."""

    FILE = "file"
    CLI = "cli"
    API = "api"
    AGENT = "agent"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a server: its launch, and what was observed when it ran; None until it was inspected."""

    launch: Fingerprint
    observed: Fingerprint | None = None

    def __str__(self) -> str:
        return f"launch {self.launch}, observed {self.observed or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Upstream:
    """An MCP server that the guard stands in front of. Status and approvals bind to the id, never to the name.

    `identity` is the identity now, `approved` the one that a reviewer approved last, `artifact` the program that ran
    when it was observed, if known. `enabled`: nobody has disabled it; `disabled_by`: the caller who did and may enable
    it again, empty where a user did. `may_ask`: the requests that it may make to clients while it works on their calls.
    `prefixes`: every resource below these URIs may be read. `rejected`: the identity that a reviewer removed from the
    inbox. `screening`: how its replies are scanned; None for the mode in the settings. `findings_read`: the rules of
    the grave findings in its launch that the reviewer who approved it confirmed to have read. `inspection`: the last
    one, if it is running or failed. The generation changes with every move, the revision with every edit. `removed`
    marks a tombstone: no server has the name any more, and what was decided is remembered.
    """

    id: str
    name: str
    transport: Transport
    standing: UpstreamStanding = UpstreamStanding.QUARANTINED
    enabled: bool = True
    may_ask: frozenset[AskKind] = frozenset()
    prefixes: tuple[str, ...] = ()
    origin: Origin = Origin.FILE
    requester: str = ""
    identity: Identity | None = None
    approved: Identity | None = None
    artifact: str | None = None
    generation: int = 0
    revision: int = 0
    removed: bool = False
    disabled_by: str = ""
    screening: Screening | None = None
    rejected: Identity | None = None
    findings_read: frozenset[str] = frozenset()
    inspection: Inspection | None = None

    @property
    def waits(self) -> bool:
        """Whether it needs review: it is new or changed, and this identity was not rejected."""
        rejected = self.identity is not None and self.identity == self.rejected
        return self.standing is UpstreamStanding.QUARANTINED and not rejected

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or "__" in self.name:
            raise InvalidName(
                f"{self.name!r} is not a valid server name: use 1 to 63 of a-z, 0-9, - and _, "
                "starting with a letter or digit, without __"
            )
