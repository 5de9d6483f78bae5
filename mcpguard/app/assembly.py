"""Assembles a guard from its parts: each part is given those it works with, and none looks another up."""

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from typing import TYPE_CHECKING

from anyio import to_thread

from mcpguard import __version__
from mcpguard.app.places import anchor_file, database, digest_key, packages, seal_key, server_logs, server_secrets
from mcpguard.app.program_parts import make_programs, make_scripts
from mcpguard.app.signing import Signing
from mcpguard.domain.callers import Caller
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.screening import Screening
from mcpguard.guard.audit.key_rotation import KeyRotator
from mcpguard.guard.audit.verification import LogVerifier
from mcpguard.guard.callers.callers import Callers, anonymous
from mcpguard.guard.callers.grants import CallerGrants
from mcpguard.guard.calls.explanation import is_anybody
from mcpguard.guard.calls.handle import Calls
from mcpguard.guard.calls.holds.allowances import Allowances
from mcpguard.guard.calls.holds.held_calls import HeldCalls
from mcpguard.guard.calls.holds.hold_answers import HoldAnswers
from mcpguard.guard.calls.holds.hold_context import HoldContexts
from mcpguard.guard.calls.holds.hold_rules import HoldRules
from mcpguard.guard.calls.holds.open_allowances import OpenAllowances
from mcpguard.guard.calls.holds.open_holds import Tickets
from mcpguard.guard.calls.holds.waiting_call import WaitingCalls
from mcpguard.guard.calls.judgement import CallJudge
from mcpguard.guard.calls.kept_bodies import KeptBodies, load_or_make_digests
from mcpguard.guard.calls.open_call import CallServices
from mcpguard.guard.calls.screening import Screener
from mcpguard.guard.guard import AgentServices, CallTraffic, Guard, GuardFacts, LogProof, Review, Staff
from mcpguard.guard.people.first_user import FirstUserSetup
from mcpguard.guard.people.operators import OperatorTokens
from mcpguard.guard.people.own_password import OwnPassword
from mcpguard.guard.people.passwords import USUAL, Cost, Passwords
from mcpguard.guard.people.people import People
from mcpguard.guard.people.sign_in import SignIns
from mcpguard.guard.people.users import Users
from mcpguard.guard.review.admission import Admission
from mcpguard.guard.review.agent_requests import AgentRequests
from mcpguard.guard.review.decisions import Decisions
from mcpguard.guard.review.inspection import ServerInspections
from mcpguard.guard.review.inspection_records import InspectionRecords
from mcpguard.guard.review.launch_fingerprints import Fingerprints
from mcpguard.guard.review.logs.last_words import LastWords
from mcpguard.guard.review.logs.server_log import ServerLogs
from mcpguard.guard.review.sandbox_needs import SandboxNeeds
from mcpguard.guard.review.server_json import ServerQueries
from mcpguard.guard.servers.intake import Intake
from mcpguard.guard.servers.neighbours import NeighbourTools
from mcpguard.guard.servers.publisher import Publisher
from mcpguard.guard.servers.registry import Registry, ServerState
from mcpguard.guard.servers.running_calls import RunningCalls
from mcpguard.guard.servers.servers import Servers
from mcpguard.guard.servers.standings import Standings, capabilities
from mcpguard.guard.servers.status import SandboxStatus
from mcpguard.guard.servers.tool_effects import EffectReader
from mcpguard.guard.traffic.counts import CallCounts
from mcpguard.guard.traffic.events import CallEvents
from mcpguard.guard.traffic.tallies import Tallies
from mcpguard.guard.trust.confirmed_settings import ConfirmedSettings
from mcpguard.ledger.ledger import Ledger
from mcpguard.policy.budgets import BudgetLimits, CallBudgets
from mcpguard.settings.model import Settings
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.files import keyfiles, seals
from mcpguard.store.files.seals import Seal
from mcpguard.store.rows import upstreams
from mcpguard.upstreams.launch.start import LaunchPreparation
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement, limits
from mcpguard.upstreams.sandbox.probe import NoSandbox, UsableSandbox
from mcpguard.upstreams.supervise.context import SupervisorContext
from mcpguard.upstreams.supervise.fleet import Fleet
from mcpguard.upstreams.supervise.reach import ServerReach
from mcpguard.upstreams.transports.addresses import Address
from mcpguard.upstreams.transports.dialing import Dialing
from mcpguard.upstreams.transports.own import OwnServer

if TYPE_CHECKING:
    from mcpguard.guard.search.tool_meanings import ToolMeanings

