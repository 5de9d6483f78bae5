"""Settings of the guard itself: how much it accepts, keeps and lets a server use, and where spans go."""

import re
from math import ceil
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from mcpguard.settings.fields import DefaultIs, Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import AtLeast, Destination, at_most
from mcpguard.settings.values import none_if_empty

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


LEAST: Final = 60
_DAY: Final = 86_400


class PeopleSettings(Group):
    """The people who sign in, and for how long they are."""

    idle_seconds: Annotated[int, Field(ge=LEAST, le=30 * _DAY), at_most(LEAST), Restart] = 43_200
    """Seconds without a request after which a session ends."""

    session_seconds: Annotated[int, Field(ge=LEAST, le=30 * _DAY), at_most(LEAST), Restart] = 604_800
    """Seconds after which a session ends, whatever is done in it."""

    recent_seconds: Annotated[int, Field(ge=LEAST, le=_DAY), at_most(LEAST), Restart] = 900
    """Seconds after somebody gave their password for which they may let more happen than before."""


_DAYS: Final = 36_500
EVERYTHING: Final = DefaultIs("nothing is pruned because of it")
Optional = BeforeValidator(none_if_empty)


class RetentionSettings(Group):
    """How much of the audit log is kept. Nothing is ever removed unless it is set here, or a person asks for it."""

    record_days: Annotated[int | None, Field(ge=1, le=_DAYS), Optional, EVERYTHING, AtLeast, Restart] = None
    """Days after which records are pruned, with their bodies."""

    records: Annotated[int | None, Field(ge=1, le=10**12), Optional, EVERYTHING, AtLeast, Restart] = None
    """Most records that are kept; the oldest are pruned."""

    database_bytes: Annotated[int | None, Field(ge=16 * _MIB, le=2**50), Optional, EVERYTHING, AtLeast, Restart] = None
    """Bytes that the database may take; the oldest records are pruned until it takes less, or none may go any more."""

    body_days: Annotated[int | None, Field(ge=1, le=_DAYS), Optional, EVERYTHING, AtLeast, Restart] = None
    """Days after which arguments, replies and questions are pruned while their records stay."""

    every_seconds: Annotated[float, Field(ge=1, le=86_400), Restart] = 3600.0
    """Seconds between two looks at what may be pruned."""


class SandboxSettings(Group):
    """How much a server that runs confined may use, with all that it starts."""

    processes: Annotated[int, Field(ge=8, le=65_536), at_most(8), Restart] = 256
    """Most processes and threads."""

    memory_bytes: Annotated[int, Field(ge=16 * _MIB, le=1024 * 1024 * _MIB), at_most(16 * _MIB), Restart] = 1024 * _MIB
    """Most memory in bytes, of each process and of all of them together; what takes more is killed."""

    scratch_bytes: Annotated[int, Field(ge=_MIB, le=1024 * 1024 * _MIB), at_most(_MIB), Restart] = 64 * _MIB
    """Most bytes in its home and `/tmp`, which are in memory and empty at each start."""

    file_bytes: Annotated[int, Field(ge=_MIB, le=1024 * 1024 * _MIB), at_most(_MIB), Restart] = 256 * _MIB
    """Largest file in bytes that it may write."""

    open_files: Annotated[int, Field(ge=32, le=1_048_576), at_most(32), Restart] = 1024
    """Most files that each process may have open."""


LONGEST: Final = 2048
_URL: Final = re.compile(r"https?://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?(?:/[!-~]*)?")


def _endpoint(url: str | None) -> str | None:
    """A URL that holds no secret and can be read in one way."""
    if url is None:
        return None
    if len(url) > LONGEST or not _URL.fullmatch(url) or set(url) & {"?", "#", "@", "\\"}:
        raise ValueError("must be a URL such as http://127.0.0.1:4318/v1/traces, without user, query or fragment")
    return url


class Telemetry(Group):
    """Where spans of calls go. They name servers, capabilities and ids, and hold no arguments, replies or tokens."""

    otlp_endpoint: Annotated[
        str | None, BeforeValidator(none_if_empty), AfterValidator(_endpoint), Destination, Restart
    ] = None
    """URL to which spans are sent by OTLP over HTTP. Left out or empty, none are made; needs the extra `otel`."""

    sampled: Annotated[float, Field(ge=0, le=1), Restart] = 1.0
    """Share of the calls of which spans are sent, from 0 to 1. What a client says of its own trace changes nothing."""
