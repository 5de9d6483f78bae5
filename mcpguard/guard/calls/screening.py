"""What servers say, before anybody else hears it: replies, errors, messages on the way, and what they ask.

Rules kept here:
1. Every reply passes here once, whole, before its closing is stored and before it is cut, whatever way it came.
2. How it is screened is what stands for its server at that moment. `off` looks at nothing but the size. In no mode
   does anything pass in `_meta` that is ours to say.
3. What is withheld was executed, and the outcome says so. What was found is told in `_meta` and in the record: rules
   and our titles, never a text. An error has no `_meta`; of it the record alone tells.
4. A glance is taken at once. Whatever has to be read is read aside, of one server so much at a time, and no longer than
   reading may take; a reply that is not read by then is withheld. Waiting for others of that server does not count.
5. A message cannot wait. One that is too long to be read at once is passed on unread, and where that is not enough it
   is dropped. Of one that is very long only the beginning is passed on, and nothing that messages do not have.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from anyio import CapacityLimiter, to_thread

from mcpguard.codec import envelope
from mcpguard.codec.findings import titles
from mcpguard.codec.messages import dumps
from mcpguard.domain.asks import Ask, Asks
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.clock import Clock
from mcpguard.domain.findings import Evidence, Severity
from mcpguard.domain.reasons import Reason
from mcpguard.domain.screening import Screened, Screening
from mcpguard.domain.servers.pins import Pin
from mcpguard.guard.servers.neighbours import NeighbourTools
from mcpguard.guard.servers.servers import Servers
from mcpguard.inspection.detectors.detector import DetectorRule, Surroundings
from mcpguard.inspection.replies.screening import OutOfTime, ScreenedReply, is_plain, screen_reply
from mcpguard.policy.arguments.fitting import CALL
from mcpguard.policy.arguments.schemas import Anything, Checks
from mcpguard.policy.secrets.hiding import Values
from mcpguard.settings.model import Settings

LARGE: Final = 32 * 1024
"""Bytes; at a smaller reply a glance is taken at once."""
READ_AT_ONCE: Final = 2048
"""Bytes of a message that is read while others wait."""
AT_ONCE: Final = 2
"""Replies of one server that are read aside at the same time."""
MOST_TOLD: Final = 10
_OF_MESSAGES: Final = ("level", "logger", "data", "progress", "total", "message")
MOST_RULES: Final = 20
STRUCTURE: Final = "structuredContent"
_UNREAD: Final = DetectorRule(
    "message.unread", "T27", Severity.INFO, 0.0, "Exceeds the scan limit of a message, so it was not scanned"
)
_UNTOLD: Final = DetectorRule(
    "schema.unverified",
    "T9",
    Severity.LOW,
    0.1,
    "Returns a result that could not be validated against its output schema",
)
_NOWHERE: Final = Evidence("", 0, 0)


T = TypeVar("T")


class SaidByServer(Protocol):
    """What a server said in answer to one call: a result, or an error; neither where it is withheld."""

    result: dict[str, Any] | None
    error: dict[str, Any] | None


class Noticed:
    """What was found in what a server said in one call beside its reply."""

    def __init__(self) -> None:
        self.rules: dict[str, None] = {}
        self.masked = 0

    def add(self, looked: ScreenedReply) -> None:
        self.masked += looked.masked
        self.rules |= dict.fromkeys(each.rule for each in looked.found)


class Screener:
    """Screens. `given`: what the guard gave a server by its name, and is a secret."""

    def __init__(
        self,
        servers: Servers,
        around: NeighbourTools,
        given: Callable[[str], frozenset[str]],
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._servers = servers
        self._around = around
        self._given = given
        self._values: dict[str, tuple[frozenset[str], Values]] = {}
        self._largest = settings.replies.largest
        self._patience = settings.screening.patience_seconds
        self._clock = clock
        self._limiters: dict[str, CapacityLimiter] = {}

    async def reply(
        self, server: str, method: str, pin: Pin | None, outcome: Outcome, said: SaidByServer, noticed: Noticed
    ) -> Outcome:
        """The outcome of a call with what was found; `said` is left as it is to be passed on."""
        mode = self._servers.screening(server)
        value = said.result if said.result is not None else said.error
        if value is None or outcome.reply is None or outcome.reason is not None:
            said.result = said.error = None
            return self._ended(outcome, mode, noticed)
        size, reason = outcome.reply.size, None
        if size > self._largest:
            reason = Reason.REPLY_TOO_LARGE
        elif mode is Screening.OFF:
            _pass_on(said, await self._cleaned(server, value, size))
        else:
            reason = await self._screened(server, method, pin, size, said, mode, noticed)
        return self._withheld(outcome, said, reason, mode, noticed) if reason else self._ended(outcome, mode, noticed)

    async def _cleaned(self, server: str, value: Mapping[str, Any], size: int) -> dict[str, Any]:
        """Without what is ours to say. Where much is nested in it, that takes long."""
        if size <= LARGE:
            return envelope.without_our_keys(value)
        return await self._aside(server, partial(envelope.without_our_keys, value))

    async def _aside(self, server: str, work: Callable[[], T]) -> T:
        limiter = self._limiters.setdefault(server, CapacityLimiter(AT_ONCE))
        return await to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True)

    async def _screened(
        self,
        server: str,
        method: str,
        pin: Pin | None,
        size: int,
        said: SaidByServer,
        mode: Screening,
        noticed: Noticed,
    ) -> Reason | None:
        """Why it is withheld."""
        is_result = said.result is not None
        value = (said.result if is_result else said.error) or {}
        checks = self._checks(server, method, pin) if is_result and value.get("isError") is not True else None
        try:
            fits, looked = await self._looked(server, value, mode, size, checks)
        except OutOfTime:
            return Reason.REPLY_UNSCREENED
        if fits is None:
            looked = replace(looked, found=(*looked.found, _UNTOLD.finding_at(_NOWHERE)))
        noticed.add(looked)
        if fits is False or (fits is None and mode is Screening.REFUSE):
            return Reason.REPLY_INVALID
        if mode is Screening.REFUSE and looked.hard:
            return Reason.REPLY_SCREENED
        _pass_on(said, _telling(looked, mode) if is_result else looked.value)
        return None

    def message(self, server: str, params: Mapping[str, Any], noticed: Noticed) -> Mapping[str, Any] | None:
        """What a server says while it works on a call; None where it is dropped."""
        mode, size = self._servers.screening(server), len(dumps(params))
        bare = envelope.without_our_keys(params if size <= LARGE else _in_short(params))
        if mode is Screening.OFF:
            return bare
        given, around = self._values_of(server), self._around(server)
        if size <= LARGE and is_plain(bare, given, around):
            return bare
        if size > READ_AT_ONCE:
            looked = ScreenedReply(bare, (_UNREAD.finding_at(_NOWHERE),), hard=True)
            unfit = mode is not Screening.NOTE or given.within(dumps(bare).decode())
        else:
            looked = screen_reply(bare, mode, given, around, lambda: True)
            unfit = mode is Screening.REFUSE and looked.hard
        noticed.add(looked)
        return None if unfit else _telling(looked, mode)

    async def questions(
        self, server: str, asks: Asks
    ) -> tuple[dict[str, Ask], dict[str, ScreenedReply], Reason | None]:
        """What is put to a client, what was found in each of it, and why it is not put to them."""
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
                _, looked = await self._looked(server, params, mode, len(dumps(params)), None)
            except OutOfTime:
                return passed, found, Reason.UPSTREAM_REQUEST_SCREENED
            if looked.found:
                found[name] = looked
            passed[name] = Ask(ask.method, _telling(looked, mode))
        refused = mode is Screening.REFUSE and any(looked.hard for looked in found.values())
        return passed, found, Reason.UPSTREAM_REQUEST_SCREENED if refused else None

    async def _looked(
        self, server: str, value: Mapping[str, Any], mode: Screening, size: int, checks: Checks | None
    ) -> tuple[bool | None, ScreenedReply]:
        """Whether the structure is what it has to be, None where that cannot be told; and what was found."""
        given, around = self._values_of(server), self._around(server)
        if size <= LARGE and is_plain(bare := envelope.without_our_keys(value), given, around):
            return _fits(bare, checks), ScreenedReply(bare)
        return await self._aside(server, partial(self._read, value, mode, given, around, checks))

    def _read(
        self, value: Mapping[str, Any], mode: Screening, given: Values, around: Surroundings, checks: Checks | None
    ) -> tuple[bool | None, ScreenedReply]:
        until = self._clock.monotonic() + self._patience
        still, bare = partial(self._is_before, until), envelope.without_our_keys(value)
        return _fits(bare, checks), screen_reply(bare, mode, given, around, still)

    def _is_before(self, until: float) -> bool:
        return self._clock.monotonic() < until

    def _checks(self, server: str, method: str, pin: Pin | None) -> Checks | None:
        known = self._servers.find(server)
        return self._servers.checking.returned(known, pin) if known and pin and method == CALL else None

    def _values_of(self, server: str) -> Values:
        given, kept = self._given(server), self._values.get(server)
        if kept is None or kept[0] != given:
            kept = self._values[server] = given, Values(given)
        return kept[1]

    def _withheld(
        self, outcome: Outcome, said: SaidByServer, why: Reason, mode: Screening, noticed: Noticed
    ) -> Outcome:
        said.result = said.error = None
        return replace(self._ended(outcome, mode, noticed), reason=why)

    def _ended(self, outcome: Outcome, mode: Screening, noticed: Noticed) -> Outcome:
        if not noticed.rules and not noticed.masked:
            return outcome
        return replace(outcome, screened=Screened(mode, tuple(noticed.rules)[:MOST_RULES], noticed.masked))


def _pass_on(said: SaidByServer, value: dict[str, Any]) -> None:
    """In the place of what came."""
    if said.result is not None:
        said.result = value
    else:
        said.error = value


def _in_short(params: Mapping[str, Any]) -> dict[str, Any]:
    """Of a message that is very long what messages have, as text and as much as is passed on of one."""
    known = {name: params[name] for name in _OF_MESSAGES if name in params}
    return {
        name: _text(value)[:LARGE] if isinstance(value, str | dict | list) else value for name, value in known.items()
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else dumps(value).decode()


def _fits(value: Mapping[str, Any], checks: Checks | None) -> bool | None:
    """Whether a result has the structure that it has to have. One that is left out has not."""
    if checks is None or isinstance(checks, Anything):
        return True
    return checks.describes(value[STRUCTURE]) if STRUCTURE in value else False


def _telling(looked: ScreenedReply, mode: Screening) -> dict[str, Any]:
    """What was looked at, with what was found in it."""
    value: dict[str, Any] = looked.value
    if not looked.found and not looked.masked:
        return value
    told = {"mode": mode.value, "rules": list(rules_of(looked)), "findings": titles(looked.found, MOST_TOLD)}
    return envelope.with_meta(value, {envelope.SCREENED: told | ({"masked": looked.masked} if looked.masked else {})})


def rules_of(looked: ScreenedReply) -> tuple[str, ...]:
    """The worst of them, by their ids."""
    return tuple(each.rule for each in looked.found)[:MOST_RULES]
