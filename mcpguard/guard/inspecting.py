"""Looking at a server on a person's word.

Rules kept here:
1. A server that does not run is started, or contacted, once: it lists what it offers and is stopped. What it lists
   waits for a person; nothing of it is offered to agents.
2. It gets no secret: no reference is resolved, no header is sent and no value of the environment is given, but what
   decides which code runs, and what the person names.
3. It runs in the sandbox that it is declared with, as it will after its approval. Where there is none, for it or on
   this machine, a person has to consent, and is told before what will be executed. From then on it runs unconfined,
   which is another launch; inspected without consent where it can be confined, it runs as declared again.
4. That it is about to happen is recorded first. What cannot be recorded does not happen; nor does what is blocked, runs
   or is declared otherwise by the time that it is recorded. How it failed is recorded and remembered (`inspections`).
5. A server that runs is not started a second time: the running connection is listed again.
"""

import shlex
from collections.abc import Awaitable
from dataclasses import dataclass, replace

import anyio

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Answer, Decision, NeedsConsent, Stale, Undecidable
from mcpguard.domain.errors import Unreadable
from mcpguard.domain.launches import Declared, Profile, StdioLaunch
from mcpguard.domain.listings import Listing
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.guard.admission import Admission
from mcpguard.guard.decisions import authorised
from mcpguard.guard.inspections import Begun, Inspections, not_blocked
from mcpguard.guard.intake import Intake
from mcpguard.guard.known import Known
from mcpguard.guard.withholding import only_secrets, without_secrets
from mcpguard.policy.secrets.launches import shown_arguments, shown_command
from mcpguard.upstreams.fleet import Fleet
from mcpguard.upstreams.surroundings import Lost
from mcpguard.upstreams.visit import NeverStarted


@dataclass(frozen=True, slots=True)
class Inspected:
    """What an inspection came to. `started`: whether the server was started or contacted for it."""

    started: bool
    capabilities: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    left_out: int = 0
    profile: str = ""
    error: str = ""


class Inspecting:
    """Inspects servers."""

    def __init__(
        self,
        inspections: Inspections,
        admission: Admission,
        intake: Intake,
        fleet: Fleet,
        seconds: float,
        unconfinable: str,
    ) -> None:
        """`unconfinable`: why nothing can be confined on this machine; empty where it can."""
        self._registry = inspections.registry
        self._inspections = inspections
        self._admission = admission
        self._intake = intake
        self._fleet = fleet
        self._seconds = seconds
        self._unconfinable = unconfinable
        self._now: set[str] = set()

    async def inspect(
        self,
        name: str,
        decision: Decision,
        *,
        consent: bool,
        give: frozenset[str],
        seen: Fingerprint | None = None,
    ) -> Inspected:
        """`seen`: the launch that the person was shown, if they were shown one.

        Raises Unknown, Stale, NeedsConsent, Undecidable, Forbidden or LedgerUnavailable.
        """
        authorised(Answer.INSPECT, decision)
        known = self._registry.get(name)
        if seen is not None and (known.upstream.identity is None or known.upstream.identity.launch != seen):
            raise Stale((f"how {name} is launched or reached",))
        not_blocked(known)
        if known.runs:
            if consent and known.sandbox not in (None, Profile.NONE):
                raise Undecidable(f"{name} runs confined; quarantine it first if it should run without a sandbox")
            return await self._listed_again(known, decision)
        without_secrets(known.declared, give)
        if name in self._now:
            raise Undecidable(f"{name} is being inspected already")
        self._now.add(name)
        try:
            if isinstance(known.declared.launch, StdioLaunch):
                await self._confine(known, known.declared.launch, decision, consent=consent)
            declared = known.declared
            begun = await self._inspections.begin(known, declared, decision, give, ran=False)
            visited = replace(without_secrets(declared, give), artifact=known.upstream.artifact)
            visit = self._visit(known, declared, visited, decision)
            return await self._remembered(begun, only_secrets(visited, give), visit, started=True)
        finally:
            self._now.discard(name)

    async def _confine(self, known: Known, launch: StdioLaunch, decision: Decision, *, consent: bool) -> None:
        """Have it declared as it is to be inspected."""
        if consent:
            await self._admission.unconfine(known, launch, decision.by)
        elif self._unconfinable:
            raise NeedsConsent(consequences(launch, f"mcpguard cannot confine what it starts ({self._unconfinable})"))
        elif launch.profile is not Profile.NONE:
            return
        elif known.upstream.standing is UpstreamStanding.APPROVED:
            raise NeedsConsent(consequences(launch, f"{known.name} was approved to run without a sandbox"))
        elif launch.as_declared().profile is Profile.NONE:
            raise NeedsConsent(consequences(launch, f"{known.name} is declared to run without a sandbox"))
        else:
            await self._admission.confine(known, launch, decision.by)

    async def _remembered(
        self, begun: Begun, given: Declared, looking: Awaitable[Inspected], *, started: bool
    ) -> Inspected:
        """What the inspection comes to; if it fails, or is cut off, that is kept."""
        done: Inspected | None = None
        try:
            done = await looking
        finally:
            if done is None:
                await self._inspections.cut_off(begun, started=started)
        if done.error:
            await self._inspections.failed(begun, done.error, given, started=done.started)
        return done

    async def _visit(self, known: Known, declared: Declared, visited: Declared, decision: Decision) -> Inspected:
        """`declared` is what was looked at, whatever is declared by the time that it has answered."""
        try:
            listing = await self._fleet.visit(visited)
            taken = await self._intake.take_in(known, declared, listing, decision.by, runs=False)
        except (Lost, Unreadable, Undecidable) as error:
            started = not isinstance(error, NeverStarted)
            return Inspected(started=started, profile=_word(declared), error=str(error))
        left_out = sum(taken.left_out.values())
        return Inspected(True, taken.capabilities, taken.new, taken.changed, taken.gone, left_out, _word(declared))

    async def _listed_again(self, known: Known, decision: Decision) -> Inspected:
        before, declared = known.listing, known.declared
        begun = await self._inspections.begin(known, declared, decision, ran=True)
        return await self._remembered(begun, declared, self._confirmed(known, before), started=False)

    async def _confirmed(self, known: Known, before: Listing | None) -> Inspected:
        """Once the connection that calls use has listed anew."""
        with anyio.move_on_after(self._seconds):
            while known.listing is before or known.listing is None:
                moved = known.moved
                if not self._fleet.confirm(known.name):
                    return Inspected(started=False, error="it is not connected now; mcpguard server list says why")
                await moved.wait()
            present = [pin for pin in known.pins.values() if pin.present]
            waiting = sum(pin.waits for pin in present)
            return Inspected(started=False, capabilities=len(present), new=waiting, profile=_word(known.declared))
        return Inspected(started=False, error=f"it did not list what it offers within {self._seconds:g} seconds")


def consequences(launch: StdioLaunch, why: str) -> str:
    """What consent means."""
    folder = f" in {launch.folder}" if launch.folder else ""
    command = shlex.join((shown_command(launch.command), *shown_arguments(launch.arguments)))
    return (
        f"{why}: this would run with everything that the guard's own account may do, now and after its approval, "
        f"and needs your consent (--consent): {command}{folder}"
    )


def _word(declared: Declared) -> str:
    return declared.sandbox.value if declared.sandbox else ""
