"""The settings, as types. Everyone may import them; only the app and the CLI load them (`load`).

Rules kept here: every value is frozen; every field has a docstring for the operator, with the unit, and is marked
`Live` or `Restart`, and with how its values compare where it carries trust; what is out of range is refused, never
clamped. Making a `Settings` reads no file and no environment variable but those that say where the user's folders are.
No message here repeats a value.
"""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Final, Literal

import platformdirs
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from mcpguard.settings.address import host_header, loopback, network, split
from mcpguard.settings.call_groups import (
    Anonymous,
    ArgumentSettings,
    Authority,
    BudgetSettings,
    Definitions,
    Holds,
    Proxy,
    ReplySettings,
    ScreeningSettings,
)
from mcpguard.settings.fields import DefaultIs, Live, Restart, public
from mcpguard.settings.group import Group
from mcpguard.settings.guard_groups import LimitSettings, PeopleSettings, RetentionSettings, SandboxSettings, Telemetry
from mcpguard.settings.trust import Each, Networks
from mcpguard.settings.values import database_url, named, none_if_empty, resolved

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
    """Database URL, `postgresql://…` for PostgreSQL. Left out or empty, a SQLite file in the data directory is used."""

    busy_timeout: Annotated[float, Field(gt=0, le=60), Restart] = 2.0
    """Seconds a write waits for a lock that somebody else holds on the database before it fails."""

    readers: Annotated[int, Field(ge=1, le=16), Restart] = 3
    """Number of connections that read at the same time; there is always exactly one that writes."""

    batch: Annotated[int, Field(ge=1, le=4096), Restart] = 256
    """Most jobs that are written in one transaction."""


class Audit(Group):
    """The audit log."""

    checkpoint_records: Annotated[int, Field(ge=1, le=1_000_000), Restart] = 1000
    """Number of records after which a signed checkpoint is written."""

    checkpoint_seconds: Annotated[float, Field(gt=0), Restart] = 60.0
    """Seconds after which a signed checkpoint is written if there are new records, however few."""

    key_file: Annotated[
        Path | None,
        BeforeValidator(none_if_empty),
        AfterValidator(resolved),
        DefaultIs("`audit.key` in the data directory"),
        Restart,
    ] = None
    """File with the Ed25519 key that signs checkpoints. Left out or empty, it is `audit.key` in the data directory."""

    anchor_file: Annotated[
        Path | None,
        BeforeValidator(none_if_empty),
        AfterValidator(resolved),
        DefaultIs("not set"),
        Restart,
    ] = None
    """File outside the data directory that each signed checkpoint is appended to. Left out or empty, there is none."""

    bodies: Annotated[Literal["keep", "digest"], Restart] = "keep"
    """Whether arguments, replies and questions are kept, their secrets masked; `digest`: only size and keyed digest."""

    body_bytes: Annotated[int, Field(ge=1024, le=16 * MIB), Restart] = 64 * 1024
    """Largest of them in bytes that is kept; of a larger one only size and keyed digest."""

    probe_seconds: Annotated[float, Field(gt=0), Restart] = 1.0
    """Seconds between two attempts to write again while the audit log cannot be written and calls are refused."""


class Log(Group):
    """The program's own log, on standard error. It is not the audit log."""

    level: Annotated[Literal["auto", "debug", "info", "warning", "error"], Live] = "auto"
    """Least severity that is logged; `auto` is `warning` on a terminal and `info`, with every request, elsewhere."""

    format: Annotated[Literal["auto", "console", "json"], Restart] = "auto"
    """Form of the log lines; `auto` is `console` on a terminal and `json` elsewhere."""


class Upstreams(Group):
    """The servers that the guard stands in front of, and the connections to them."""

    connect_seconds: Annotated[float, Field(gt=0, le=600), Restart] = 60.0
    """Seconds in which a server must have started, agreed on a protocol and listed what it offers."""

    install_seconds: Annotated[float, Field(gt=0, le=500), Restart] = 180.0
    """Seconds in which the package of a server must be installed, when it is inspected."""

    probe_seconds: Annotated[float, Field(gt=0, le=60), Restart] = 5.0
    """Seconds a server has to answer in the newest revision of the protocol before the older handshake is tried."""

    call_seconds: Annotated[float, Field(gt=0, le=86_400), Restart] = 300.0
    """Seconds a call may take, unless the server's own `timeout` says otherwise."""

    health_seconds: Annotated[float, Field(gt=0, le=3600), Restart] = 30.0
    """Seconds between two signs of life that are asked of a server which has nothing to do."""

    health_timeout: Annotated[float, Field(gt=0, le=600), Restart] = 10.0
    """Seconds in which a sign of life must come; the connection is made anew otherwise."""

    retry_seconds: Annotated[float, Field(gt=0, le=600), Restart] = 1.0
    """Seconds before the first new attempt after a connection failed; each further pause is twice as long."""

    retry_most_seconds: Annotated[float, Field(gt=0, le=3600), Restart] = 60.0
    """Longest pause in seconds; a connection that held for as long begins with short pauses again."""

    settle_seconds: Annotated[float, Field(ge=0, le=60), Restart] = 5.0
    """Seconds after the start for which lists and `/readyz` wait for servers that connect for the first time."""

    concurrency: Annotated[int, Field(ge=1, le=1024), Restart] = 32
    """Calls that one server works on at once; further ones wait."""

    queue: Annotated[int, Field(ge=0, le=65_536), Restart] = 256
    """Calls that may wait for one server; further ones are refused."""

    message_bytes: Annotated[int, Field(ge=1024, le=256 * MIB), Restart] = 16 * MIB
    """Largest message in bytes that is taken from a server; a larger one ends what it belongs to."""

    list_pages: Annotated[int, Field(ge=1, le=10_000), Restart] = 100
    """Most pages of one list that are read from a server; a longer list is refused whole."""

    list_entries: Annotated[int, Field(ge=1, le=100_000), Restart] = 5000
    """Most entries of one list that are read from a server; a longer list is refused whole."""

    log_bytes: Annotated[int, Field(ge=4096, le=1024 * MIB), Restart] = MIB
    """Size in bytes at which the log of a server's standard error is begun anew; one older file is kept."""

    networks: Annotated[tuple[Annotated[str, AfterValidator(network)], ...], Networks, Restart] = ()
    """Networks besides the public internet that servers' URLs and package registries may lead to: `127.0.0.0/8`."""

    secret_folders: Annotated[tuple[str, ...], Each, Restart] = ()
    """Folders whose files `${file:…}` may name in the environment and the headers of a server."""