KNOWN_PER_ENTRY = 4
"""How many capabilities of a server are remembered for each that it may list, as removed ones keep their status."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A guard, and its parts that have to run."""

    guard: Guard
    inspections: InspectionRecords
    fleet: Fleet
    intake: Intake
    standings: Standings
    servers: Servers
    listeners: set[tuple[Address, int]]


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The host's sandbox, the cost of checking a password, and what ranks tools by meaning, if that is wanted."""

    sandbox: UsableSandbox | NoSandbox
    cost: Cost = USUAL
    meanings: "ToolMeanings | None" = None


async def assemble(
    confirming: ConfirmedSettings,
    clock: Clock,
    new_id: Ids,
    store: Store,
    ledger: Ledger,
    signing: Signing,
    given: Mapping[str, Caller] | None,
    here: HostFacts,
) -> Parts:
    """Return a guard loaded from the store, which does not run yet. `given`: further callers by their tokens."""
    settings = confirming.settings
    digesting, seal = load_or_make_digests(digest_key(settings)), seals.load_or_make(seal_key(settings))
    registry, publisher, cutting, effects = _registry(settings), Publisher(), RunningCalls(), EffectReader(store)
    standings = Standings(registry, publisher, cutting, ledger, store.readers, seal, clock, settings)
    intake = Intake(standings, clock, new_id, settings.upstreams, KNOWN_PER_ENTRY)
    servers, listeners = Servers(standings, intake, settings), set[tuple[Address, int]]()
    reach = _reach(settings, here.sandbox, registry, listeners)
    fleet, confining = _commanded(settings, clock, servers, standings, reach), _status(here.sandbox)
    fingerprints = Fingerprints(keyfiles.read(digest_key(settings), "digest key"))
    admission = Admission(standings, fingerprints, new_id, clock)
    decisions = Decisions(standings, effects, new_id, Screening(settings.screening.mode), fingerprints)
    callers = await _callers(settings, store, clock, given, cutting)
    demanding = HoldRules(Tickets(digesting), OpenAllowances(digesting, clock), settings.holds)
    answering = HoldAnswers(demanding.tickets, registry, publisher, callers, ledger, clock, new_id, settings.holds)
    judge, explaining = CallJudge(servers, demanding, callers.holds), CallJudge(servers, demanding, is_anybody)
    inspections = InspectionRecords(standings, LastWords(registry, reach.mark, reach.wrote), clock)
    seconds, budgets = settings.definitions.confirm_seconds, _budgets(settings, clock)
    inspecting = ServerInspections(inspections, admission, intake, fleet, seconds, confining.why)
    bodies = KeptBodies(digesting, settings.audit, reach.given.ways)
    screener = Screener(servers, NeighbourTools(registry), reach.given.certain, settings, clock)
    queries = ServerQueries(registry, servers, explaining, effects, store, SandboxNeeds(reach.lines), confining)
    heard = _heard(clock, servers, callers, ledger)
    with_ = CallServices(servers, callers, judge, fleet, cutting, bodies, screener, heard.events)
    calls = Calls(with_, ledger, WaitingCalls(demanding, answering, clock, settings.holds), budgets, new_id, settings)
    managing = AgentRequests(registry, admission, decisions, callers, budgets, clock)
    programs = make_programs(settings, here.sandbox, with_, calls, ledger, clock, new_id)
    scripts = await make_scripts(programs, admission, intake, reach.own, ledger, clock, store)
    guard = Guard(
        confirming,
        store,
        ledger,
        clock,
        GuardFacts(__version__, os.getpid(), clock.now(), confining),
        servers=servers,
        calls=calls,
        callers=callers,
        granting=CallerGrants(callers, ledger, clock, new_id, reads_certificates=settings.tls.client_ca is not None),
        review=Review(admission, decisions, inspecting, queries),
        own=AgentServices(managing, ServerLogs(registry, callers, reach.wrote), programs, scripts, here.meanings),
        judging=judge,
        held=await _held(demanding, answering, registry, publisher, callers, ledger, store, new_id),
        staff=await _staff(settings, store, ledger, heard.tallies, clock, new_id, here.cost),
        heard=heard,
        proof=_proof(settings, signing, ledger, clock),
    )
    await store.readers.run(partial(_load, registry, seal))
    await to_thread.run_sync(reach.preparation.sweep, set(registry.live))
    return Parts(guard, inspections, fleet, intake, standings, servers, listeners)


async def _callers(
    settings: Settings, store: Store, clock: Clock, given: Mapping[str, Caller] | None, cutting: RunningCalls
) -> Callers:
    callers = Callers(clock, anonymous(settings.anonymous) if settings.is_on_loopback else None, given, cutting.cut_off)
    await callers.load(store.readers)
    return callers


