"""Visits a server once for an inspection: starts or contacts it, lists it, and stops it again.

Rules kept here:
1. It gets no other request, and none of its own requests is answered.
2. Its package is installed first. After that it has the same time to become ready as any connection.
3. Any error is described in a sentence and ends only the visit.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import anyio
import structlog

from mcpguard.domain.errors import GuardError, NotStarted
from mcpguard.domain.servers.inspections import InspectionStage
from mcpguard.domain.servers.launches import DeclaredServer, Era, StdioLaunch
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.upstreams.protocol.calls_in_flight import CallSlots
from mcpguard.upstreams.protocol.connection import Connection
from mcpguard.upstreams.protocol.error_sentences import error_sentence, leaves
from mcpguard.upstreams.protocol.listing import ListingBounds
from mcpguard.upstreams.protocol.negotiation import ClientGreeting, ProbeRefused, negotiate
from mcpguard.upstreams.protocol.switchboard import Switchboard
from mcpguard.upstreams.supervise.context import ConnectionLost, SupervisorContext, converse

OnStage = Callable[[InspectionStage], None]
log = structlog.get_logger("mcpguard.upstreams")


class NeverStarted(ConnectionLost):
    """The server was never started."""


async def visit_server(declared: DeclaredServer, around: SupervisorContext, at: OnStage) -> Listing:
    """Return what the server offers. `at` is called with each stage. Raises ConnectionLost, which says what went
    wrong.
    """
    if isinstance(declared.launch, StdioLaunch):
        at(InspectionStage.INSTALLING)
    installed = await _installed(declared, around)
    at(InspectionStage.STARTING)
    return await _tried(installed, around, at)


async def _installed(declared: DeclaredServer, around: SupervisorContext) -> DeclaredServer:
    try:
        return await around.install(declared)
    except* GuardError as group:
        wrong = tuple(leaves(group))
    except* Exception as group:
        log.exception("upstream.not_installed", server=declared.name)
        wrong = tuple(leaves(group))
    raise NeverStarted(_said(wrong))


async def _tried(declared: DeclaredServer, around: SupervisorContext, at: OnStage) -> Listing:
    try:
        return await _visited(declared, around, at)
    except* GuardError as group:
        wrong = tuple(leaves(group))
    except* Exception as group:
        log.exception("upstream.failed", server=declared.name)
        wrong = tuple(leaves(group))
    # The probe made the server exit; a second start without one shows whether it works in the handshake era.
    if declared.era is Era.AUTO and any(isinstance(each, ProbeRefused) for each in wrong):
        return await _tried(replace(declared, era=Era.LEGACY), around, at)
    said = _said(wrong)
    # The audit log has to tell apart whether code of the server may have run.
    raise NeverStarted(said) if isinstance(wrong[0], NotStarted) else ConnectionLost(said)


async def _visited(declared: DeclaredServer, around: SupervisorContext, at: OnStage) -> Listing:
    settings, turns = around.settings, CallSlots(1, 0)
    # No call is ever registered here, so every question of the server is refused: nobody has approved it yet.
    switchboard = Switchboard(declared.name, turns, lambda _: None)
    seconds = settings.connect_seconds
    with anyio.move_on_after(seconds):
        async with around.reach(declared, switchboard) as conversation, anyio.create_task_group() as tasks:
            tasks.start_soon(converse, conversation, name=f"visit of {declared.name}")
            greeting = await negotiate(
                conversation, ClientGreeting(around.us, {}), declared.era, settings.probe_seconds
            )
            at(InspectionStage.LISTING)
            over_http = declared.launch.transport is Transport.HTTP
            connection = Connection(conversation, switchboard, greeting, around.us, in_headers=over_http)
            bounds = ListingBounds(settings.list_pages, settings.list_entries, settings.message_bytes)
            listing = await connection.list_everything(bounds)
            # The visit ends here, before the server can do anything that nobody has approved.
            tasks.cancel_scope.cancel()
        return listing
    raise ConnectionLost(f"the server did not list its tools within {seconds:g} seconds")


def _said(wrong: Iterable[BaseException]) -> str:
    first = next(iter(wrong))
    if isinstance(first, GuardError):
        return error_sentence(first)
    return f"internal error in mcpguard ({type(first).__name__}); see its log"
