"""A server's part: what it offers, what it answers, and everything it was told.

Rules kept here:
1. What is offered or answered is raw JSON that the test can change at any time, also while calls are running.
2. One script plays for any number of clients, over any transport, in both eras at once: a request that says its version
   in `_meta` is modern, any other is legacy. A transport hands every message to `answer` and sends what comes out.
3. As long as nothing is changed the script keeps to the protocol. Misbehaviour is asked for: by an answer that is bytes
   in the place of a result, or by a hook (see hostile.py).
4. Nothing received is checked, hidden or lost: it is in `calls`, in the order in which it came.
"""

import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio

from tests.simulators.asked import Asked, InputRequired, Pending, Reply
from tests.simulators.built_in import ANSWERS, PROMPTS, RESOURCES, TEMPLATES, TOOLS
from tests.simulators.envelope import complete, problem
from tests.simulators.methods import METHODS
from tests.simulators.parties import Listen, Party
from tests.simulators.words import (
    LEGACY,
    METHOD_NOT_FOUND,
    MODERN,
    PROTOCOL_VERSION,
    Json,
    RpcError,
    Say,
    Torn,
    Whole,
    failure,
    notification,
    result,
    text,
)

Answered = Json | str | bytes | Torn | Whole
"""What an answer is: a result; a tool's text; or what goes out in the place of a message."""
Answer = Answered | Callable[[Asked], Answered | Awaitable[Answered]]
Next = Callable[[], Awaitable[Reply]]
Hook = Callable[[Asked, Next], Awaitable[Reply]]
"""Stands around every request: may change it, answer it otherwise, or change the reply."""


