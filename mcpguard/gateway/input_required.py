"""Calls of modern clients that wait until their client comes back with answers.

A modern client cannot be asked directly: its request is answered with the questions, and it repeats the request with
the answers. Meanwhile the call goes on here, in a task of its own.

Rules kept here:
1. The name of a waiting call is random and works once. It is worth something only to the caller that was given it, at
   the same face and in the same session or stream, with the same request.
2. Answers reach what was asked and nothing else. What was not answered is asked again. A request that names no waiting
   call is a new call; answers that it brings along are used for questions that the server then asks by these names.
3. While a client is connected, its leaving cancels the call; while it is away, the time for its answers runs.
4. A call that ends while its client is away keeps its answer for it, if that is short, until many others wait too.
"""

import itertools
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import anyio

from mcpguard.codec import envelope
from mcpguard.codec.messages import Failure, Notification, Request, Result, write
from mcpguard.domain.asks import Answers, Ask, Asks
from mcpguard.gateway.client_request import AGAIN, RESPONSES, STATE, Exchange, Say
from mcpguard.gateway.clients import LONGEST_NAME, Client
from mcpguard.gateway.open_requests import LAST_WORDS
from mcpguard.gateway.wire import CANCELLED, INVALID_PARAMS, US, RequestRejected, own_error

LONGEST_KEPT: Final = 64 * 1024
MOST_KEPT: Final = 64
PARKED: Final = frozenset({"tools/call", "prompts/get", "resources/read"})
"""The methods that may be answered with questions."""
Answer = Result | Failure
Work = Callable[[Exchange], Awaitable[Answer]]


@dataclass(slots=True, eq=False)
class _Question:
    ask: Ask
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: dict[str, Any] = field(default_factory=dict)


class ParkedCalls:
    """All calls that may wait for their client. `run` must be running while requests are answered."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Parked] = {}
        self._kept: deque[str] = deque()
        self._start: Callable[[_Parked, Work], object] = _nowhere

    async def run(self) -> None:
        """Run the calls until cancelled, which cancels every call."""
        async with anyio.create_task_group() as tasks:
            self._start = lambda call, work: tasks.start_soon(call.run, work, name="call that may wait")
            await anyio.sleep_forever()

    async def begin(self, exchange: Exchange, request: Request, work: Work) -> Answer:
        """Start the work of a request whose client may have to be asked something, and return the answer or the
        questions.
        """
        call = _Parked(self, exchange, request)
        call.bring((request.params or {}).get(RESPONSES))
        self._start(call, work)
        return await call.attend(exchange, request)

    async def resume(self, exchange: Exchange, request: Request) -> Answer | None:
        """Continue the waiting call that this request names; return None where it names none."""
        state = (request.params or {}).get(STATE)
        call = self._waiting.get(state) if isinstance(state, str) else None
        if call is None or not call.is_of(exchange.client, request):
            return None
        del self._waiting[call.state]
        return await call.attend(exchange, request)

    def end_session(self, session: str) -> None:
        """Cancel what waits for the clients of a session or stream that has ended."""
        for call in [each for each in self._waiting.values() if each.client.session == session]:
            call.scope.cancel()
            del self._waiting[call.state]

    def end_caller(self, caller: str) -> None:
        """Forget what waits for a revoked caller. Its calls have been cut off already and get a moment to say so."""
        for call in [each for each in self._waiting.values() if each.client.caller.id == caller]:
            call.scope.deadline = anyio.current_time() + LAST_WORDS
            del self._waiting[call.state]

    def wait_for(self, call: "_Parked") -> str:
        """Return a new name under which the call's client may come back."""
        call.state = secrets.token_urlsafe(32)
        self._waiting[call.state] = call
        return call.state

    def finish(self, call: "_Parked", answer: Answer | None) -> None:
        """Keep the answer of a call that ended while its client was away, within the limits."""
        if call.state not in self._waiting:
            return
        if answer is None or len(write(answer)) + len(write(call.request)) > LONGEST_KEPT:
            del self._waiting[call.state]
            return
        self._kept.append(call.state)
        if len(self._kept) > MOST_KEPT:
            self._waiting.pop(self._kept.popleft(), None)


