"""How the guard is, as values that pages and commands print."""

from dataclasses import dataclass

from mcpguard.domain.reasons import Reason


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether calls can be taken now. `cause` is for the operator and may name files."""

    ready: bool
    reason: Reason | None = None
    since: int | None = None
    cause: str = ""


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """Where the ledger stands. `refused` counts the records that it could not take since it cannot write."""

    chain: str
    records: int
    hash: str
    signed_to: int
    signed_at: int | None
    key: str
    open_entries: int
    refused: int


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """Whether servers can be confined on this machine: why not, or what bounds them then, in sentences."""

    works: bool
    why: str
    in_force: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server and the connection to it. Times are microseconds in UTC; `error` is for the operator.

    `fingerprint` is that of its launch, `sandbox` the profile it runs with, empty if we do not start it. `waiting`: how
    many of its capabilities wait for a person. `risk` is the highest of its launch, its instructions and what it lists,
    `found` how many findings there are in all of them.
    """

    name: str
    transport: str
    standing: str
    enabled: bool
    origin: str
    requester: str
    revision: int
    fingerprint: str
    sandbox: str
    waiting: int
    risk: int
    flagged: bool
    found: int
    state: str
    since: int
    error: str
    next_try: int | None
    protocol: str
    server: str
    tools: int
    resources: int
    templates: int
    prompts: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """What an operator wants to know first. Times are microseconds in UTC.

    `unconfirmed`: settings whose value waits to be confirmed. `held`: how many calls wait for a person.
    """

    version: str
    process: int
    started_at: int
    now: int
    data_dir: str
    database: str
    schema: str
    settings: str
    unconfirmed: tuple[str, ...]
    held: int
    ready: Readiness
    sandbox: SandboxStatus
    ledger: LedgerStatus
    servers: tuple[ServerStatus, ...]
