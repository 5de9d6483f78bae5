"""The facade for the doors (pages, API, MCP, commands): everything they may ask of the guard."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor
from mcpguard.domain.json import SettingValue
from mcpguard.domain.reasons import Reason
from mcpguard.guard.audit.approved_servers import ApprovedServers
from mcpguard.guard.audit.audit_log import AuditLog
from mcpguard.guard.audit.call_numbers import CallNumbers
from mcpguard.guard.audit.exports import AuditExports
from mcpguard.guard.audit.key_rotation import KeyRotator
from mcpguard.guard.audit.redaction import CallRedaction
from mcpguard.guard.audit.retention import Retention
from mcpguard.guard.audit.verification import LogVerifier
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.callers.grants import CallerGrants
from mcpguard.guard.calls.explanation import explain_to_agent
from mcpguard.guard.calls.handle import Calls
from mcpguard.guard.calls.holds.held_calls import HeldCalls
from mcpguard.guard.calls.judgement import CallJudge
from mcpguard.guard.people.first_user import FirstUserSetup
from mcpguard.guard.people.operators import OperatorTokens
from mcpguard.guard.people.own_password import OwnPassword
from mcpguard.guard.people.people import People
from mcpguard.guard.people.sign_in import SignIns
from mcpguard.guard.people.users import Users
from mcpguard.guard.programs.programs import Programs
from mcpguard.guard.review.admission import Admission
from mcpguard.guard.review.agent_requests import AgentRequests
from mcpguard.guard.review.decisions import Decisions
from mcpguard.guard.review.inspection import ServerInspections
from mcpguard.guard.review.logs.server_log import ServerLogs
from mcpguard.guard.review.server_json import ServerQueries
from mcpguard.guard.scripts.scripts import Scripts
from mcpguard.guard.search.answer import explained_answer, search_answer
from mcpguard.guard.search.search_learning import KnownCallers, SearchLearning
from mcpguard.guard.search.tool_search import SearchScope, ToolSearch
from mcpguard.guard.servers.servers import Servers
from mcpguard.guard.servers.status import AnchorStatus, LedgerStatus, Readiness, SandboxStatus, Status, TlsStatus
from mcpguard.guard.traffic.counts import CallCounts
from mcpguard.guard.traffic.events import CallEvents
from mcpguard.guard.traffic.tallies import Tallies
from mcpguard.guard.trust.confirmed_settings import ConfirmedSettings
from mcpguard.ledger.anchoring import Anchoring
from mcpguard.ledger.keys import SigningKey
from mcpguard.ledger.ledger import Ledger
from mcpguard.settings.model import Settings
from mcpguard.store.engine.store import Store

if TYPE_CHECKING:
    from mcpguard.guard.search.tool_meanings import ToolMeanings


@dataclass(frozen=True, slots=True)
class GuardFacts:
    """Facts about the running guard that do not change while it runs."""

    version: str
    process: int
    started_at: int
    sandbox: SandboxStatus


@dataclass(frozen=True, slots=True)
class Review:
    """What reviewers do with servers: add, inspect and decide about them."""

    admission: Admission
    decisions: Decisions
    inspecting: ServerInspections
    queries: ServerQueries


@dataclass(frozen=True, slots=True)
class AgentServices:
    """What agents may do themselves: request changes of servers, read their logs, and run programs where they may; and
    by which meanings the tools that they look for are ranked, if any.
    """

    managing: AgentRequests
    tailing: ServerLogs
    programs: Programs | None
    scripts: Scripts | None
    meanings: "ToolMeanings | None"


@dataclass(frozen=True, slots=True)
class CallTraffic:
    """The events of calls, and the counts of calls, disclosures and refusals."""

    events: CallEvents
    counting: CallCounts
    tallies: Tallies


@dataclass(frozen=True, slots=True)
class Staff:
    """The users and API tokens of the guard, and how users sign in."""

    people: People
    users: Users
    operators: OperatorTokens
    signing_in: SignIns
    setting_up: FirstUserSetup
    own_password: OwnPassword


@dataclass(frozen=True, slots=True)
class LogProof:
    """How the integrity of the audit log is shown: the signing key, the external anchor file, if any, and
    verification."""

    rotating: KeyRotator
    anchoring: Anchoring | None
    verifying: LogVerifier


class Guard:
    """The guard as its doors see it. `tls`: the certificate that they show on the network, if they do; `public_url`:
    where others reach it, once it listens.
    """

    tls: TlsStatus | None = None
    public_url: str = ""

    def __init__(
        self,
        confirming: ConfirmedSettings,
        store: Store,
        ledger: Ledger,
        clock: Clock,
        facts: GuardFacts,
        *,
        servers: Servers,
        calls: Calls,
        callers: Callers,
        granting: CallerGrants,
        review: Review,
        own: AgentServices,
        judging: CallJudge,
        held: HeldCalls,
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
        self.programs = own.programs
        """Runs programs of agents; None where they may not run any."""
        self.scripts = own.scripts
        """The scripts; None where programs may not run."""
        self.people = staff.people
        self.users, self.operators = staff.users, staff.operators
        self.signing_in = staff.signing_in
        self.setting_up = staff.setting_up
        self.own_password = staff.own_password
        self.tallies = heard.tallies
        self.events = heard.events
        self.counting = heard.counting
        self.learning = _learning(confirming.settings, store, ledger, heard.events, callers, servers)
        self.searching = ToolSearch(servers.publisher, own.meanings, self.learning)
        self.auditing = AuditLog(store, ledger, clock)
        self.call_numbers = CallNumbers(store, ledger, clock)
        self.exporting = AuditExports(store, ledger, clock, confirming.settings.data_dir)
        self.rotating, self.anchoring = proof.rotating, proof.anchoring
        self.retention = Retention(store, ledger, clock, self.settings.retention)
        self.redacting = CallRedaction(self.retention.pruner, ledger)
        self.verifying = proof.verifying
        self._store = store
        self._ledger = ledger
        self.facts = facts

    @cached_property
    def approved_servers(self) -> ApprovedServers:
        """The servers that agents may call now, with what was approved of each."""
        return ApprovedServers(self.servers, self.auditing)

    @property
    def signing_key(self) -> SigningKey:
        """The key that signs the audit log now."""
        return self._ledger.chain.key

    @property
    def catalog(self) -> Catalog:
        """The catalog of what may be found and called at this moment."""
        return self.servers.publisher.catalog

    def explain(self, caller: Caller, capability: Capability) -> dict[str, Any]:
        """Explain why this caller can use a capability now, or why not. Unknown and out of scope look the same."""
        return explain_to_agent(caller, capability, self.judging)

    async def search(self, query: str, limit: int, wish: SearchScope, *, full: bool = False) -> dict[str, Any]:
        """Search for tools within the scope and filters of `wish`."""
        hits, total = self.searching.search(query, limit, wish, await self.searching.meaning(query))
        return search_answer(query, hits, total, wish, self.servers, full=full)

    async def explain_search(self, query: str, limit: int, wish: SearchScope) -> dict[str, Any]:
        """Search as `search` does, and say why each tool is found and stands where it does."""
        found = self.searching.explain(query, limit, wish, await self.searching.meaning(query))
        return await explained_answer(query, found, wish, self.servers)

    async def confirm(self, seen: Mapping[str, SettingValue], by: Actor) -> tuple[str, ...]:
        """Confirm the settings that wait for it, as they were seen. Returns their keys."""
        return await self.confirming.confirm(seen, by, self._ledger, self.clock)

    def readiness(self) -> Readiness:
        """Tell whether calls can be taken now, and if not, why. Answers from memory, also while the ledger is down."""
        outage = self._ledger.outage
        if outage is None:
            return Readiness(ready=True)
        return Readiness(ready=False, reason=Reason.LEDGER_UNAVAILABLE, since=outage.since, cause=outage.why)

    @property
    def queued_writes(self) -> int:
        """How many writes to the database are queued."""
        return self._store.writer.waiting

    def status(self) -> Status:
        """The overview of the guard and its servers."""
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
        """The state of the audit log."""
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
            anchors=None if self.anchoring is None else AnchorStatus.from_anchoring(self.anchoring),
        )


def _learning(
    settings: Settings, store: Store, ledger: Ledger, events: CallEvents, callers: Callers, servers: Servers
) -> SearchLearning:
    known = KnownCallers(callers.scope_of, callers.subscription)
    return SearchLearning(store.readers, ledger, events, known, servers.find, enabled=settings.search.learn)
