"""The settings, as types. Every layer may import them; only the app and the CLI load them (`load`).

Rules kept here:
1. Every value is frozen. A value out of range is refused, never clamped.
2. Every field has a docstring for the operator, with the unit, and is marked `Live` or `Restart`. A field that carries
   trust is also marked with how its values compare.
3. Constructing a `Settings` reads no file, and no environment variable except those that name the user's folders.
4. No message repeats a value.
"""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Final, Literal

import platformdirs
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from mcpguard.settings.address import host_header, is_on_loopback, network, proxy_network, split
from mcpguard.settings.call_groups import (
    Anonymous,
    ArgumentSettings,
    AskingSettings,
    Authority,
    BudgetSettings,
    CodeSettings,
    Definitions,
    Holds,
    Proxy,
    ReplySettings,
    ScreeningSettings,
)
from mcpguard.settings.fields import DefaultIs, Restart, public_values
from mcpguard.settings.group import Group
from mcpguard.settings.guard_groups import (
    LimitSettings,
    Log,
    PeopleSettings,
    RegistrySettings,
    RetentionSettings,
    SandboxSettings,
    SearchSettings,
    Telemetry,
    TlsSettings,
    base_url,
    safe_to_listen,
)
from mcpguard.settings.trust import Destination, Each, Networks
from mcpguard.settings.values import database_url, none_if_empty, nonempty_path, resolve_path

MIB: Final = 1024 * 1024


def _default_data_dir() -> Path:
    return platformdirs.user_data_path("mcpguard", appauthor=False).resolve()


class StoreSettings(Group):
    """The database."""

    url: Annotated[
        SecretStr | None,
        AfterValidator(database_url),
        DefaultIs("the SQLite file `mcpguard.db` in the data directory"),
        Restart,
    ] = None
    """Database URL, `postgresql://…` for PostgreSQL. If empty, a SQLite file in the data directory is used."""

    busy_timeout: Annotated[float, Field(gt=0, le=60), Restart] = 2.0
    """Seconds that a write waits for a database lock before it fails."""

    readers: Annotated[int, Field(ge=1, le=16), Restart] = 3
    """Number of reading connections; there is always exactly one that writes."""

    batch: Annotated[int, Field(ge=1, le=4096), Restart] = 256
    """Maximum number of jobs in one transaction."""


class Audit(Group):
    """The audit log."""

    checkpoint_records: Annotated[int, Field(ge=1, le=1_000_000), Restart] = 1000
    """Write a signed checkpoint after this many records."""

    checkpoint_seconds: Annotated[float, Field(gt=0), Restart] = 60.0
    """Write a signed checkpoint after this many seconds if there are new records."""

    key_file: Annotated[
        Path | None,
        BeforeValidator(none_if_empty),
        AfterValidator(resolve_path),
        DefaultIs("`audit.key` in the data directory"),
        Restart,
    ] = None
    """File with the Ed25519 key that signs checkpoints. If empty, `audit.key` in the data directory."""

    anchor_file: Annotated[
        Path | None,
        BeforeValidator(none_if_empty),
        AfterValidator(resolve_path),
        DefaultIs("not set"),
        Restart,
    ] = None
    """External anchor: file outside the data directory to which signed checkpoints are appended. If empty, none."""

    bodies: Annotated[Literal["keep", "digest"], Restart] = "keep"
    """Arguments, responses and server requests: `keep` them with masked secrets, or only size and keyed `digest`."""

    body_bytes: Annotated[int, Field(ge=1024, le=16 * MIB), Restart] = 64 * 1024
    """Maximum size of a body that is kept, in bytes; of larger ones only size and keyed digest."""

    probe_seconds: Annotated[float, Field(gt=0), Restart] = 1.0
    """Retry interval in seconds while the audit log cannot be written and calls are refused."""


