"""A request as an answer sees it, and what can be done on its account before it is answered."""

import itertools
from typing import TYPE_CHECKING, Any

import anyio

from tests.simulators.parties import Party
from tests.simulators.words import (
    CLIENT_CAPABILITIES,
    LEVELS,
    LOG_LEVEL,
    MISSING_CAPABILITY,
    Id,
    Json,
    RpcError,
    Said,
    Say,
    notification,
    request,
)

if TYPE_CHECKING:
    from tests.simulators.script import Script

CAPABILITY_OF = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
_numbers = itertools.count(1)


class InputRequired(Exception):
    """The modern way to ask the client: the request is answered with questions, and made again with the answers."""

    def __init__(self, requests: Json, state: str | None) -> None:
        super().__init__("input required")
        self.result: Json = {"resultType": "input_required"}
        if requests:
            self.result["inputRequests"] = requests
        if state is not None:
            self.result["requestState"] = state


class Asked:
    """A request (or a notification) of a client."""

    def __init__(self, script: "Script", message: Json, say: Say, party: Party, modern: bool) -> None:
        self.script = script
        self.message = message
        self.say = say
        self.party = party
        self.modern = modern
        self.variables: dict[str, str] = {}

    @property
    def id(self) -> Id:
        id_: Id = self.message["id"]
        return id_

    @property
    def method(self) -> str:
        method: str = self.message["method"]
        return method

    @property
    def params(self) -> Json:
        return self.message.get("params") or {}

    @property
    def meta(self) -> Json:
        return self.params.get("_meta") or {}

    @property
    def name(self) -> str:
        """The tool, prompt or resource that is meant."""
        return str(self.params.get("name", self.params.get("uri", "")))

    @property
    def arguments(self) -> Json:
        return self.params.get("arguments") or {}

    @property
    def capabilities(self) -> Json:
        """What this client says it can do."""
        said: Json = self.meta.get(CLIENT_CAPABILITIES) or {} if self.modern else self.party.capabilities
        return said

    @property
    def answers(self) -> Json:
        """A modern client's answers to what was asked the last time: those that can be answers."""
        said = self.params.get("inputResponses")
        return {name: each for name, each in said.items() if isinstance(each, dict)} if isinstance(said, dict) else {}

    @property
    def state(self) -> str | None:
        return self.params.get("requestState")

    async def notify(self, method: str, params: Json | None = None) -> None:
        """Say something on this request's account, before its answer."""
        await self.say(notification(method, params))

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Heard only by a client that gave a token."""
        if (token := self.meta.get("progressToken")) is not None:
            more = {"total": total, "message": message}
            said = {"progressToken": token, "progress": done} | {k: v for k, v in more.items() if v is not None}
            await self.notify("notifications/progress", said)

    async def log(self, level: str, data: Any, logger: str = "simulated") -> None:  # noqa: ANN401 - any JSON
        """Heard only where the client's level lets it through; a modern client that named none hears nothing."""
        least = self.meta.get(LOG_LEVEL) if self.modern else self.party.level
        if least is not None and LEVELS.index(level) >= LEVELS.index(least):
            await self.notify("notifications/message", {"level": level, "logger": logger, "data": data})

    def require(self, *names: str) -> None:
        """Refuse a client that cannot do what the answer needs."""
        if missing := [name for name in names if name not in self.capabilities]:
            data: Json = {"requiredCapabilities": {name: {} for name in missing}}
            raise RpcError(MISSING_CAPABILITY, f"the client cannot do {', '.join(missing)}", data)

    async def ask(self, method: str, params: Json | None = None) -> Json:
        """A request of ours to a legacy client, while it waits for its answer."""
        id_ = f"server-{next(_numbers)}"
        pending = self.script.expect(id_)
        await self.say(request(id_, method, params))
        return await pending.answer()

    async def need(self, requests: Json, state: str | None = None) -> Json:
        """The client's answers to `requests` (a name → {"method", "params"}), in the way of its era."""
        if not self.modern:
            return {name: await self.ask(each["method"], each.get("params")) for name, each in requests.items()}
        self.require(*dict.fromkeys(CAPABILITY_OF[each["method"]] for each in requests.values()))
        if missing := {name: each for name, each in requests.items() if name not in self.answers}:
            raise InputRequired(missing, state)
        return {name: self.answers[name] for name in requests}

    def __repr__(self) -> str:
        return f"<{self.method} {self.name}>"


class Pending:
    """A request of the server that a client has not answered yet."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._message: Json = {}

    def settle(self, message: Json) -> None:
        self._message = message
        self._event.set()

    async def answer(self) -> Json:
        await self._event.wait()
        if (error := self._message.get("error")) is not None:
            raise RpcError(error["code"], error["message"], error.get("data"))
        answer: Json = self._message["result"]
        return answer


Reply = Said | None
"""What ends a request: a message, something in its place, or nothing at all."""
