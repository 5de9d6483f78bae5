"""The status of the guard, as values that pages, the API and commands show."""

from dataclasses import dataclass
from typing import Protocol, Self

from mcpguard.domain.reasons import Reason
from mcpguard.ledger.anchoring import Anchoring


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether calls can be taken now. `cause` is for the operator and may name files."""

    ready: bool
    reason: Reason | None = None
    since: int | None = None
    cause: str = ""


@dataclass(frozen=True, slots=True)
class AnchorStatus:
    """The external anchor file: up to which record it has checkpoints. `trouble` says what is wrong with it,
    `rolled_back` what it showed to be wrong with the store at the start; both are empty where nothing is. For the
    operator only."""

    file: str
    to: int
    failing: bool
    trouble: str
    rolled_back: str

    @classmethod
    def from_anchoring(cls, anchoring: Anchoring) -> Self:
        trouble, back = anchoring.trouble, anchoring.rolled_back
        return cls(str(anchoring.path), anchoring.anchored, bool(trouble), trouble, str(back) if back else "")


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """The state of the audit log. `refused` counts the records that were refused since it cannot be written. `anchors`:
    null where no anchor file is configured."""

    chain: str
    records: int
    hash: str
    signed_to: int
    signed_at: int | None
    key: str
    open_entries: int
    refused: int
    anchors: AnchorStatus | None


class TlsStatus(Protocol):
    """The certificate of the network listener: how many days it is valid, and why a newer one is not used, if so."""

    @property
    def days_left(self) -> float: ...

    @property
    def trouble(self) -> str: ...


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """Whether servers can be sandboxed on this host: why not, or which limits apply, in sentences."""

    works: bool
    why: str
    in_force: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InspectionStatus:
    """How the last inspection of a server failed. `at`: when, in microseconds of UTC; `by`: who asked for it; `error`:
    what went wrong; `started`: whether anything of the server may have run, or was contacted."""

    at: int
    by: str
    error: str
    started: bool


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server and the connection to it. Times are microseconds in UTC; `error` is for the operator.

    `fingerprint` is that of its launch, `sandbox` the profile it runs with, empty if we do not start it. `waiting`: how
    many of its capabilities wait for a person; `present`: how many it lists, `approved_now`: how many of these are
    listed as a person approved them, whether it runs or not. `unread`: how much is approved, the server itself
    counted, with grave findings that nobody confirmed reading. `inspected`: whether anybody knows what it lists;
    `inspecting`: since when it is being inspected, `inspection_stage`: how far that has come. `risk` is the highest of
    its launch, its instructions and what it lists, `found` how many findings there are in all, `grave` how many of
    these are grave. `tools` and so on count what agents can find now.
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
    present: int
    approved_now: int
    unread: int
    inspected: bool
    inspecting: int | None
    inspection_stage: str | None
    failed_inspection: InspectionStatus | None
    risk: int
    flagged: bool
    found: int
    grave: int
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
    """The overview of the guard. Times are microseconds in UTC.

    `console`: where its pages are. `unconfirmed`: settings whose value waits to be confirmed. `held`: how many calls
    wait for a person.
    """

    version: str
    process: int
    started_at: int
    now: int
    console: str
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
