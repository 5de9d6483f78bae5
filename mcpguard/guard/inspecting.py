"""Looking at a server on a person's word.

Rules kept here:
1. A server that does not run is started, or contacted, once: it lists what it offers and is stopped. What it lists
   waits for a person; nothing of it is offered to agents.
2. It gets no secret: no reference is resolved, no header is sent and no value of the environment is given, but what
   decides which code runs, and what the person names.
3. Nothing that we start is confined yet. So a person has to consent, and is told before what will be executed.
4. That it is about to happen is recorded first. What cannot be recorded does not happen.
5. A server that runs is not started a second time: the running connection is listed again.
"""

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from mcpguard.domain.decisions import Answer, Decision, NeedsConsent, Undecidable
from mcpguard.domain.errors import Unreadable
from mcpguard.domain.identity import is_code
from mcpguard.domain.launches import Declared, RemoteLaunch, StdioLaunch
from mcpguard.domain.records import RecordKind
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.guard.decisions import authorised
from mcpguard.guard.intake import Intake
from mcpguard.guard.known import Known
from mcpguard.guard.standings import Standings
from mcpguard.ledger.ledger import Ledger
from mcpguard.upstreams.fleet import Fleet
from mcpguard.upstreams.surroundings import Lost

if TYPE_CHECKING:
    from mcpguard.codec.canonical import Scalar

PLACEHOLDER = "not-given-during-inspection"


@dataclass(frozen=True, slots=True)
class Inspected:
    """What an inspection came to. `started`: whether the server was started or contacted for it."""

    started: bool
    capabilities: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    left_out: int = 0
    error: str = ""


class Inspecting:
    """Inspects servers."""

    def __init__(self, standings: Standings, intake: Intake, ledger: Ledger, fleet: Fleet, seconds: float) -> None:
        self._standings = standings
        self._intake = intake
        self._ledger = ledger
        self._fleet = fleet
        self._seconds = seconds
        self._now: set[str] = set()

    async def inspect(self, name: str, decision: Decision, *, consent: bool, give: frozenset[str]) -> Inspected:
        """Raises Unknown, NeedsConsent, Undecidable, Forbidden or LedgerUnavailable."""
        authorised(Answer.INSPECT, decision)
        known = self._standings.registry.get(name)
        if known.upstream.standing is UpstreamStanding.BLOCKED:
            raise Undecidable(f"{name} is blocked; quarantine it first if it should be looked at again")
        if known.runs:
            return await self._listed_again(known, decision)
        if isinstance(known.declared.launch, StdioLaunch) and not consent:
            raise NeedsConsent(consequences(known.declared.launch))
        declared = known.declared
        bare = without_secrets(declared, give)
        if name in self._now:
            raise Undecidable(f"{name} is being inspected already")
        self._now.add(name)
        try:
            await self._record(known, decision, give)
            return await self._visit(known, declared, bare, decision)
        finally:
            self._now.discard(name)

    async def _visit(self, known: Known, declared: Declared, bare: Declared, decision: Decision) -> Inspected:
        """`declared` is what was looked at, whatever is declared by the time that it has answered."""
        try:
            listing = await self._fleet.visit(bare)
            taken = await self._intake.take_in(known, declared, listing, decision.by, runs=False)
        except (Lost, Unreadable) as error:
            return Inspected(started=True, error=str(error))
        if known.declared.launch != declared.launch:
            return Inspected(started=True, error="it is declared otherwise by now; inspect it again")
        left_out = sum(taken.left_out.values())
        return Inspected(True, taken.capabilities, taken.new, taken.changed, taken.gone, left_out)

    async def _listed_again(self, known: Known, decision: Decision) -> Inspected:
        before = known.listing
        await self._record(known, decision, frozenset())
        with anyio.move_on_after(self._seconds):
            while known.listing is before or known.listing is None:
                moved = known.moved
                if not self._fleet.confirm(known.name):
                    return Inspected(started=False, error="it is not connected now; mcpguard server list says why")
                await moved.wait()
            present = [pin for pin in known.pins.values() if pin.present]
            waiting = sum(pin.waits for pin in present)
            return Inspected(started=False, capabilities=len(present), new=waiting)
        return Inspected(started=False, error=f"it did not list what it offers within {self._seconds:g} seconds")

    async def _record(self, known: Known, decision: Decision, give: frozenset[str]) -> None:
        upstream, by = known.upstream, decision.by
        said: dict[str, Scalar] = {
            "server": upstream.name,
            "upstream": upstream.id,
            "started": not known.runs,
            "profile": "none",
            "given": " ".join(sorted(give)),
            "why": decision.why,
            "by": by.id,
            "via": by.via,
            "process": by.process,
        }
        if upstream.identity is not None:
            said["fingerprint"] = upstream.identity.launch.text
        fields = {name: value for name, value in said.items() if value != ""}
        await self._ledger.together(lambda _, append: append(RecordKind.INSPECTED, fields))


def consequences(launch: StdioLaunch) -> str:
    """What consent means."""
    folder = f" in {launch.folder}" if launch.folder else ""
    command = shlex.join((launch.command, *launch.arguments))
    return (
        "mcpguard cannot confine what it starts: this would run with everything that the guard's own account may do, "
        f"and needs your consent (--consent): {command}{folder}"
    )


def without_secrets(declared: Declared, give: frozenset[str]) -> Declared:
    """The declaration as it is inspected. Raises Undecidable if something is to be given that it does not have."""
    launch = declared.launch
    names = launch.headers if isinstance(launch, RemoteLaunch) else launch.environment
    if strange := sorted(give - names.keys()):
        raise Undecidable(f"{declared.name} has no variable or header {', '.join(strange)} that could be given to it")
    if isinstance(launch, RemoteLaunch):
        headers = {name: value for name, value in launch.headers.items() if name in give}
        return replace(declared, launch=replace(launch, headers=headers))
    environment = {
        name: value if name in give or is_code(name) else PLACEHOLDER for name, value in launch.environment.items()
    }
    return replace(declared, launch=replace(launch, environment=environment))
