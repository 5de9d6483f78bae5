"""The client of a call as its server sees it: carries the server's questions and messages to that client.

Rules kept here:
1. A client is asked only what a person permitted this server to ask, and only what the client declares it supports.
2. Questions and answers are recorded under the call's entry: the question before the client sees it, the answer before
   the server does. A question that cannot be recorded is not asked.
3. Before an answer goes back, the call is judged again with the same arguments: it may have been revoked meanwhile.
4. Questions end with the call: nothing is recorded or put to the client once the call's closing is being written, and
   the client is told that a question is withdrawn before it gets the answer to the call.
5. Questions and messages are screened like replies; a question is recorded as the server sent it, before screening.
6. The number and size of a call's questions are bounded, and so is the client's time to answer. Refused questions count
   too, so that no server can fill the ledger.
"""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcpguard.codec import envelope
from mcpguard.codec.members import known_members
from mcpguard.codec.messages import dumps
from mcpguard.domain.asks import Answers, Ask, AskKind, Asks, Capabilities, QuestionDeclined
from mcpguard.domain.calls.bodies import Body
from mcpguard.domain.calls.counterpart import CallingClient
from mcpguard.domain.calls.records import Opening, RecordKind
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.question_limits import QuestionLimits
from mcpguard.guard.calls.screening import Screener, ScreeningNotes, rules_of
from mcpguard.inspection.replies.screening import ScreenedReply
from mcpguard.policy.asks import client_capabilities, objection, without_other_context

if TYPE_CHECKING:
    from mcpguard.codec.canonical import Scalar

LAST_WORDS: Final = 1.0
"""Seconds in which a client may be told that its questions are withdrawn: that takes no time but its own."""
_ACTIONS = frozenset({"accept", "decline", "cancel"})


