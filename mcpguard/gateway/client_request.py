"""One request of a client while it is being answered: the call that it makes, and where progress, log messages and
questions of that call go.
"""

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Final, Protocol

from mcpguard.codec import envelope
from mcpguard.codec.messages import Notification, Request
from mcpguard.domain.asks import Answers, Asks, QuestionDeclined
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.peers import THIS_HOST, NetworkPeer
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway import question_labels
from mcpguard.gateway.clients import LONGEST_NAME, Client
from mcpguard.gateway.validation import invalid_parameters
from mcpguard.guard.calls.request import CallRequest, ReplyPage
from mcpguard.guard.servers.argument_checks import Arguments
from mcpguard.policy.intents import StatedIntent
from mcpguard.text.visible import visible

STATE: Final = "requestState"
RESPONSES: Final = "inputResponses"
AGAIN: Final = (STATE, RESPONSES)
"""What a request carries when it is made again."""
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
    the start, so the steps that the client sees are counted here instead. `peer`: where the request comes from.
    """

    def __init__(
        self, client: Client, request: Request, say: Say, way: AskingWay | None = None, peer: NetworkPeer = THIS_HOST
    ) -> None:
        self.say = say
        self.peer = peer
        self.server = ""
        self.several = False
        self._steps = 0
        self._way = way
        self.client, self.id = client, request.id
        self.name, self.era, self.capabilities = client.name, client.era, client.capabilities
        given = request.params.get("_meta") if request.params else None
        if not isinstance(given, dict):
            given = {}
        trace = given.get("traceparent")
        self.trace = visible(trace[:LONGEST_NAME])[:LONGEST_NAME] if isinstance(trace, str) else ""
        token = self.token = given.get(envelope.PROGRESS)
        self.wants_progress = token is not None and isinstance(token, str | int) and not isinstance(token, bool)
        level = given.get(envelope.LOG_LEVEL) if client.era is Era.MODERN else client.log_level or "info"
        self.log_level = level if level in envelope.LEVELS else None

    def continue_as(self, repeated: "Exchange") -> None:
        """Continue with the client's repeated request: its id, progress token and log level are used from now on."""
        self.client, self.id = repeated.client, repeated.id
        self.name, self.era, self.capabilities = repeated.name, repeated.era, repeated.capabilities
        self.token, self.wants_progress, self.log_level = repeated.token, repeated.wants_progress, repeated.log_level

    def for_call(self, server: str) -> "Exchange":
        # One of its own for each, as questions of servers are put in the name of the one that asks.
        own = copy(self)
        own.server, own.wants_progress = server, False
        return own

    def progress(self, params: Mapping[str, Any]) -> None:
        if self.several:
            self._steps += 1
            params = {key: said for key, said in params.items() if key != "total"} | {"progress": self._steps}
        if self.wants_progress:
            self.say(Notification("notifications/progress", {envelope.PROGRESS: self.token, **params}))

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


def call_request(
    exchange: Exchange,
    method: str,
    named: Capability,
    params: Mapping[str, Any],
    *,
    pinned: Capability | None = None,
    watcher: object | None = None,
    stated: StatedIntent | None = None,
    page: ReplyPage | None = None,
    parent: str = "",
) -> CallRequest:
    """Build the call from a request. Answers to questions that nobody asked are left out, and so are arguments that
    are null, which are judged as none: a server gets exactly what was judged. Raises RequestRejected.

    What is recorded of a call can be stored in every database. A NUL character cannot, and no server's name for
    anything has one.
    """
    client = exchange.client
    if "\0" in named.server or "\0" in named.name:
        raise invalid_parameters("a name or a URI cannot contain a NUL character")
    own = envelope.bare_params(params)
    for key in AGAIN:
        own.pop(key, None)
    if own.get("arguments", ...) is None:
        del own["arguments"]
    return CallRequest(
        caller=client.caller,
        face=client.face.word,
        given=Arguments(method, own),
        capability=named,
        client=client.name,
        peer=exchange.peer,
        pinned=pinned,
        trace=exchange.trace,
        watcher=watcher,
        stated=stated,
        page=page,
        session=client.session,
        parent=parent,
    )
