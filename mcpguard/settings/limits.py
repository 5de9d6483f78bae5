"""How much is accepted, for how long, and how the places that there are are shared out."""

from math import ceil
from typing import Annotated, Final

from pydantic import Field

from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group

_MIB: Final = 1024 * 1024


class LimitSettings(Group):
    """How much is accepted, and for how long."""

    body_bytes: Annotated[int, Field(ge=1024, le=1024 * _MIB), Restart] = 4 * _MIB
    """Largest HTTP request body in bytes; a larger one is refused before it is read to its end."""

    stop_seconds: Annotated[float, Field(ge=1, le=10), Restart] = 10.0
    """Seconds that stopping may take in all; what has not ended by then is ended."""

    head_seconds: Annotated[float, Field(gt=0, le=60), Restart] = 10.0
    """Seconds in which the head of a request must have come whole; its connection is closed otherwise."""

    connections: Annotated[int, Field(ge=1, le=65_536), Restart] = 1000
    """Most network connections open at once; further ones are refused."""

    caller_share: Annotated[float, Field(gt=0, le=1), Restart] = 0.3
    """Part of `limits.connections` that requests of one caller under way may take, and its streams on this machine."""

    reserved: Annotated[float, Field(gt=0, le=0.9), Restart] = 0.1
    """Part of `limits.connections` that agents never take: it is left for people, programs, metrics and health."""

    sessions: Annotated[int, Field(ge=1, le=1_000_000), Restart] = 10_000
    """Most sessions of agents at once; beyond it those end that were idle for longest, of the caller that has most."""

    session_seconds: Annotated[float, Field(gt=0), Restart] = 3600.0
    """Seconds after which an idle session of an agent ends."""

    depth: Annotated[int, Field(ge=8, le=200), Restart] = 64
    """Deepest nesting of a message; deeper ones are refused."""

    values: Annotated[int, Field(ge=1000, le=10_000_000), Restart] = 100_000
    """Most values (texts, numbers, lists, objects) in one message of an agent; what holds more is refused unread."""

    client_calls: Annotated[int, Field(ge=1, le=10_000), Restart] = 64
    """Requests that one session or stream of an agent may have in progress; further ones are refused."""

    subscriptions: Annotated[int, Field(ge=1, le=1000), Restart] = 100
    """Resources that one session, stream or listen of an agent may be subscribed to; further ones are refused."""

    page: Annotated[int, Field(ge=1, le=100_000), Restart] = 1000
    """Most entries of a list that are given at once; the rest follows with a cursor."""

    @property
    def reserve(self) -> int:
        """Connections that requests of agents never take."""
        return max(1, ceil(self.connections * self.reserved))

    @property
    def of_agents(self) -> int:
        """Requests of all agents together that may be under way."""
        return max(1, self.connections - self.reserve)

    @property
    def of_caller(self) -> int:
        """Requests of one caller that may be under way, and streams of it that may be open."""
        return max(1, int(self.connections * self.caller_share))

    @property
    def of_people(self) -> int:
        """Requests of all people and programs together: some of the reserve is left for health and for signing in."""
        return max(16, self.reserve * 3 // 4)

    @property
    def of_person(self) -> int:
        """Requests of one person, or of one program that acts for people."""
        return max(8, self.reserve // 4)