class ClientQuestions:
    """The client of one call, with the permissions, limits and screening that apply between it and the server."""

    def __init__(
        self,
        client: CallingClient,
        call: Opening,
        permitted: Callable[[], frozenset[AskKind]],
        objected: Callable[[], Reason | None],
        desk: QuestionLimits,
        screener: Screener,
    ) -> None:
        self.name, self.era = client.name, client.era
        self._client = client
        self._call = call
        self._permitted = permitted
        self._objected = objected
        self._desk = desk
        self.wants_progress, self.log_level = client.wants_progress, client.log_level
        self.notes: ScreeningNotes | None = None
        """What was found in what the server said during the call, if it said anything."""
        self._screener = screener
        self._left = desk.limits.per_call
        self.is_over = False
        """Whether the call has ended: from then on nothing is asked or recorded."""
        self.open_questions = 0
        """How many times the client is being asked now."""
        self._answered: anyio.Event | None = None
        """Set when the client is asked no more, where somebody waits for that."""

    @property
    def _server(self) -> str:
        return self._call.capability.server

    @property
    def capabilities(self) -> Capabilities:
        supported = self._client.capabilities
        return client_capabilities(supported, permitted) if supported and (permitted := self._permitted()) else {}

    def for_call(self, server: str) -> CallingClient:
        return self._client.for_call(server)

    def progress(self, params: Mapping[str, Any]) -> None:
        if (passed := self._screened(params)) is not None:
            self._client.progress(passed)

    def log(self, params: Mapping[str, Any]) -> None:
        if (passed := self._screened(params)) is not None:
            self._client.log(passed)

    def _screened(self, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
        passed, looked = self._screener.message(self._server, params)
        self._take_note(looked)
        return passed

    def _take_note(self, looked: ScreenedReply | None) -> None:
        if looked is not None:
            self.notes = self.notes or ScreeningNotes()
            self.notes.add(looked)

    async def ask(self, asks: Asks) -> Answers:
        """Put the server's questions to the client and return its answers. Raises QuestionDeclined, with the recorded
        reason."""
        try:
            return await self._ask({name: without_other_context(ask) for name, ask in asks.items()})
        except LedgerUnavailable as error:
            raise QuestionDeclined(Reason.LEDGER_UNAVAILABLE) from error

    async def _ask(self, asks: Asks) -> Answers:
        if self._left < 0:
            raise QuestionDeclined(Reason.UPSTREAM_REQUEST_EXCESSIVE)  # recorded when it came to be so
        self._left -= len(asks)
        # The question as it came, not as it was screened: the record shows what the server tried.
        bodies = {name: dumps(ask.params) for name, ask in asks.items()}
        reason = self._objection(asks, bodies)
        found: Mapping[str, ScreenedReply] = {}
        if reason is None:
            asks, found, reason = await self._screener.questions(self._call.capability.server, asks)
        # Recorded before the client sees it, and also where it is refused; but no more of it than a call may ask in
        # all, so that a server cannot fill the audit log with one request.
        for name, ask in islice(asks.items(), self._desk.limits.per_call):
            body = await self._desk.bodies.make_body(self._server, ask.params, bodies[name])
            await self._note(RecordKind.ASKED, ask, body, reason=reason, found=found.get(name))
        if reason is not None:
            raise QuestionDeclined(reason)
        given = await self._answers(asks)
        answers = {name: envelope.bare_params(known_members(ask.kind, given[name])) for name, ask in asks.items()}
        for name, ask in asks.items():
            body = await self._desk.bodies.make_body(self._server, answers[name])
            await self._note(RecordKind.HEARD, ask, body, action=_action(ask, answers[name]))
        # The client took its time. If the call was revoked meanwhile, the server must not get the client's words.
        if (reason := self._objected()) is not None:
            raise QuestionDeclined(reason)
        return answers

    def _objection(self, asks: Asks, bodies: Mapping[str, bytes]) -> Reason | None:
        permitted, capabilities = self._permitted(), self._client.capabilities
        for ask in asks.values():
            if (reason := objection(ask, permitted, capabilities)) is not None:
                return reason
        too_large = any(len(body) > self._desk.limits.question_bytes for body in bodies.values())
        return Reason.UPSTREAM_REQUEST_EXCESSIVE if too_large or self._left < 0 else None

    async def wait_until_withdrawn(self) -> None:
        """Wait until the client was told of each open question that nobody waits for its answer any more."""
        # Also where the call was cancelled: then its client is told nothing else.
        with anyio.move_on_after(LAST_WORDS, shield=True):
            if self.open_questions:
                self._answered = anyio.Event()
                await self._answered.wait()

    async def _answers(self, asks: Asks) -> Answers:
        self.open_questions += 1
        try:
            with self._desk.asking(self._call.caller.id):
                answers = await self._client.ask(asks)
        except QuestionDeclined as declined:
            for ask in asks.values():
                await self._note(RecordKind.HEARD, ask, reason=declined.reason)
            raise
        else:
            # A client of the modern era answers with its request, made once more: that may ask for other log messages.
            self.log_level = self._client.log_level
            return answers
        finally:
            self.open_questions -= 1
            if self._answered is not None and not self.open_questions:
                self._answered.set()

    async def _note(
        self,
        kind: RecordKind,
        ask: Ask,
        body: Body | None = None,
        *,
        reason: Reason | None = None,
        action: str = "",
        found: ScreenedReply | None = None,
    ) -> None:
        fields: dict[str, Scalar] = {
            "entry": self._call.entry,
            "server": self._server,
            "method": ask.method,
        }
        if reason is not None:
            fields["reason"] = reason.value
        if found is not None:
            self._take_note(found)
            fields["found"] = " ".join(rules_of(found))
        if action:
            fields["action"] = action
        # Asked before and after: the call may end while the record is being written, and nothing may follow its
        # closing.
        if not self.is_over:
            await self._desk.ledger.note(kind, fields, body)
        if self.is_over:
            raise QuestionDeclined(Reason.CLIENT_UNANSWERED)


def _action(ask: Ask, answer: Mapping[str, Any]) -> str:
    """What the user did with a form, where the client reports one of the known actions; else empty."""
    action = answer.get("action")
    return action if ask.kind is AskKind.ELICITATION and isinstance(action, str) and action in _ACTIONS else ""
