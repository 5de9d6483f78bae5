"""One request of a client while it is being answered: where progress, log messages and questions of its call go."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from mcpguard.codec import envelope
from mcpguard.codec.messages import Notification, Request
from mcpguard.domain.asks import Answers, Asks, Capabilities, QuestionDeclined
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway import question_labels
from mcpguard.gateway.clients import LONGEST_NAME, Client
from mcpguard.text.visible import visible

Say = Callable[[Notification | Request], None]


class AskingWay(Protocol):
    """A way to put a server's questions to the client of a request."""

    async def ask(self, say: Say, server: str, asks: Asks) -> Answers:
        """Return the client's answers to all questions. Raises QuestionDeclined."""
        ...


class Exchange:
    """A client's request while it is being answered. `server` is the server that is called, in whose name messages are
    sent.

    `several` says that the request becomes several calls, one after the other. Each server counts its own progress from
    the start, so the steps that the client sees are counted here instead.
    """

    def __init__(self, client: Client, request: Request, say: Say, way: AskingWay | None = None) -> None:
        self.say = say
        self.server = ""
        self.several = False
        self._steps = 0
        self.trace = _trace(envelope.meta(request.params))
        self._way = way
        self.renew(client, request)

    def renew(self, client: Client, request: Request) -> None:
        """Continue with the client's repeated request: its id, progress token and log level are used from now on."""
        self.client = client
        given = envelope.meta(request.params)
        self.id = request.id
        self._token = given.get(envelope.PROGRESS)
        self._level = given.get(envelope.LOG_LEVEL) if self._is_modern else self.client.log_level or "info"

    @property
    def name(self) -> str:
        return self.client.name

    @property
    def era(self) -> Era:
        return self.client.era

    @property
    def capabilities(self) -> Capabilities:
        return self.client.capabilities

    @property
    def wants_progress(self) -> bool:
        return isinstance(self._token, str | int) and not isinstance(self._token, bool)

    @property
    def log_level(self) -> str | None:
        return self._level if self._level in envelope.LEVELS else None

    def progress(self, params: Mapping[str, Any]) -> None:
        if self.several:
            self._steps += 1
            params = {key: said for key, said in params.items() if key != "total"} | {"progress": self._steps}
        if self.wants_progress:
            self.say(Notification("notifications/progress", {envelope.PROGRESS: self._token, **params}))

    def log(self, params: Mapping[str, Any]) -> None:
        least, level = self.log_level, params.get("level")
        if least is not None and level in envelope.LEVELS and not envelope.less_severe(level, least):
            self.say(
                Notification(
                    "notifications/message", question_labels.labelled_message(self.client, self.server, params)
                )
            )

    async def ask(self, asks: Asks) -> Answers:
        if self._way is None:
            raise QuestionDeclined(Reason.CLIENT_UNABLE)
        labelled = {
            name: question_labels.labelled_question(self.client, self.server, ask) for name, ask in asks.items()
        }
        return await self._way.ask(self.say, self.server, labelled)

    @property
    def _is_modern(self) -> bool:
        return self.client.era is Era.MODERN


def _trace(given: Mapping[str, Any]) -> str:
    trace = given.get("traceparent")
    return visible(trace[:LONGEST_NAME])[:LONGEST_NAME] if isinstance(trace, str) else ""