class AskingSettings(Group):
    """What servers may ask of the clients whose calls they are working on: roots, sampling, elicitation."""

    answer_seconds: Annotated[float, Field(gt=0, le=86_400), Restart] = 300.0
    """Seconds a client has to answer; they do not count as time of the call."""

    per_call: Annotated[int, Field(ge=1, le=1000), Restart] = 16
    """Questions that a server may ask during one call; the next one is refused."""

    question_bytes: Annotated[int, Field(ge=1024, le=256 * MIB), Restart] = MIB
    """Largest question in bytes that is passed on to a client; a larger one is refused."""

    waiting: Annotated[int, Field(ge=1, le=10_000), Restart] = 64
    """Calls of one caller that may wait for it to come back with answers; what further ones ask is refused."""


class Settings(Group):
    """The whole configuration of one guard."""

    listen: Annotated[str, AfterValidator(loopback), Restart] = "127.0.0.1:8080"
    """Address of the network listener as `host:port`, IPv6 in brackets; port 0 takes any free port. Loopback only."""

    hosts: Annotated[tuple[Annotated[str, AfterValidator(host_header)], ...], Each, Restart] = ()
    """Further `Host` headers, each exactly `host` or `host:port`, with `https://` before where a proxy speaks TLS."""

    data_dir: Annotated[
        Path,
        BeforeValidator(named),
        AfterValidator(resolved),
        DefaultIs("the user's data folder for mcpguard (on Linux `~/.local/share/mcpguard`)"),
        Restart,
    ] = Field(default_factory=_default_data_dir)
    """Directory for all that is kept: database, keys, sockets. A relative path starts at the working directory."""

    separator: Annotated[Literal["::", "__", "."], Restart] = "::"
    """What stands between server and name on the direct face; some models take no colons. All are understood."""

    merged_instructions: Annotated[bool, Restart] = False
    """Whether clients of the direct face are greeted with the approved instructions of every server, by its name."""

    upstreams: Upstreams = Field(default_factory=Upstreams)
    """The servers that the guard stands in front of, and the connections to them."""

    sandbox: SandboxSettings = Field(default_factory=SandboxSettings)
    """How much a server that runs confined may use, with all that it starts."""

    asking: AskingSettings = Field(default_factory=AskingSettings)
    """What servers may ask of the clients whose calls they are working on: roots, sampling, elicitation."""

    arguments: ArgumentSettings = Field(default_factory=ArgumentSettings)
    """What a call may carry."""

    replies: ReplySettings = Field(default_factory=ReplySettings)
    """How much a server may answer, and how much of it an agent is told at once."""

    screening: ScreeningSettings = Field(default_factory=ScreeningSettings)
    """What is looked for in what servers say, and what becomes of it."""

    budgets: BudgetSettings = Field(default_factory=BudgetSettings)
    """How many calls one caller may make. 0 is without end. Refused calls do not count."""

    holds: Holds = Field(default_factory=Holds)
    """Calls that a person must allow, one by one. Nothing is held unless it is named here."""

    proxy: Proxy = Field(default_factory=Proxy)
    """The tool through which programs list, describe and call everything else, on the guard face."""

    definitions: Definitions = Field(default_factory=Definitions)
    """What servers offer: how old what was listed last may be, and how much of what was listed before is kept."""

    anonymous: Anonymous = Field(default_factory=Anonymous)
    """What agents on this machine may do that show no token."""

    authority: Authority = Field(default_factory=Authority)
    """Who may decide what."""

    people: PeopleSettings = Field(default_factory=PeopleSettings)
    """The people who sign in, and for how long they are."""

    store: StoreSettings = Field(default_factory=StoreSettings)
    """The database."""

    audit: Audit = Field(default_factory=Audit)
    """The audit log."""

    retention: RetentionSettings = Field(default_factory=RetentionSettings)
    """How much of the audit log is kept. Nothing is ever removed unless it is set here, or a person asks for it."""

    log: Log = Field(default_factory=Log)
    """The program's own log, on standard error. It is not the audit log."""

    telemetry: Telemetry = Field(default_factory=Telemetry)
    """Where spans of calls go. They name servers, capabilities and ids, and hold no arguments, replies or tokens."""

    limits: LimitSettings = Field(default_factory=LimitSettings)
    """How much is accepted, and for how long."""

    @property
    def address(self) -> tuple[str, int]:
        """Host (without brackets) and port to listen on."""
        return split(self.listen)

    @property
    def version(self) -> str:
        """Short digest of all values, secrets only as set or not set; audit records carry it. Computed at each call."""
        values = json.dumps(public(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(values.encode()).hexdigest()[:16]
