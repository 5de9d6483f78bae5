"""The state of the connection to a server; `standing` determines whether the server may be used."""

from dataclasses import dataclass
from enum import StrEnum


class ConnectionState(StrEnum):
    """The states of a connection. `starting` is the first attempt, `connecting` every later one."""

    DISCONNECTED = "disconnected"
    STARTING = "starting"
    CONNECTING = "connecting"
    AUTHENTICATING = "authenticating"
    READY = "ready"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of a connection, since when (UTC, microseconds), and the last error."""

    state: ConnectionState
    since: int
    error: str = ""
    next_try: int | None = None
    protocol: str = ""
    server: str = ""
    attempts: int = 0
