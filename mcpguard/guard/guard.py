"""What a door is given: everything it may ask of the guard, and nothing behind it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor
from mcpguard.domain.json import SettingValue
from mcpguard.domain.reasons import Reason
from mcpguard.guard.audit.audit_log import Auditing
from mcpguard.guard.audit.exports import Exporting
from mcpguard.guard.audit.key_rotation import Rotating
from mcpguard.guard.audit.redaction import Redacting
from mcpguard.guard.audit.retention import Retention
from mcpguard.guard.audit.verification import Verifying
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.callers.grants import Granting
from mcpguard.guard.calls.explanation import explained_to
from mcpguard.guard.calls.handle import Calls
from mcpguard.guard.calls.holds_shown import Held
from mcpguard.guard.calls.judgement import Judging
from mcpguard.guard.people.first_user import SettingUp
from mcpguard.guard.people.operators import Operators
from mcpguard.guard.people.own_password import OwnPassword
from mcpguard.guard.people.people import People
from mcpguard.guard.people.sign_in import SigningIn
from mcpguard.guard.people.users import Users
from mcpguard.guard.review.admission import Admission
from mcpguard.guard.review.agent_requests import Managing
from mcpguard.guard.review.decisions import Decisions
from mcpguard.guard.review.inspection import Inspecting
from mcpguard.guard.review.server_json import Queries
from mcpguard.guard.review.server_log import Tailing
from mcpguard.guard.search.answer import found
from mcpguard.guard.search.tool_search import Searching, Wish
from mcpguard.guard.servers.servers import Servers
from mcpguard.guard.servers.status import AnchorStatus, LedgerStatus, Readiness, SandboxStatus, Status
from mcpguard.guard.traffic.counts import Counting
from mcpguard.guard.traffic.events import Events
from mcpguard.guard.traffic.tallies import Tallies
from mcpguard.guard.trust.confirmed_settings import Confirming
from mcpguard.ledger.anchoring import Anchoring
from mcpguard.ledger.ledger import Ledger
from mcpguard.store.engine.store import Store


@dataclass(frozen=True, slots=True)
class Facts:
    """What does not change while the guard runs."""

    version: str
    process: int
    started_at: int
    sandbox: SandboxStatus


@dataclass(frozen=True, slots=True)
class Review:
    """What people do with servers: bring them, look at them, decide about them."""

    admission: Admission
    decisions: Decisions
    inspecting: Inspecting
    queries: Queries


@dataclass(frozen=True, slots=True)
class Own:
    """What agents may do about servers themselves."""

    managing: Managing
    tailing: Tailing


@dataclass(frozen=True, slots=True)
class CallTraffic:
    """What is heard of calls, and what they and all that became none were counted as."""

    events: Events
    counting: Counting
    tallies: Tallies


@dataclass(frozen=True, slots=True)
class Staff:
    """Who looks after the guard: who they are, and how they come, sign in and go."""

    people: People
    users: Users
    operators: Operators
    signing_in: SigningIn
    setting_up: SettingUp
    own_password: OwnPassword


@dataclass(frozen=True, slots=True)
class LogProof:
    """What the audit log is proven by: the key, the file outside that checkpoints go to, where one is wanted, and who
    looks whether it is whole."""

    rotating: Rotating
    anchoring: Anchoring | None
    verifying: Verifying


class Guard:
    """The guard as its doors see it."""

    def __init__(
        self,
        confirming: Confirming,
        store: Store,
        ledger: Ledger,
        clock: Clock,
        facts: Facts,
        *,
        servers: Servers,
        calls: Calls,
        callers: Callers,
        granting: Granting,
        review: Review,
        own: Own,
        judging: Judging,
        held: Held,
        staff: Staff,
        heard: CallTraffic,
        proof: LogProof,
    ) -> None:
        self.settings = confirming.settings
        self.clock = clock
        self.calls = calls
        self.admission = review.admission
        self.decisions = review.decisions
        self.inspecting = review.inspecting
        self.queries = review.queries
        self.inbox = review.queries.inbox
        self.managing = own.managing
        self.tailing = own.tailing
        self.callers = callers
        self.granting = granting
        self.confirming = confirming
        self.servers = servers
        self.judging = judging
        self.held = held
        self.people = staff.people
        self.users = staff.users
        self.operators = staff.operators
        self.signing_in = staff.signing_in
        self.setting_up = staff.setting_up
        self.own_password = staff.own_password
        self.tallies = heard.tallies
        self.events = heard.events
        self.counting = heard.counting
        self.searching = Searching(servers.publisher)
        self.auditing = Auditing(store, ledger, clock)
        self.exporting = Exporting(store, ledger, clock, confirming.settings.data_dir)
        self.rotating = proof.rotating
        self.anchoring = proof.anchoring
        self.retention = Retention(store, ledger, clock, self.settings.retention)
        self.redacting = Redacting(self.retention.pruner, ledger)
        self.verifying = proof.verifying
        self._store = store
        self._ledger = ledger
        self.facts = facts

    @property
    def catalog(self) -> Catalog:
        """What may be found and called at this moment."""
        return self.servers.publisher.catalog

    def explained(self, caller: Caller, capability: Capability) -> dict[str, Any]:
        """Why this caller can use it now, or why not (`explanation`). Out of reach and not there look the same."""
        return explained_to(caller, capability, self.judging)

    def found(self, query: str, limit: int, wish: Wish, *, full: bool = False) -> dict[str, Any]:
        """The tools that fit best, for whoever reaches as far as `wish` says (`answer`)."""
        return found(query, limit, wish, self.searching, self.servers, full=full)

    async def confirm(self, seen: Mapping[str, SettingValue], by: Actor) -> tuple[str, ...]:
        """Confirm the settings that wait (`confirmed_settings`)."""
        return await self.confirming.confirm(seen, by, self._ledger, self.clock)

    def readiness(self) -> Readiness:
        """Whether calls can be taken now, and if not, why. Answers from memory, also while the ledger is down."""
        outage = self._ledger.outage
        if outage is None:
            return Readiness(ready=True)
        return Readiness(ready=False, reason=Reason.LEDGER_UNAVAILABLE, since=outage.since, cause=outage.why)

    @property
    def queued(self) -> int:
        """How much waits to be written."""
        return self._store.writer.waiting

    def status(self) -> Status:
        """What an operator wants to know first."""
        return Status(
            version=self.facts.version,
            process=self.facts.process,
            started_at=self.facts.started_at,
            now=self.clock.now(),
            console=self.setting_up.console,
            data_dir=str(self.settings.data_dir),
            database=self._store.name,
            schema=self._store.schema,
            settings=self.settings.version,
            unconfirmed=self.confirming.unconfirmed,
            held=self.held.waiting,
            ready=self.readiness(),
            sandbox=self.facts.sandbox,
            servers=self.servers.status(),
            ledger=self.depth(),
        )

    def depth(self) -> LedgerStatus:
        """Where the ledger stands."""
        chain = self._ledger.chain
        end, signed, outage = chain.acknowledged, chain.signed, self._ledger.outage
        return LedgerStatus(
            chain=chain.id,
            records=end.seq if end else 0,
            hash=end.hash.hex() if end else "",
            signed_to=signed.statement.seq if signed else 0,
            signed_at=signed.statement.at if signed else None,
            key=chain.public_key,
            open_entries=self._ledger.open_entries,
            refused=outage.refused if outage else 0,
            anchors=None if self.anchoring is None else AnchorStatus.of(self.anchoring),
        )
