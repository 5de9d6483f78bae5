"""Questions to clients of the handshake era that are not answered yet.

Rules kept here:
1. An answer counts once, and only from the session or stream that was asked.
2. A question is sent along the request that it belongs to. If that connection is lost, nobody waits for an answer.
3. A question that is not needed any more is cancelled.
"""

import itertools
from dataclasses import dataclass, field

import anyio

from mcpguard.codec.messages import Failure, Id, Notification, Request, Result
from mcpguard.domain.asks import Answers, Asks, QuestionDeclined
from mcpguard.domain.reasons import Reason
from mcpguard.gateway.client_request import Say


@dataclass(slots=True, eq=False)
class _Question:
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: Result | Failure | None = None

    def settle(self, answer: Result | Failure | None) -> None:
        self.answer = answer
        self.done.set()


class OpenQuestions:
    """The open questions to one client."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._open: dict[Id, _Question] = {}

    def line(self) -> "ClientLine":
        """Return a way to ask the client along one of its requests."""
        return ClientLine(self)

    def pose(self, server: str) -> tuple[str, _Question]:
        id_ = f"{server}:{next(self._numbers)}"
        question = self._open[id_] = _Question()
        return id_, question

    def take_answer(self, answer: Result | Failure) -> bool:
        """Take an answer; return whether a question with this id was open."""
        question = self._open.pop(answer.id, None) if answer.id is not None else None
        if question is not None:
            question.settle(answer)
        return question is not None

    def take_back(self, id_: Id) -> bool:
        """Withdraw a question; return whether it was still open."""
        return self._open.pop(id_, None) is not None


class ClientLine:
    """The way to a client along one of its requests."""

    def __init__(self, questions: OpenQuestions) -> None:
        self._questions = questions
        self._posed: dict[Id, _Question] = {}
        self._lost = False

    async def ask(self, say: Say, server: str, asks: Asks) -> Answers:
        """Return the client's answers to all questions. Raises QuestionDeclined."""
        if self._lost:
            raise QuestionDeclined(Reason.CLIENT_UNANSWERED)
        posed: dict[str, tuple[str, _Question]] = {}
        try:
            for name, ask in asks.items():
                id_, question = posed[name] = self._questions.pose(server)
                self._posed[id_] = question
                say(Request(id_, ask.method, dict(ask.params)))
            return {name: await _answer(question) for name, (_, question) in posed.items()}
        finally:
            for id_, _ in posed.values():
                del self._posed[id_]
                if self._questions.take_back(id_) and not self._lost:
                    say(Notification("notifications/cancelled", {"requestId": id_}))

    def lose(self) -> None:
        """End all questions of this request: its client has disconnected."""
        self._lost = True
        for question in self._posed.values():
            question.settle(None)


async def _answer(question: _Question) -> dict[str, object]:
    await question.done.wait()
    match question.answer:
        case Result(_, result):
            return result
        case Failure(_, error):
            raise QuestionDeclined(Reason.CLIENT_UNANSWERED, error)
        case _:
            raise QuestionDeclined(Reason.CLIENT_UNANSWERED)
