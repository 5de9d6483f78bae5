"""An MCP server that we stand in front of."""

import re
from dataclasses import dataclass
from enum import StrEnum

from mcpguard.domain.asks import AskKind
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.standing import UpstreamStanding

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class Transport(StrEnum):
    """How an upstream is reached."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


@dataclass(frozen=True, slots=True)
class Upstream:
    """An MCP server that we stand in front of. Standing and approvals bind to the id, never to the name.

    `may_ask`: what it is permitted to ask of the clients whose calls it works on.
    """

    id: str
    name: str
    transport: Transport
    standing: UpstreamStanding = UpstreamStanding.QUARANTINED
    enabled: bool = True
    may_ask: frozenset[AskKind] = frozenset()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or "__" in self.name:
            raise InvalidName(
                f"{self.name!r} is no server name: 1 to 63 of a-z, 0-9, - and _, "
                "starting with a letter or digit, without __"
            )