class Upstreams(Group):
    """Servers that mcpguard protects, and the connections to them."""

    connect_seconds: Annotated[float, Field(gt=0, le=600), Restart] = 60.0
    """Time limit for a server to start, negotiate the protocol and list its capabilities, in seconds."""

    install_seconds: Annotated[float, Field(gt=0, le=500), Restart] = 180.0
    """Time limit for installing the package of a server during inspection, in seconds."""

    probe_seconds: Annotated[float, Field(gt=0, le=60), Restart] = 5.0
    """Seconds to wait for an answer in the newest protocol revision before the older handshake is tried."""

    call_seconds: Annotated[float, Field(gt=0, le=86_400), Restart] = 300.0
    """Time limit of a call in seconds; `timeout` of a server overrides it."""

    health_seconds: Annotated[float, Field(gt=0, le=3600), Restart] = 30.0
    """Interval between health checks of an idle server in seconds."""

    health_timeout: Annotated[float, Field(gt=0, le=600), Restart] = 10.0
    """Time limit of a health check in seconds; after it the server is reconnected."""

    retry_seconds: Annotated[float, Field(gt=0, le=600), Restart] = 1.0
    """Seconds before the first retry of a failed connection; each further delay is twice as long."""

    retry_most_seconds: Annotated[float, Field(gt=0, le=3600), Restart] = 60.0
    """Maximum delay between retries in seconds; a connection that lasted as long starts with short delays again."""

    settle_seconds: Annotated[float, Field(ge=0, le=60), Restart] = 5.0
    """Seconds after the start that lists and `/readyz` wait for servers that connect for the first time."""

    concurrency: Annotated[int, Field(ge=1, le=1024), Restart] = 32
    """Concurrent calls per server; further ones are queued."""

    queue: Annotated[int, Field(ge=0, le=65_536), Restart] = 256
    """Maximum number of queued calls per server; further ones are refused."""

    message_bytes: Annotated[int, Field(ge=1024, le=256 * MIB), Restart] = 16 * MIB
    """Maximum size of a message of a server in bytes; a larger one ends the call or connection that it belongs to."""

    list_pages: Annotated[int, Field(ge=1, le=10_000), Restart] = 100
    """Maximum number of pages in a list of a server; a longer list is refused completely."""

    list_entries: Annotated[int, Field(ge=1, le=100_000), Restart] = 5000
    """Maximum number of entries in a list of a server; a longer list is refused completely."""

    log_bytes: Annotated[int, Field(ge=4096, le=1024 * MIB), Restart] = MIB
    """Size in bytes at which the log of a server's standard error is rotated; one older file is kept."""

    networks: Annotated[tuple[Annotated[str, AfterValidator(network)], ...], Networks, Restart] = ()
    """Networks besides the public internet that server URLs and package registries may point to: `127.0.0.0/8`."""

    secret_folders: Annotated[tuple[str, ...], Each, Restart] = ()
    """Folders whose files `${file:…}` may refer to in the configuration of a server."""


