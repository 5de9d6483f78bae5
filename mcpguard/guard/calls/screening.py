"""Screens everything that servers say before anybody else gets it: replies, errors, messages and questions.

Rules kept here:
1. Every reply is screened once, whole, before its closing is stored and before it is truncated, whichever way it came.
2. The mode is the one set for the server at that moment. `off` checks only the size. No mode passes on `_meta` keys
   that only the guard may set.
3. A withheld call was executed, and the outcome says so. Findings are reported in `_meta` and in the record, as rules
   and the guard's own titles, never as text. An error has no `_meta`, so only its record has them.
4. A quick check runs at once. A full scan runs in a thread, a few per server at a time, within a time limit; a reply
   that is not scanned by then is withheld. Waiting for other scans of that server does not count.
5. A message cannot wait. One too long to scan at once is passed on unscanned, or dropped if the mode is stricter or it
   contains a secret of that server. A very long one is truncated, and reduced to the members that the protocol defines.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from anyio import CapacityLimiter, to_thread

from mcpguard.codec import envelope
from mcpguard.codec.findings import titles
from mcpguard.codec.messages import dumps
from mcpguard.domain.asks import Ask, Asks
from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Outcome, OutcomeKind
from mcpguard.domain.clock import Clock
from mcpguard.domain.findings import Evidence
from mcpguard.domain.reasons import Reason
from mcpguard.domain.screening import Screening, ScreeningResult
from mcpguard.domain.servers.pins import Pin
from mcpguard.guard.servers.neighbours import NeighbourTools
from mcpguard.guard.servers.servers import Servers
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.replies.plain_replies import is_plain
from mcpguard.inspection.replies.screening import OutOfTime, ScreenedReply, screen_reply
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.policy.arguments.argument_checks import CALL
from mcpguard.policy.arguments.schemas import ANYTHING, AcceptsAnything, SchemaChecks
from mcpguard.policy.secrets.known_secrets import NO_SECRETS, KnownSecrets
from mcpguard.settings.model import Settings

LARGE: Final = 32 * 1024
"""Bytes; a smaller reply is glanced at in the event loop."""
READ_AT_ONCE: Final = 2048
"""Bytes of a message that is read while others wait."""
AT_ONCE: Final = 2
"""Replies of one server that are read aside at the same time."""
MOST_TOLD: Final = 10
_OF_MESSAGES: Final = ("level", "logger", "data", "progress", "total", "message")
MOST_RULES: Final = 20
STRUCTURE: Final = "structuredContent"
_UNREAD: Final = RULES["message.unread"]
_UNVERIFIED: Final = RULES["schema.unverified"]
_NOWHERE: Final = Evidence("", 0, 0)


T = TypeVar("T")
Screened = tuple[Outcome, dict[str, Any] | None]
"""The outcome of a call with what was found in it, and what is passed on; None where that is withheld."""


class ScreeningNotes:
    """Everything that screening found in what a server said during one call, its reply included."""

    def __init__(self) -> None:
        self._rules: dict[str, None] = {}
        self._masked = 0

    def add(self, looked: ScreenedReply) -> None:
        """Count what was found in one message, question or reply."""
        self._masked += looked.masked
        self._rules |= dict.fromkeys(each.rule for each in looked.found)

    def in_outcome(self, outcome: Outcome, mode: Screening) -> Outcome:
        """The outcome, with what was found where that is anything."""
        if not self._rules and not self._masked:
            return outcome
        return replace(outcome, screened=ScreeningResult(mode, tuple(self._rules)[:MOST_RULES], self._masked))


class Screener:
    """Screens what servers say. `given` has the secrets that the guard gave to each server."""

    def __init__(
        self,
        servers: Servers,
        around: NeighbourTools,
        given: Mapping[str, KnownSecrets],
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._servers = servers
        self._around = around
        self._given = given
        self._largest = settings.replies.largest
        self._patience = settings.screening.patience_seconds
        self._clock = clock
        self._limiters: dict[str, CapacityLimiter] = {}
        self.mode = servers.screening
        """The screening mode of a server."""

    async def reply(
        self,
        server: str,
        method: str,
        pin: Pin | None,
        outcome: Outcome,
        said: dict[str, Any],
        notes: ScreeningNotes | None,
        *,
        is_result: bool,
    ) -> Screened:
        """Screen the result or error with which a server ended a call, in the mode that applies to it now.

        `notes` has what was found during the call; None where the server said nothing until its end.
        """
        mode, body = self._servers.screening(server), outcome.reply
        if body is None or outcome.reason is not None:
            return _noted(outcome, mode, notes), None
        # The size comes first: a reply that is too large is not even searched.
        size = len(body.masked) if isinstance(body, KeptBody) else body.size
        if size > self._largest:
            return _noted(replace(outcome, reason=Reason.REPLY_TOO_LARGE), mode, notes), None
        if mode is Screening.OFF:
            return _noted(outcome, mode, notes), await self._cleaned(server, said, size)
        checks: SchemaChecks = ANYTHING
        if method == CALL and pin is not None and outcome.kind is OutcomeKind.ANSWERED:
            checks = self._servers.result_checks(server, pin)
        given, around = self._given.get(server, NO_SECRETS), self._around.kept.get(server) or self._around(server)
        if size <= LARGE:
            written = body.masked if isinstance(body, KeptBody) and body.clear else None
            bare = said
            # Without a slash, and without characters that look like others, no name in it can be read as ours.
            if written is None or b"/" in written or not written.isascii():
                bare = envelope.without_our_keys(said)
            if is_plain(bare, given, around, clear=written is not None):
                fits = True if checks is ANYTHING else _fits(bare, checks)
                if fits:
                    return outcome if notes is None else notes.in_outcome(outcome, mode), bare
                return _passed_on(outcome, mode, fits, ScreenedReply(bare), notes, is_result=is_result)
        try:
            fits, looked = await self._aside(server, partial(self._read, said, mode, given, around, checks))
        except OutOfTime:
            # A reply that takes too long to read is withheld: else a server could hide text behind much of it.
            outcome, fits, looked = replace(outcome, reason=Reason.REPLY_UNSCREENED), True, ScreenedReply(None)
        return _passed_on(outcome, mode, fits, looked, notes, is_result=is_result)

    async def _cleaned(self, server: str, value: Mapping[str, Any], size: int) -> dict[str, Any]:
        """The reply without `_meta` that only the guard may set. In a thread where it is large, as that takes long."""
        if size <= LARGE:
            return envelope.without_our_keys(value)
        return await self._aside(server, partial(envelope.without_our_keys, value))

    async def _aside(self, server: str, work: Callable[[], T]) -> T:
        # One limiter for each server: replies that take long to read hold up the calls of that server alone.
        limiter = self._limiters.setdefault(server, CapacityLimiter(AT_ONCE))
        return await to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True)

    def message(self, server: str, params: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, ScreenedReply | None]:
        """What is passed on of a message that a server sends while it works on a call, None where it is dropped; and
        what was found in it."""
        mode, size = self._servers.screening(server), len(dumps(params))
        # In every mode: a server must not pose as the guard by setting `_meta` that is ours.
        bare = envelope.without_our_keys(params if size <= LARGE else _shortened(params))
        if mode is Screening.OFF:
            return bare, None
        given, around = self._given.get(server, NO_SECRETS), self._around(server)
        if size <= LARGE and is_plain(bare, given, around):
            return bare, None
        if size > READ_AT_ONCE:
            # Messages are read in the event loop: a long one would hold up every other call.
            looked = ScreenedReply(bare, (_UNREAD.finding_at(_NOWHERE),), hard=True)
            unfit = mode is not Screening.NOTE or given.occur_in(dumps(bare).decode())
        else:
            looked = screen_reply(bare, mode, given, around, lambda: True)
            unfit = mode is Screening.REFUSE and looked.hard
        return (None if unfit else _with_findings(looked, mode)), looked

    async def questions(
        self, server: str, asks: Asks
    ) -> tuple[dict[str, Ask], dict[str, ScreenedReply], Reason | None]:
        """The questions as they are put to a client, what was found in each, and why they are not put to it, if so."""
        mode = self._servers.screening(server)
        passed, found = (
            {name: Ask(ask.method, envelope.without_our_keys(ask.params)) for name, ask in asks.items()},
            dict[str, ScreenedReply](),
        )
        if mode is Screening.OFF:
            return passed, found, None
        for name, ask in passed.items():
            params = ask.params
            try:
                looked = await self.look(server, params, mode)
            except OutOfTime:
                return passed, found, Reason.UPSTREAM_REQUEST_SCREENED
            if looked.found:
                found[name] = looked
            passed[name] = Ask(ask.method, _with_findings(looked, mode))
        refused = mode is Screening.REFUSE and any(looked.hard for looked in found.values())
        return passed, found, Reason.UPSTREAM_REQUEST_SCREENED if refused else None

    async def look(self, server: str, params: Mapping[str, Any], mode: Screening) -> ScreenedReply:
        """What is found in a question, or in what else this server had a part in. Raises OutOfTime."""
        given, around = self._given.get(server, NO_SECRETS), self._around(server)
        if len(dumps(params)) <= LARGE and is_plain(params, given, around):
            return ScreenedReply(params)
        _, looked = await self._aside(server, partial(self._read, params, mode, given, around, ANYTHING))
        return looked

    def _read(
        self,
        value: Mapping[str, Any],
        mode: Screening,
        given: KnownSecrets,
        around: Surroundings,
        checks: SchemaChecks,
    ) -> tuple[bool | None, ScreenedReply]:
        # Measured from here, in the thread: waiting for other replies of the server does not count.
        until = self._clock.monotonic() + self._patience
        still, bare = partial(self._is_before, until), envelope.without_our_keys(value)
        return _fits(bare, checks), screen_reply(bare, mode, given, around, still)

    def _is_before(self, until: float) -> bool:
        return self._clock.monotonic() < until


def _shortened(params: Mapping[str, Any]) -> dict[str, Any]:
    """The members that a message has by the protocol, each cut to what is passed on of a very long one."""
    known = {name: params[name] for name in _OF_MESSAGES if name in params}
    return {
        name: _text(value)[:LARGE] if isinstance(value, str | dict | list) else value for name, value in known.items()
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else dumps(value).decode()


def _fits(value: Mapping[str, Any], checks: SchemaChecks) -> bool | None:
    """Tell whether a result matches its output schema. A result without structured content does not."""
    if isinstance(checks, AcceptsAnything):
        return True
    return checks.describes(value[STRUCTURE]) if STRUCTURE in value else False


def _noted(outcome: Outcome, mode: Screening, notes: ScreeningNotes | None) -> Outcome:
    return outcome if notes is None else notes.in_outcome(outcome, mode)


def _passed_on(
    outcome: Outcome,
    mode: Screening,
    fits: bool | None,
    looked: ScreenedReply,
    notes: ScreeningNotes | None,
    *,
    is_result: bool,
) -> Screened:
    """What is passed on of a reply in which something was found, or that does not match its output schema."""
    reason = outcome.reason
    if fits is None:
        looked = replace(looked, found=(*looked.found, _UNVERIFIED.finding_at(_NOWHERE)))
    if fits is False or (fits is None and mode is Screening.REFUSE):
        reason = Reason.REPLY_INVALID
    elif mode is Screening.REFUSE and looked.hard:
        reason = Reason.REPLY_SCREENED
    notes = notes or ScreeningNotes()
    notes.add(looked)
    if reason is not None:
        return notes.in_outcome(replace(outcome, reason=reason), mode), None
    # An error has no `_meta`, so only its record has the findings.
    return notes.in_outcome(outcome, mode), _with_findings(looked, mode) if is_result else looked.value


def _with_findings(looked: ScreenedReply, mode: Screening) -> dict[str, Any]:
    """The screened value, with the findings in its `_meta`."""
    value: dict[str, Any] = looked.value
    if not looked.found and not looked.masked:
        return value
    told = {"mode": mode.value, "rules": list(rules_of(looked)), "findings": titles(looked.found, MOST_TOLD)}
    return envelope.with_meta(value, {envelope.SCREENED: told | ({"masked": looked.masked} if looked.masked else {})})


def rules_of(looked: ScreenedReply) -> tuple[str, ...]:
    """The rules of the findings, no more than are recorded."""
    return tuple(each.rule for each in looked.found)[:MOST_RULES]
