"""Inspects servers at a reviewer's request.

Rules kept here:
1. A server that is not running is started, or contacted, once: it lists what it offers and is stopped. The listing
   waits for review; none of it is offered to agents.
2. It gets no secrets: no reference is resolved, no header is sent and no environment value is passed, except what
   decides which code runs, and what the reviewer names.
3. It runs in its declared sandbox, as it will after approval. If it has none, or this machine cannot provide one, the
   reviewer must consent after being shown what would be executed. From then on it runs unconfined, which is a different
   launch; an inspection without consent, where a sandbox is possible, restores the declared one.
4. The inspection is recorded before it begins. If it cannot be recorded, or the server was blocked, started, stopped or
   redeclared by then, it does not happen. A failure is recorded and remembered (`inspection_records`).
5. A running server is not started a second time: its connection lists again.
6. The reviewer may wait for the result (`inspect`), or only until the beginning is recorded (`begin`). The inspection
   then continues in the background, and ends with the guard.
"""

import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

import anyio
import structlog

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Actor, Answer, Decision, NeedsConsent, Stale, Undecidable
from mcpguard.domain.errors import GuardError, Unreadable
from mcpguard.domain.servers.inspections import InspectionStage
from mcpguard.domain.servers.launches import DeclaredServer, Profile, StdioLaunch
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.review.admission import Admission
from mcpguard.guard.review.authority import check_authority
from mcpguard.guard.review.inspection_records import BegunInspection, InspectionRecords, check_not_blocked
from mcpguard.guard.review.withheld_secrets import only_secrets, without_secrets
from mcpguard.guard.servers.intake import Intake
from mcpguard.guard.servers.registry import ServerState
from mcpguard.policy.secrets.launches import shown_arguments, shown_command
from mcpguard.upstreams.supervise.context import ConnectionLost
from mcpguard.upstreams.supervise.fleet import Fleet
from mcpguard.upstreams.supervise.visit import NeverStarted

Looking = Callable[[], Awaitable["InspectionResult"]]
"""Carries an inspection on that has begun."""
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class InspectionResult:
    """The result of an inspection. `started`: whether the server was started or contacted for it."""

    started: bool
    capabilities: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    left_out: int = 0
    profile: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Aside:
    """An inspection that has begun and that nobody waits for; `told` is called with its result."""

    server: str
    looking: Looking
    told: Callable[[InspectionResult], None]