async def _held(
    demanding: HoldRules,
    answering: HoldAnswers,
    registry: Registry,
    publisher: Publisher,
    callers: Callers,
    ledger: Ledger,
    store: Store,
    new_id: Ids,
) -> HeldCalls:
    """Return the held calls and allowances, read from the store: what was held before a restart can be answered."""
    await answering.load(store.readers)
    allowances = Allowances(demanding.allowances, answering, registry, publisher, callers, ledger, new_id)
    await allowances.load(store.readers)
    chain = ledger.chain.id
    contexts = HoldContexts(registry, store, chain, demanding.allowances.clock)
    return HeldCalls(answering, allowances, contexts, registry, store, chain)


def _budgets(settings: Settings, clock: Clock) -> CallBudgets:
    said = settings.budgets
    return CallBudgets(BudgetLimits(said.caller_minute, said.capability_minute, said.at_once), clock.monotonic)


def _proof(settings: Settings, signing: Signing, ledger: Ledger, clock: Clock) -> LogProof:
    verifying = LogVerifier(database(settings), anchor_file(settings), ledger, clock)
    return LogProof(KeyRotator(signing.file, ledger), signing.anchoring, verifying)


def _heard(clock: Clock, servers: Servers, callers: Callers, ledger: Ledger) -> CallTraffic:
    events, counting = CallEvents(clock), CallCounts(servers.knows)
    for listener in (counting.count_call, callers.note_call):
        events.subscribe(listener)
    return CallTraffic(events, counting, Tallies(ledger, clock))


async def _staff(
    settings: Settings, store: Store, ledger: Ledger, tallies: Tallies, clock: Clock, new_id: Ids, cost: Cost
) -> Staff:
    people = People(store, clock, settings.people)
    await people.load()
    passwords = Passwords(people, cost)
    signing_in = SignIns(people, passwords, ledger, clock, new_id, tallies)
    users = Users(people, passwords, signing_in.throttle, ledger, clock, new_id)
    setting_up = FirstUserSetup(people, users, signing_in, passwords, store, ledger, clock, new_id)
    operators = OperatorTokens(people, ledger, clock, new_id)
    return Staff(people, users, operators, signing_in, setting_up, OwnPassword(people, users, signing_in))


def _load(registry: Registry, seal: Seal, connection: Connection) -> None:
    live, buried = [], []
    for upstream in upstreams.list_upstreams(connection):
        if upstream.removed:
            buried.append(upstream)
        elif (declared := upstreams.declaration(connection, upstream.id, seal)) is not None:
            pins, found = capabilities(connection, upstream.id)
            live.append(ServerState(upstream, declared, pins, found=found))
    registry.load(live, buried)


def _status(sandbox: UsableSandbox | NoSandbox) -> SandboxStatus:
    if isinstance(sandbox, NoSandbox):
        return SandboxStatus(works=False, why=sandbox.why, in_force=())
    return SandboxStatus(works=True, why="", in_force=sandbox.in_force)


def _registry(settings: Settings) -> Registry:
    return Registry(compared=settings.screening.resemblance == "on")


def _reach(
    settings: Settings, sandbox: UsableSandbox | NoSandbox, registry: Registry, listeners: set[tuple[Address, int]]
) -> ServerReach:
    """Return what opens conversations. Servers and packages may be reached in the same networks."""
    dialing = Dialing([ip_network(network) for network in settings.upstreams.networks], listeners)
    confinement = ProcessConfinement(sandbox, limits(settings.sandbox), settings.data_dir)
    seconds = settings.upstreams.install_seconds
    starting = LaunchPreparation(confinement, packages(settings), os.environ, seconds, dialing, registry.writable)
    return ServerReach(
        settings.upstreams,
        os.environ,
        server_logs(settings),
        server_secrets(settings),
        dialing,
        starting,
        OwnServer() if settings.code.enabled else None,
    )


def _commanded(settings: Settings, clock: Clock, servers: Servers, standings: Standings, reach: ServerReach) -> Fleet:
    """Return the fleet, commanded by the servers and their status."""
    us = {"name": "mcpguard", "version": __version__}
    fleet = Fleet(
        SupervisorContext(
            settings.upstreams,
            settings.definitions,
            clock,
            random.random,
            reach,
            reach.install,
            servers.take,
            us,
            servers.may_ask,
        )
    )
    servers.command(fleet)
    standings.command(fleet)
    return fleet
