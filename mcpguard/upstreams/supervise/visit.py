"""Looking at a server once: it is started or contacted, says who it is and what it offers, and is let go.

Rules kept here:
1. Nothing is asked of it but that, and nothing that it asks is answered.
2. What it has to fetch is installed first. Then it has as long as any connection has to be ready.
3. Whatever goes wrong is told in a sentence and ends only the visit.
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
from mcpguard.upstreams.protocol.call_slots import CallSlots
from mcpguard.upstreams.protocol.connection import Connection
from mcpguard.upstreams.protocol.error_sentences import leaves, sentence
from mcpguard.upstreams.protocol.listing import ListingBounds
from mcpguard.upstreams.protocol.negotiation import Shied, Us, negotiate
from mcpguard.upstreams.protocol.switchboard import Switchboard
from mcpguard.upstreams.supervise.context import Lost, SupervisorContext, converse

At = Callable[[InspectionStage], None]
log = structlog.get_logger("mcpguard.upstreams")


class NeverStarted(Lost):
    """Nothing of it ran."""


async def visited(declared: DeclaredServer, around: SupervisorContext, at: At) -> Listing:
    """What it offers; `at` hears how far the visit has come. Raises Lost, which says what went wrong."""
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


async def _tried(declared: DeclaredServer, around: SupervisorContext, at: At) -> Listing:
    try:
        return await _visited(declared, around, at)
    except* GuardError as group:
        wrong = tuple(leaves(group))
    except* Exception as group:
        log.exception("upstream.failed", server=declared.name)
        wrong = tuple(leaves(group))
    if declared.era is Era.AUTO and any(isinstance(each, Shied) for each in wrong):
        return await _tried(replace(declared, era=Era.LEGACY), around, at)
    said = _said(wrong)
    raise NeverStarted(said) if isinstance(wrong[0], NotStarted) else Lost(said)


async def _visited(declared: DeclaredServer, around: SupervisorContext, at: At) -> Listing:
    settings, turns = around.settings, CallSlots(1, 0)
    switchboard = Switchboard(declared.name, turns, lambda _: None)
    seconds = settings.connect_seconds
    with anyio.move_on_after(seconds):
        async with around.reach(declared, switchboard) as conversation, anyio.create_task_group() as tasks:
            tasks.start_soon(converse, conversation, name=f"visit of {declared.name}")
            greeting = await negotiate(conversation, Us(around.us, {}), declared.era, settings.probe_seconds)
            at(InspectionStage.LISTING)
            over_http = declared.launch.transport is Transport.HTTP
            connection = Connection(conversation, switchboard, greeting, around.us, in_headers=over_http)
            bounds = ListingBounds(settings.list_pages, settings.list_entries, settings.message_bytes)
            listing = await connection.listed(bounds)
            tasks.cancel_scope.cancel()
        return listing
    raise Lost(f"it did not list what it offers within {seconds:g} seconds")


def _said(wrong: Iterable[BaseException]) -> str:
    first = next(iter(wrong))
    if isinstance(first, GuardError):
        return sentence(first)
    return f"mcpguard failed at this server ({type(first).__name__}); its log says how"
