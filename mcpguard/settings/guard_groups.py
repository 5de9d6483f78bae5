"""Settings of the guard itself: limits, sessions, retention, the sandbox, and telemetry."""

import re
from math import ceil
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from mcpguard.settings.address import is_on_loopback, listen_address
from mcpguard.settings.fields import DefaultIs, Live, Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import AtLeast, Destination, Off, lower_is_stricter
from mcpguard.settings.values import absolute_path, none_if_empty

_MIB: Final = 1024 * 1024


RenewedFile = Annotated[Path | None, BeforeValidator(none_if_empty), AfterValidator(absolute_path)]
"""A file that is read again, and may be a link to another one by then."""


class TlsSettings(Group):
    """TLS of the network listener."""

    certificate: Annotated[
        RenewedFile,
        DefaultIs("not set"),
        Restart,
    ] = None
    """File with the certificate and its chain, in PEM: the guard speaks TLS, and may listen on any address."""

    key: Annotated[
        RenewedFile,
        DefaultIs("not set"),
        Restart,
    ] = None
    """File with the private key, in PEM, not encrypted; if empty, that of the certificate. Read again on changes."""

    client_ca: Annotated[
        RenewedFile,
        DefaultIs("not set"),
        Restart,
    ] = None
    """File with the authorities, in PEM, whose client certificates may name callers; if empty, none is asked for."""


def safe_to_listen(address: str, info: ValidationInfo) -> str:
    """Return an address if the guard may listen there. Raises ValueError."""
    tls, proxies = info.data.get("tls"), info.data.get("proxies")  # missing where one is wrong itself, which is told
    is_open = tls is not None and tls.certificate is None and proxies == ()
    if not is_on_loopback(listen_address(address)) and is_open:
        raise ValueError(
            "must be on loopback (127.0.0.0/8, [::1] or localhost) without TLS: on other addresses tokens would cross"
            " the network unencrypted; set tls.certificate and tls.key, or name the proxies before it (proxies)"
        )
    return address


class RegistrySettings(Group):
    """The approved servers, in the form of the MCP registry's API, at `/registry`."""

    enabled: Annotated[bool, Restart] = False
    """Whether programs with a token can list the approved servers at `/registry/v0.1/servers`."""

    public: Annotated[bool, Off, Restart] = False
    """Whether they can do so without a token. Whoever reaches the guard sees the names of servers and tools then."""


class SearchSettings(Group):
    """How agents find tools."""

    semantic: Annotated[bool, Restart] = False
    """Whether tools that match by their words are also ranked by meaning; needs the extra `semantic` and memory."""

    learn: Annotated[bool, Restart] = True
    """Whether tools are found more often for words of earlier searches after which they were called."""