class ServerInspections:
    """Starts or lists servers once, for a reviewer to see what they offer."""

    def __init__(
        self,
        inspections: InspectionRecords,
        admission: Admission,
        intake: Intake,
        fleet: Fleet,
        seconds: float,
        unconfinable: str,
    ) -> None:
        """`unconfinable`: why servers cannot be sandboxed on this host; empty where they can."""
        self._registry = inspections.registry
        self._inspections = inspections
        self._admission = admission
        self._intake = intake
        self._fleet = fleet
        self._seconds = seconds
        self._unconfinable = unconfinable
        self._now: set[str] = set()
        self._aside: list[_Aside] = []
        self._begun_aside = anyio.Event()

    async def run(self) -> None:
        """Carry on inspections that nobody waits for, until cancelled."""
        async with anyio.create_task_group() as tasks:
            while True:
                begun, self._aside, self._begun_aside = self._aside, [], anyio.Event()
                for aside in begun:
                    tasks.start_soon(_seen_to, aside, name=f"inspection of {aside.server}")
                await self._begun_aside.wait()

    async def inspect(
        self,
        name: str,
        decision: Decision,
        *,
        consent: bool,
        give: frozenset[str],
        seen: Fingerprint | None = None,
    ) -> InspectionResult:
        """Inspect a server and return the result. `seen`: the launch that the reviewer was shown, if any.

        Raises Unknown, Stale, NeedsConsent, Undecidable, Forbidden or LedgerUnavailable.
        """
        looking = await self._begun(name, decision, consent=consent, give=give, seen=seen)
        return await looking()

    async def begin(
        self,
        name: str,
        decision: Decision,
        *,
        consent: bool,
        give: frozenset[str],
        seen: Fingerprint,
        told: Callable[[InspectionResult], None],
    ) -> None:
        """Begin an inspection without waiting for it. It has begun when this returns; `told` is called with its
        result."""
        looking = await self._begun(name, decision, consent=consent, give=give, seen=seen)
        self._aside.append(_Aside(name, looking, told))
        self._begun_aside.set()

    async def _begun(
        self, name: str, decision: Decision, *, consent: bool, give: frozenset[str], seen: Fingerprint | None
    ) -> Looking:
        """Record that an inspection begins, and return how it goes on."""
        check_authority(Answer.INSPECT, decision)
        known = self._registry.get(name)
        # Consent is given to the launch that was shown, and to no other.
        if seen is not None and (known.upstream.identity is None or known.upstream.identity.launch != seen):
            raise Stale((f"how {name} is launched or reached",))
        check_not_blocked(known)
        if known.runs:
            if consent and known.sandbox not in (None, Profile.NONE):
                raise Undecidable(f"{name} runs in a sandbox; quarantine it first to run it without one")
            declared = known.declared
            begun = await self._inspections.begin(known, declared, decision, ran=True)
            known.stage = InspectionStage.LISTING
            return partial(self._listed_again, known, declared, begun)
        return await self._begun_visit(known, decision, consent=consent, give=give)

    async def _begun_visit(
        self, known: ServerState, decision: Decision, *, consent: bool, give: frozenset[str]
    ) -> Looking:
        """Begin to inspect a server that does not run."""
        without_secrets(known.declared, give)
        if known.name in self._now:
            raise Undecidable(f"{known.name} is being inspected already")
        # Before anything is awaited: of two that ask at once, one is refused.
        self._now.add(known.name)
        begun: BegunInspection | None = None
        try:
            if isinstance(known.declared.launch, StdioLaunch):
                await self._confine(known, known.declared.launch, decision, consent=consent)
            declared = known.declared
            begun = await self._inspections.begin(known, declared, decision, give, ran=False)
        finally:
            # It did not begin, so nothing else would let go of the name.
            if begun is None:
                self._now.discard(known.name)
        known.stage = InspectionStage.STARTING
        return partial(self._looked_at, known, declared, begun, give)

    async def _confine(self, known: ServerState, launch: StdioLaunch, decision: Decision, *, consent: bool) -> None:
        """Have the server declared with the sandbox in which it is inspected. Raises NeedsConsent."""
        if consent:
            await self._admission.unconfine(known, launch, decision.by)
        elif self._unconfinable:
            raise NeedsConsent(consequences(launch, f"the sandbox does not work here ({self._unconfinable})"))
        elif launch.profile is not Profile.NONE:
            return
        elif known.upstream.standing is UpstreamStanding.APPROVED:
            raise NeedsConsent(consequences(launch, f"{known.name} was approved to run without a sandbox"))
        elif launch.as_declared().profile is Profile.NONE:
            raise NeedsConsent(consequences(launch, f"{known.name} is declared to run without a sandbox"))
        else:
            await self._admission.confine(known, launch, decision.by)

    async def _looked_at(
        self, known: ServerState, declared: DeclaredServer, begun: BegunInspection, give: frozenset[str]
    ) -> InspectionResult:
        """Inspect what was `declared` when this began, whatever is declared by the time that the server has
        answered."""
        try:
            # Without secrets: nobody has reviewed yet what would receive them.
            visited = replace(without_secrets(declared, give), artifact=known.upstream.artifact)
            visit = self._visit(known, declared, visited, begun.by)
            return await self._remembered(begun, only_secrets(visited, give), visit, started=True)
        finally:
            self._now.discard(known.name)

    async def _remembered(
        self, begun: BegunInspection, given: DeclaredServer, looking: Awaitable[InspectionResult], *, started: bool
    ) -> InspectionResult:
        """Await the result of an inspection; record it if it fails or is cut off."""
        done: InspectionResult | None = None
        try:
            try:
                done = await looking
            finally:
                # Also when the guard stops: an inspection must not look as if it had never happened.
                if done is None:
                    await self._inspections.record_cut_off(begun, started=started)
            if done.error:
                await self._inspections.record_failure(begun, done.error, given, started=done.started)
            return done
        finally:
            begun.known.stage = None

    async def _visit(
        self, known: ServerState, declared: DeclaredServer, visited: DeclaredServer, by: Actor
    ) -> InspectionResult:
        def at(stage: InspectionStage) -> None:
            known.stage = stage

        try:
            listing = await self._fleet.visit(visited, at)
            at(InspectionStage.COMPARING)
            taken = await self._intake.take_in(known, declared, listing, by, runs=False)
        except (ConnectionLost, Unreadable, Undecidable) as error:
            started = not isinstance(error, NeverStarted)
            return InspectionResult(started=started, profile=_word(declared), error=str(error))
        left_out = sum(taken.left_out.values())
        return InspectionResult(
            True, taken.capabilities, taken.new, taken.changed, taken.gone, left_out, _word(declared)
        )

    async def _listed_again(
        self, known: ServerState, declared: DeclaredServer, begun: BegunInspection
    ) -> InspectionResult:
        confirmed = self._confirmed(known, known.listing)
        return await self._remembered(begun, declared, confirmed, started=False)

    async def _confirmed(self, known: ServerState, before: Listing | None) -> InspectionResult:
        """Wait until the connection that calls use has listed again."""
        with anyio.move_on_after(self._seconds):
            while known.listing is before or known.listing is None:
                moved = known.moved
                if not self._fleet.confirm(known.name):
                    return InspectionResult(started=False, error="the server is not connected; its status says why")
                await moved.wait()
            present = [pin for pin in known.pins.values() if pin.present]
            waiting = sum(pin.waits for pin in present)
            return InspectionResult(
                started=False, capabilities=len(present), new=waiting, profile=_word(known.declared)
            )
        error = f"the server did not list what it offers within {self._seconds:g} seconds"
        return InspectionResult(started=False, error=error)


async def _seen_to(aside: _Aside) -> None:
    """Carry on an inspection. Whatever goes wrong in it ends nothing else."""
    try:
        done = await aside.looking()
    except GuardError as error:  # its server was removed meanwhile, or it cannot be recorded how it ended
        log.warning("inspection.unrecorded", server=aside.server, why=str(error))
        done = InspectionResult(started=True, error=str(error))
    except Exception:
        log.exception("inspection.failed", server=aside.server)
        done = InspectionResult(started=True, error="the inspection failed inside mcpguard; the cause is in its log")
    aside.told(done)


def consequences(launch: StdioLaunch, why: str) -> str:
    """Say what would run without a sandbox, and where, for a reviewer who is asked for consent."""
    folder = f" in {launch.folder}" if launch.folder else ""
    command = shlex.join((shown_command(launch.command), *shown_arguments(launch.arguments)))
    return (
        f"{why}: this would run without a sandbox, with everything the guard's account may do, now and after its "
        f"approval, and needs your consent: {command}{folder}"
    )


def _word(declared: DeclaredServer) -> str:
    return declared.sandbox.value if declared.sandbox else ""