class Settings(Group):
    """The configuration of mcpguard."""

    tls: TlsSettings = Field(default_factory=TlsSettings)
    """TLS of the network listener."""

    proxies: Annotated[tuple[Annotated[str, AfterValidator(proxy_network)], ...], Networks, Restart] = ()
    """Networks of the reverse proxies before it, whose `X-Forwarded-For` or `Forwarded` is believed: `10.0.0.5/32`."""

    listen: Annotated[str, AfterValidator(safe_to_listen), Restart] = "127.0.0.1:8080"
    """Address as `host:port`, IPv6 in brackets; port 0 is any free one. Loopback only without `tls` or `proxies`."""

    hosts: Annotated[tuple[Annotated[str, AfterValidator(host_header)], ...], Each, Restart] = ()
    """Further accepted `Host` headers, as `host` or `host:port`, with `https://` where a proxy terminates TLS."""

    public_url: Annotated[
        str | None, BeforeValidator(none_if_empty), AfterValidator(base_url), Destination, DefaultIs("its own"), Restart
    ] = None
    """Address under which people and agents reach the guard, for links and the registry: `https://guard.example`."""

    data_dir: Annotated[
        Path,
        BeforeValidator(nonempty_path),
        AfterValidator(resolve_path),
        DefaultIs("the user's data folder for mcpguard (on Linux `~/.local/share/mcpguard`)"),
        Restart,
    ] = Field(default_factory=_default_data_dir)
    """Directory for database, keys and sockets. A relative path starts at the working directory."""

    separator: Annotated[Literal["::", "__", "."], Restart] = "::"
    """Separator between server and name on the direct face; some models accept no colons. All work in calls."""

    merged_instructions: Annotated[bool, Restart] = False
    """Whether the direct face sends clients the approved instructions of all servers, each with the server's name."""

    upstreams: Upstreams = Field(default_factory=Upstreams)
    """Servers that mcpguard protects, and the connections to them."""

    sandbox: SandboxSettings = Field(default_factory=SandboxSettings)
    """Resource limits of a sandboxed server with all its child processes."""

    asking: AskingSettings = Field(default_factory=AskingSettings)
    """Requests of servers to clients while they work on a call: roots, sampling, elicitation."""

    arguments: ArgumentSettings = Field(default_factory=ArgumentSettings)
    """Limits for the arguments of calls."""

    replies: ReplySettings = Field(default_factory=ReplySettings)
    """Limits for responses of servers, and how much of one an agent gets at once."""

    screening: ScreeningSettings = Field(default_factory=ScreeningSettings)
    """Scanning of responses, messages and requests of servers for prompt injection and secrets."""

    budgets: BudgetSettings = Field(default_factory=BudgetSettings)
    """Rate limits per caller. 0 is unlimited. Refused calls do not count."""

    holds: Holds = Field(default_factory=Holds)
    """Calls that are held for approval, one by one. Only calls that are named here are held."""

    code: CodeSettings = Field(default_factory=CodeSettings)
    """Programs of agents that make many calls in one (`code_execution`)."""

    proxy: Proxy = Field(default_factory=Proxy)
    """The tool with which programs list, describe and call all others, on the guard face."""

    definitions: Definitions = Field(default_factory=Definitions)
    """Definitions of capabilities: how long a listing is valid, and how many old versions are kept."""

    anonymous: Anonymous = Field(default_factory=Anonymous)
    """Access for agents on this host without a token."""

    authority: Authority = Field(default_factory=Authority)
    """Who may loosen protection."""

    people: PeopleSettings = Field(default_factory=PeopleSettings)
    """Sessions of users."""

    store: StoreSettings = Field(default_factory=StoreSettings)
    """The database."""

    audit: Audit = Field(default_factory=Audit)
    """The audit log."""

    retention: RetentionSettings = Field(default_factory=RetentionSettings)
    """Retention of the audit log. Nothing is removed unless a limit is set here or a user asks for it."""

    log: Log = Field(default_factory=Log)
    """The program's own log on standard error; not the audit log."""

    telemetry: Telemetry = Field(default_factory=Telemetry)
    """Tracing of calls. Spans name servers, capabilities and ids; they contain no arguments, responses or tokens."""

    registry: RegistrySettings = Field(default_factory=RegistrySettings)
    """The approved servers, in the form of the MCP registry's API, at `/registry`."""

    search: SearchSettings = Field(default_factory=SearchSettings)
    """How agents find tools."""

    limits: LimitSettings = Field(default_factory=LimitSettings)
    """Limits for connections, sessions and messages."""

    @property
    def is_on_loopback(self) -> bool:
        """Whether only this host reaches the guard."""
        return is_on_loopback(self.listen)

    @property
    def address(self) -> tuple[str, int]:
        """The host, without brackets, and the port to listen on."""
        return split(self.listen)

    @property
    def version(self) -> str:
        """A short digest of all values, with secrets as set or not set; audit records contain it. Not cached."""
        values = json.dumps(public_values(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(values.encode()).hexdigest()[:16]