class Script:
    """A server's definitions and answers. Every attribute may be changed at any time."""

    def __init__(self, *eras: str, tools: Iterable[Json] | None = None) -> None:
        self.eras = frozenset(eras or ("legacy", "modern"))
        self.tools: list[Json] = copy.deepcopy(TOOLS) if tools is None else list(tools)
        self.resources: list[Json] = copy.deepcopy(RESOURCES)
        self.templates: list[Json] = copy.deepcopy(TEMPLATES)
        self.prompts: list[Json] = copy.deepcopy(PROMPTS)
        self.answers: dict[str, Answer] = dict(ANSWERS)  # by "tools/call echo", or "tools/call" for all of them
        self.hooks: list[Hook] = []
        self.page: int | None = None
        self.info: Json = {"name": "simulated", "version": "1.0"}
        self.instructions: str | None = None
        self.capabilities: Json = {
            "tools": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "prompts": {"listChanged": True},
            "completions": {},
            "logging": {},
        }
        self.legacy_versions = LEGACY
        self.modern_versions: tuple[str, ...] = (MODERN,)
        self.ttl_ms = 0
        self.cache_scope = "private"
        self.calls: list[Json] = []
        self.abandoned: list[Json] = []  # requests that were taken back before they were answered
        self.held = 0
        self.parties: list[Party] = []
        self.listens: list[Listen] = []
        self._nobody = Party()
        self._pending: dict[object, Pending] = {}
        self._changed = anyio.Event()
        self._go = anyio.Event()

    # What a test does.

    def tool(self, name: str, answer: Answer, **definition: Any) -> Json:  # noqa: ANN401 - raw JSON
        """Offer a tool, in the place of one that has this name."""
        tool = {"name": name, "description": f"The tool {name}.", "inputSchema": {"type": "object"}} | definition
        self.tools[:] = [each for each in self.tools if each.get("name") != name] + [tool]
        self.answers[f"tools/call {name}"] = answer
        return tool

    def called(self, method: str, name: str | None = None) -> list[Json]:
        """The requests and notifications received with this method (and for this tool, prompt or resource)."""
        found = [message for message in self.calls if message.get("method") == method]
        return found if name is None else [each for each in found if name in _names(each)]

    async def received(self, method: str, count: int = 1) -> list[Json]:
        """Wait until that many have come."""
        await self.until(lambda: len(self.called(method)) >= count)
        return self.called(method)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until it holds. It is looked at whenever something has come, been held or been given up."""
        while not condition():
            await self._changed.wait()

    async def hold(self) -> None:
        """Keep an answer until the test says `go`."""
        self.held += 1
        self.changed()
        try:
            await self._go.wait()
        finally:
            self.held -= 1
            self.changed()

    def go(self) -> None:
        """Let go of every answer that is held now."""
        self._go.set()
        self._go = anyio.Event()

    async def notify(self, method: str, params: Json | None = None) -> None:
        """Tell everybody who wants to know, on the account of no request."""
        said = params or {}
        for party in [each for each in self.parties if each.wants(method, said)]:
            await party.push(notification(method, params))
        for listen in [each for each in self.listens if each.wants(method, said)]:
            await listen.notify(method, said)

    async def changed_list(self, kind: str = "tools") -> None:
        """Say that `tools`, `resources` or `prompts` are others now."""
        await self.notify(f"notifications/{kind}/list_changed")

    async def updated(self, uri: str) -> None:
        await self.notify("notifications/resources/updated", {"uri": uri})

    def close_listens(self) -> None:
        """End every modern subscription, as a server does that shuts down."""
        for listen in self.listens:
            listen.closed.set()

    # What a transport does.

    @contextmanager
    def joined(self, push: Say) -> Iterator[Party]:
        """A client, for as long as its connection or session lasts."""
        party = Party(push)
        self.parties.append(party)
        try:
            yield party
        finally:
            self.parties.remove(party)
            for scope in party.running.values():
                scope.cancel()

    def is_modern(self, message: Json) -> bool:
        """What era a message belongs to, as far as it says so itself."""
        if "modern" not in self.eras or "legacy" not in self.eras:
            return "modern" in self.eras
        meta = _object(_object(message.get("params")).get("_meta"))
        return PROTOCOL_VERSION in meta

    async def answer(self, message: Json, say: Say, party: Party | None = None, *, modern: bool | None = None) -> Reply:
        """The answer, or None where there is none. `say` takes what is to be heard before it.

        A transport that knows the era from elsewhere says so; cancelling the call takes the request back.
        """
        self.calls.append(message)
        self.changed()
        if "method" not in message:
            if pending := self._pending.pop(message.get("id"), None):
                pending.settle(message)
            return None
        era = self.is_modern(message) if modern is None else modern
        asked = Asked(self, message, say, party or self._nobody, era)
        if "id" not in message:
            self._told(asked)
            return None
        return await self._in_scope(asked)

    def expect(self, id_: object) -> Pending:
        """A request of ours will be answered under this id."""
        pending = self._pending[id_] = Pending()
        return pending

    def changed(self) -> None:
        """Make whoever waits look again."""
        self._changed.set()
        self._changed = anyio.Event()

    def answer_to(self, method: str, *names: str) -> Answer | None:
        """What was laid down for this, the most particular first."""
        keys = [f"{method} {name}" for name in names] + [method]
        return next((self.answers[key] for key in keys if key in self.answers), None)

    def _told(self, asked: Asked) -> None:
        if asked.method == "notifications/initialized":
            asked.party.initialized = True
        elif asked.method == "notifications/cancelled":
            scope = asked.party.running.get(asked.params.get("requestId", ""))
            if scope is not None:
                scope.cancel()

    async def _in_scope(self, asked: Asked) -> Reply:
        ended = False
        try:
            with anyio.CancelScope() as scope:
                asked.party.running[asked.id] = scope
                reply = await self._through(asked, self.hooks)
                ended = True
                return reply
        finally:
            asked.party.running.pop(asked.id, None)
            if not ended:
                self.abandoned.append(asked.message)
                self.changed()
        return None

    async def _through(self, asked: Asked, hooks: list[Hook]) -> Reply:
        if hooks:
            return await hooks[0](asked, lambda: self._through(asked, hooks[1:]))
        try:
            given = await self._given(asked)
        except RpcError as error:
            return failure(asked.id, error)
        except InputRequired as needed:
            given = needed.result
        match given:
            case Whole(message):
                return message
            case dict():
                return result(asked.id, complete(self, asked, given))
            case _:
                return given

    async def _given(self, asked: Asked) -> Json | bytes | Torn | Whole:
        if asked.modern and (found := problem(self, asked)):
            raise found
        method = METHODS["modern" if asked.modern else "legacy"].get(asked.method)
        answer = self.answer_to(asked.method, asked.name)
        if answer is None:
            if method is None:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {asked.method}")
            answer = await method(self, asked)
        given = answer(asked) if callable(answer) else answer
        said = await given if inspect.isawaitable(given) else given
        return text(said) if isinstance(said, str) else said


def _names(message: Json) -> set[object]:
    params = _object(message.get("params"))
    return {params.get("name"), params.get("uri")}


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}