class LimitSettings(Group):
    """Limits for connections, sessions and messages."""

    body_bytes: Annotated[int, Field(ge=1024, le=1024 * _MIB), Restart] = 4 * _MIB
    """Maximum size of an HTTP request body in bytes; a larger one is refused before it is read completely."""

    stop_seconds: Annotated[float, Field(ge=1, le=10), Restart] = 10.0
    """Time limit for shutdown in seconds; what still runs then is killed."""

    head_seconds: Annotated[float, Field(gt=0, le=60), Restart] = 10.0
    """Time limit for receiving the head of a request in seconds; the connection is closed after it."""

    connections: Annotated[int, Field(ge=1, le=65_536), Restart] = 1000
    """Maximum number of open network connections; further ones are refused."""

    caller_share: Annotated[float, Field(gt=0, le=1), Restart] = 0.3
    """Share of `limits.connections` for requests in progress of one caller, and for its streams on this host."""

    reserved: Annotated[float, Field(gt=0, le=0.9), Restart] = 0.1
    """Share of `limits.connections` that is reserved for users, programs, metrics and health checks."""

    sessions: Annotated[int, Field(ge=1, le=1_000_000), Restart] = 10_000
    """Maximum number of agent sessions; beyond it, the longest idle one of the caller with the most ends."""

    session_seconds: Annotated[float, Field(gt=0), Restart] = 3600.0
    """Idle timeout of agent sessions in seconds."""

    depth: Annotated[int, Field(ge=8, le=200), Restart] = 64
    """Maximum nesting depth of a message; deeper ones are refused."""

    values: Annotated[int, Field(ge=1000, le=10_000_000), Restart] = 100_000
    """Maximum number of values (strings, numbers, lists, objects) in a message of an agent; others are refused."""

    client_calls: Annotated[int, Field(ge=1, le=10_000), Restart] = 64
    """Maximum number of requests in progress per session or stream of an agent; further ones are refused."""

    subscriptions: Annotated[int, Field(ge=1, le=1000), Restart] = 100
    """Maximum number of subscriptions per session, stream or listen of an agent; further ones are refused."""

    page: Annotated[int, Field(ge=1, le=100_000), Restart] = 1000
    """Maximum number of list entries per page; a cursor leads to the next page."""

    @property
    def reserve(self) -> int:
        """The connections that are reserved from agents."""
        return max(1, ceil(self.connections * self.reserved))

    @property
    def of_agents(self) -> int:
        """The limit of requests in progress of all agents together."""
        return max(1, self.connections - self.reserve)

    @property
    def of_caller(self) -> int:
        """The limit of requests in progress of one caller, and of its open streams."""
        return max(1, int(self.connections * self.caller_share))

    @property
    def of_people(self) -> int:
        """The limit of requests of all users and programs; the rest of the reserve is for health checks and sign-in."""
        return max(16, self.reserve * 3 // 4)

    @property
    def of_person(self) -> int:
        """The limit of requests of one user, or of one program that acts for users."""
        return max(8, self.reserve // 4)


LEAST: Final = 60
_DAY: Final = 86_400


class PeopleSettings(Group):
    """Sessions of users."""

    idle_seconds: Annotated[int, Field(ge=LEAST, le=30 * _DAY), lower_is_stricter(LEAST), Restart] = 43_200
    """Idle timeout of a session in seconds."""

    session_seconds: Annotated[int, Field(ge=LEAST, le=30 * _DAY), lower_is_stricter(LEAST), Restart] = 604_800
    """Maximum duration of a session in seconds, even if it is in use."""

    recent_seconds: Annotated[int, Field(ge=LEAST, le=_DAY), lower_is_stricter(LEAST), Restart] = 900
    """Seconds after a user gave their password in which they may loosen protection."""


_DAYS: Final = 36_500
EVERYTHING: Final = DefaultIs("no limit")
Optional = BeforeValidator(none_if_empty)


class RetentionSettings(Group):
    """Retention of the audit log. Nothing is removed unless a limit is set here or a user asks for it."""

    record_days: Annotated[int | None, Field(ge=1, le=_DAYS), Optional, EVERYTHING, AtLeast, Restart] = None
    """Days after which records and their bodies are pruned."""

    records: Annotated[int | None, Field(ge=1, le=10**12), Optional, EVERYTHING, AtLeast, Restart] = None
    """Maximum number of records; the oldest are pruned."""

    database_bytes: Annotated[int | None, Field(ge=16 * _MIB, le=2**50), Optional, EVERYTHING, AtLeast, Restart] = None
    """Maximum size of the database in bytes; the oldest records are pruned to stay below it."""

    body_days: Annotated[int | None, Field(ge=1, le=_DAYS), Optional, EVERYTHING, AtLeast, Restart] = None
    """Days after which arguments, responses and server requests are pruned; their records stay."""

    every_seconds: Annotated[float, Field(ge=1, le=86_400), Restart] = 3600.0
    """Interval between two pruning runs in seconds."""


class SandboxSettings(Group):
    """Resource limits of a sandboxed server with all its child processes."""

    processes: Annotated[int, Field(ge=8, le=65_536), lower_is_stricter(8), Restart] = 256
    """Maximum number of processes and threads."""

    memory_bytes: Annotated[int, Field(ge=16 * _MIB, le=1024 * 1024 * _MIB), lower_is_stricter(16 * _MIB), Restart] = (
        1024 * _MIB
    )
    """Maximum memory in bytes, for each process and for all together; a process that exceeds it is killed."""

    scratch_bytes: Annotated[int, Field(ge=_MIB, le=1024 * 1024 * _MIB), lower_is_stricter(_MIB), Restart] = 64 * _MIB
    """Maximum size in bytes of its home folder and `/tmp`, which are in memory and empty at each start."""

    file_bytes: Annotated[int, Field(ge=_MIB, le=1024 * 1024 * _MIB), lower_is_stricter(_MIB), Restart] = 256 * _MIB
    """Maximum size of a file that it writes, in bytes."""

    open_files: Annotated[int, Field(ge=32, le=1_048_576), lower_is_stricter(32), Restart] = 1024
    """Maximum number of open files per process."""


class Log(Group):
    """The program's own log on standard error; not the audit log."""

    level: Annotated[Literal["auto", "debug", "info", "warning", "error"], Live] = "auto"
    """Minimum severity; `auto` is `warning` on a terminal and `info`, with every request, elsewhere."""

    format: Annotated[Literal["auto", "console", "json"], Restart] = "auto"
    """Format of log lines; `auto` is `console` on a terminal and `json` elsewhere."""


LONGEST: Final = 2048
_URL: Final = re.compile(r"https?://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?(?:/[!-~]*)?")


def base_url(url: str | None) -> str | None:
    """Check that a URL is a scheme and a host, with nothing after it."""
    found = None if url is None else _URL.fullmatch(url.removesuffix("/"))
    if url is None:
        return None
    if found is None or url.removesuffix("/").count("/") != 2:
        raise ValueError("must be a URL such as https://guard.example, without path, user, query or fragment")
    return url.removesuffix("/")


def _endpoint(url: str | None) -> str | None:
    """Check that a URL contains no secret and is unambiguous."""
    if url is None:
        return None
    if len(url) > LONGEST or not _URL.fullmatch(url) or set(url) & {"?", "#", "@", "\\"}:
        raise ValueError("must be a URL such as http://127.0.0.1:4318/v1/traces, without user, query or fragment")
    return url


class Telemetry(Group):
    """Tracing of calls. Spans name servers, capabilities and ids; they contain no arguments, responses or tokens."""

    otlp_endpoint: Annotated[
        str | None, BeforeValidator(none_if_empty), AfterValidator(_endpoint), Destination, Restart
    ] = None
    """OTLP/HTTP endpoint for spans; needs the extra `otel`. If empty, no spans are made."""

    sampled: Annotated[float, Field(ge=0, le=1), Restart] = 1.0
    """Share of calls that are traced, from 0 to 1. The sampling decision of a client is ignored."""