class _Parked:
    """A call that may wait for its client."""

    def __init__(self, parking: ParkedCalls, exchange: Exchange, request: Request) -> None:
        self.client = exchange.client
        self.scope = anyio.CancelScope()
        self.state = ""
        self._parking = parking
        self.request = request
        self._exchange = Exchange(exchange.client, request, self._say, self, exchange.peer)
        self._numbers = itertools.count(1)
        self._open: dict[str, _Question] = {}
        self._brought: dict[str, Any] = {}
        self._hears: Say | None = None
        self._stirred = anyio.Event()
        self._answer: Answer | None = None

    def is_of(self, client: Client, request: Request) -> bool:
        """Tell whether this client made the call, with the same request."""
        mine = self.client
        return (
            (mine.caller.id, mine.face.key, mine.door, mine.session)
            == (client.caller.id, client.face.key, client.door, client.session)
            and self.request.method == request.method
            and _salient(self.request) == _salient(request)
        )

    def bring(self, responses: object) -> None:
        """Keep the answers that came with the request, for questions that are still to be asked."""
        self._brought = dict(responses) if isinstance(responses, Mapping) else {}

    async def run(self, work: Work) -> None:
        try:
            with self.scope:
                self._answer = await work(self._exchange)
        finally:
            self._parking.finish(self, self._answer)
            if self._answer is None:
                self._answer = Failure(self.request.id, own_error(CANCELLED, "the request was cancelled"))
            self._stirred.set()

    async def attend(self, exchange: Exchange, request: Request) -> Answer:
        """Wait with the client until the call is answered or a question comes."""
        self._hears = exchange.say
        self._exchange.continue_as(exchange)
        self._take((request.params or {}).get(RESPONSES))
        try:
            while self._answer is None:
                if self._open:
                    return Result(request.id, self._asked())
                self._stirred = anyio.Event()
                await self._stirred.wait()
            return replace(self._answer, id=request.id)
        except anyio.get_cancelled_exc_class():
            self.scope.cancel()
            raise
        finally:
            self._hears = None

    async def ask(self, _say: Say, server: str, asks: Asks) -> Answers:
        """Wait for the answers that the client brings when it comes back."""
        posed: dict[str, tuple[str, _Question]] = {}
        for name, ask in asks.items():
            id_, question = posed[name] = self._id(server, name), _Question(ask)
            self._open[id_] = question
            self._take({id_: self._brought.pop(id_, None)})
        self._stirred.set()
        try:
            for _, question in posed.values():
                await question.done.wait()
        finally:
            for id_, _ in posed.values():
                self._open.pop(id_, None)
        return {name: question.answer for name, (_, question) in posed.items()}

    def _id(self, server: str, name: str) -> str:
        """Return the server's name for its question, or a new one if that is missing, taken or too long."""
        id_ = name if len(name) <= LONGEST_NAME else ""
        while not id_ or id_ in self._open:
            id_ = f"{server}:{next(self._numbers)}"
        return id_

    def _asked(self) -> dict[str, Any]:
        wanted = {
            id_: {"method": question.ask.method, "params": dict(question.ask.params)}
            for id_, question in self._open.items()
        }
        return envelope.input_required(wanted, self._parking.wait_for(self), US)

    def _take(self, responses: object) -> None:
        for id_, answer in responses.items() if isinstance(responses, Mapping) else ():
            if isinstance(answer, dict) and (question := self._open.pop(id_, None)) is not None:
                question.answer = answer
                question.done.set()

    def _say(self, said: Notification | Request) -> None:
        if self._hears is not None:
            self._hears(said)


def _nowhere(_call: _Parked, _work: Work) -> object:
    raise RuntimeError("calls are made before there is a task for them")


def _salient(request: Request) -> dict[str, Any]:
    """Return what makes two requests the same: all parameters but those of the round itself."""
    return {key: value for key, value in (request.params or {}).items() if key not in ("_meta", *AGAIN)}


def unknown_state() -> RequestRejected:
    """Return the refusal of a request that names no waiting call of its client."""
    sentence = "requestState is unknown, used or expired, or belongs to another client; make the call again"
    return RequestRejected(INVALID_PARAMS, sentence, "request state")
