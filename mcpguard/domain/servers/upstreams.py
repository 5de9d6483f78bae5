"""An MCP server that we stand in front of."""

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
    """How an upstream is reached."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


class Origin(StrEnum):
    """How an upstream came here."""

    FILE = "file"
    CLI = "cli"
    API = "api"
    AGENT = "agent"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a server is: what is launched, and what was observed when it ran; None until it was inspected."""

    launch: Fingerprint
    observed: Fingerprint | None = None


@dataclass(frozen=True, slots=True)
class Upstream:
    """An MCP server that we stand in front of. Standing and approvals bind to the id, never to the name.

    `identity` is who it is now, `approved` who a person approved last, `artifact` what ran when it was observed, where
    that can be told. `enabled`: nobody has switched it off; `disabled_by`: the caller who did, and who may take that
    back, where it was not a person. `may_ask`: what it is permitted to ask of the clients whose calls it works on.
    `prefixes`: below these URIs every resource may be read. `rejected`: as whom a person has sent it out of the inbox.
    `screening`: how what it says is screened; None as the setting says. `findings_read`: the rules of the grave
    findings in its launch that somebody said to have read when they approved it. `inspection`: the last one, where it
    has not ended or failed. The generation changes with every move, the revision with every edit. `removed` is a
    tombstone: nothing stands under the name any more, and what was decided is not forgotten.
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
        """Whether a person should look at it: it is new or another, and they have not sent it away as it is."""
        sent_away = self.identity is not None and self.identity == self.rejected
        return self.standing is UpstreamStanding.QUARANTINED and not sent_away

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or "__" in self.name:
            raise InvalidName(
                f"{self.name!r} is no server name: 1 to 63 of a-z, 0-9, - and _, "
                "starting with a letter or digit, without __"
            )
