"""Records how inspections begin and end, and remembers why one failed.

Rules kept here:
1. The beginning is stored with the server before anything runs, and stays until the end is known. A success leaves a
   listing (`policy.quarantine`); a failure leaves its reason, in a record and with the server.
2. An inspection that is interrupted, by any cause, has failed. If the guard could not record that before it ended, it
   does so at its next start.
3. The remembered failure belongs to the inspected launch. If the launch has changed, or the server has listed since,
   only the record is kept.
4. The server's own words are kept with the server, apart from the reason: no record contains them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import structlog

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor, Decision, Undecidable, Unknown
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.review.logs.last_words import LastWords
from mcpguard.guard.servers import facts
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.standings import ServerChange, Standings
from mcpguard.text.visible import visible
from mcpguard.upstreams.process.logs import LogMark
from mcpguard.upstreams.protocol.error_sentences import without_last_words

CUT_OFF: Final = "the inspection was interrupted"
GUARD_ENDED: Final = "the inspection was interrupted: the guard stopped, or could not record the result"
LONGEST: Final = 1000
"""Characters of the reason that are kept."""
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class BegunInspection:
    """An inspection that has begun. `launch`: of what is inspected; `mark`: how far the server's log was written
    before."""

    known: ServerState
    inspection: Inspection
    launch: Fingerprint | None
    by: Actor
    mark: LogMark


class InspectionRecords:
    """Records of each server that an inspection has begun, and how it failed."""

    def __init__(self, standings: Standings, last_words: LastWords, clock: Clock) -> None:
        self.registry = standings.registry
        self._standings = standings
        self._last_words = last_words
        self._clock = clock

    async def begin(
        self, known: ServerState, declared: DeclaredServer, decision: Decision, give: Iterable[str] = (), *, ran: bool
    ) -> BegunInspection:
        """Record that an inspection begins. `ran`: whether the server ran when that was decided.

        Raises Undecidable if the server was blocked, changed, started or stopped meanwhile.
        """
        mark = await self._last_words.begin(known.name)
        inspection = Inspection(self._clock.now(), decision.by.id)

        def begun(known: ServerState) -> ServerChange:
            decision.by.check()
            check_not_blocked(known)
            if known.declared.launch != declared.launch or known.runs is not ran:
                raise Undecidable(f"{known.name} was started, stopped or changed meanwhile; inspect it again")
            said = facts.inspection(known.upstream, decision, declared.sandbox, give, started=not ran)
            return ServerChange(replace(known.upstream, inspection=inspection), known.declared, facts=(said,))

        await self._standings.change(known, begun)
        return BegunInspection(known, inspection, _launch(known), decision.by, mark)

    async def record_failure(self, begun: BegunInspection, why: str, given: DeclaredServer, *, started: bool) -> None:
        """Record that an inspection failed. `given`: the declaration with the secrets that the server got.

        Raises Unknown if the server was removed, or LedgerUnavailable.
        """
        wrote = await self._last_words.read_since(begun.known, given, begun.mark)
        await self._end(begun, replace(begun.inspection, why=_bounded(why), started=started, wrote=wrote))

    async def record_cut_off(self, begun: BegunInspection, *, started: bool) -> None:
        """Record that an inspection was cut off. What cannot be recorded now is recorded when the guard starts
        again."""
        try:
            await self._end(begun, replace(begun.inspection, why=CUT_OFF, started=started))
        except (LedgerUnavailable, Unknown) as error:
            log.warning("inspection.unrecorded", server=begun.known.name, why=str(error))

    async def end_unfinished(self) -> None:
        """Record, at a start, the inspections that ended with the guard that ran before. Raises LedgerUnavailable."""
        for known in self.registry:
            inspection = known.upstream.inspection
            if inspection is not None and not inspection.failed:
                begun = BegunInspection(
                    known, inspection, _launch(known), Actor.with_full_rights(inspection.by, "", ""), LogMark()
                )
                await self._end(begun, replace(inspection, why=GUARD_ENDED, started=True), late=True)

    async def _end(self, begun: BegunInspection, failed: Inspection, *, late: bool = False) -> None:
        failed = replace(failed, ended=self._clock.now())

        def ended(known: ServerState) -> ServerChange:
            # A newer inspection may have begun meanwhile. Its state stays, and this failure is only recorded.
            is_last = known.upstream.inspection == begun.inspection
            upstream = replace(known.upstream, inspection=failed) if is_last else known.upstream
            said = facts.failed_inspection(upstream, failed, begun.launch, begun.by, late=late)
            return ServerChange(upstream, known.declared, facts=(said,))

        await self._standings.change(begun.known, ended)


def check_not_blocked(known: ServerState) -> None:
    """Raise Undecidable for a blocked server, which nobody may inspect."""
    if known.upstream.standing is UpstreamStanding.BLOCKED:
        raise Undecidable(f"{known.name} is blocked; quarantine it first to inspect it again")


def _launch(known: ServerState) -> Fingerprint | None:
    return known.upstream.identity.launch if known.upstream.identity else None


def _bounded(why: str) -> str:
    return visible(without_last_words(why))[:LONGEST]
