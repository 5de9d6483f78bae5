"""A client's seat at the guard: one session, stream or series of requests, and everything asked from it.

Rules kept here:
1. Every request has an end in the book. What came for it is looked at whole: the answer, and what came before it.
2. Ids and progress tokens are the same at every seat, so that a guard that mixes up its clients is found out.
3. What is heard on the account of no request is looked at when the seat is left.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import httpx2

from mcpguard.codec.refusals import refusal_facts
from mcpguard.codec.uris import wrap_uri
from tests.patience import PATIENCE
from tests.simulators.client import RawClient, Reply
from tests.simulators.words import LOG_LEVEL, SUBSCRIPTION_ID, Json
from tests.soak.book import ANSWERED, FAILED, GIVEN_UP, KILLED, Asked, Book

UPDATED, CANCELLED = "notifications/resources/updated", "notifications/cancelled"
PROGRESS, MESSAGE = "notifications/progress", "notifications/message"
ORIGIN = "mcpguard/origin"
NEWS = frozenset(f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts"))
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TAKEN_BACK = -32800
Right = Callable[[Json], bool]
"""Whether this is the result, or the error, that the server gives to this request and to no other."""


@dataclass
class Seat:
    """Where acts are played. `over_http` makes a difference, as each request then has a connection of its own."""

    client: RawClient
    name: str
    over_http: bool
    only: str | None
    servers: tuple[str, ...]
    dice: random.Random
    book: Book
    everything: bool = False
    hasty: bool = False  # going to leave in the middle of everything
    hanging: int = 0  # calls that nobody will ever answer
    subscriptions: set[object] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)  # of calls that ask
    watched: set[str] = field(default_factory=set)
    _given_up: set[object] = field(default_factory=set)
    _tokens: dict[object, str] = field(default_factory=dict)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    @property
    def modern(self) -> bool:
        return self.client.modern

    def server(self) -> str:
        return self.only or self.dice.choice(self.servers)

    def token(self) -> str:
        """For one request; nobody else ever has it."""
        return f"{self.name}.{next(self._numbers)}"

    def named(self, server: str, name: str) -> str:
        """What a tool or prompt is called here."""
        return name if self.only else f"{server}::{name}"

    def uri(self, server: str, uri: str) -> str:
        return uri if self.only else wrap_uri(server, uri)

    def template(self, server: str, template: str) -> str:
        return template if self.only else f"proxy://template/{server}/{template}"

    def next_id(self) -> str:
        return f"request {next(self._numbers)}"

    def give_up(self, id_: str) -> None:
        """An answer to this request may come, and nobody waits for it."""
        self._given_up.add(id_)

    async def ask(
        self,
        act: str,
        method: str,
        params: Json,
        right: Right,
        *,
        id_: str = "",
        expected: str = "",
        recorded: bool = True,
        rounds: bool = False,
        hears: tuple[str, int] | None = None,
    ) -> None:
        """Ask, and enter what became of it. `expected` is a reason for which the guard should refuse.

        `hears` is what the server says meanwhile, and how often. With `rounds` it may ask something first.
        """
        asking = self.client.fulfil if rounds else self.client.request
        id_ = id_ or self.next_id()
        with self.book.asking(act, self.name, recorded=recorded) as one:
            meta: Json = {"traceparent": one.trace}
            if hears:
                token = next(self._numbers)
                self._tokens[token] = hears[0]
                meta |= {"progressToken": token, LOG_LEVEL: "info"} if self.modern else {"progressToken": token}
            try:
                with anyio.fail_after(PATIENCE):
                    reply = await asking(method, params | {"_meta": meta}, id_=id_)
            except TimeoutError:
                self.book.blame(f"{self.name} {method} {params}: no answer within {PATIENCE:.0f} seconds")
            except (httpx2.TransportError, anyio.BrokenResourceError) as error:
                self.book.blame(f"{self.name} {method} {params}: {error!r}")
            except anyio.get_cancelled_exc_class():
                self.give_up(id_)
                raise
            else:
                one.how = self._how(one, reply, right, expected, f"{method} {params}")
                self._check_before(reply, meta.get("progressToken"), hears, whole=one.how == ANSWERED)

    async def take_back(self, act: str, method: str, params: Json, right: Right, after: float) -> None:
        """Ask, and after a while take it back in the way of the transport and the era."""
        id_, answered = self.next_id(), anyio.Event()

        async def ask() -> None:
            await self.ask(act, method, params, right, id_=id_, expected=GIVEN_UP)
            answered.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            with anyio.move_on_after(after):
                await answered.wait()
            if not (self.over_http and self.modern):
                await self._take_back_in_words(id_, answered)
            tasks.cancel_scope.cancel()

    async def leave_call(self, act: str, method: str, params: Json, right: Right, after: float) -> None:
        """Ask, and after a while wait no longer, without a word."""
        with anyio.move_on_after(after):
            await self.ask(act, method, params, right)

    def watches(self, said: Json) -> bool:
        """Whether it says that something has changed to which this client is, or was, subscribed."""
        return said.get("method") == UPDATED and said["params"]["uri"] in self.watched

    def look_back(self) -> None:
        """Whatever was heard has to be this client's."""
        for said in self.client.heard:
            method, params = said.get("method"), said.get("params") or {}
            meant = (params.get("_meta") or {}).get(SUBSCRIPTION_ID)
            if "id" in said:
                ours = params["message"].removeprefix(f"{params['_meta'][ORIGIN]['server']}: ") in self.marks
            elif method == UPDATED:
                ours = self.watches(said)
                self.book.heard[UPDATED] += 1
            elif method == CANCELLED:
                ours = not self.modern  # a question of a server that was killed meanwhile
            elif method == PROGRESS:
                ours = self._tokens.get(params.get("progressToken")) == params.get("message")
            elif method == MESSAGE:
                ours = params["data"].get("mark") in self._tokens.values()
            else:
                ours = method in NEWS and not self.modern
                if self.modern:  # over HTTP it has a stream of its own, and is looked at there (`listening.py`)
                    ours = method in {*NEWS, ACKNOWLEDGED} and (self.over_http or meant in self.subscriptions)
                self.book.heard[str(method)] += 1
            self.book.check(ours, f"{self.name} heard what is not for it: {said}")
        ids = [said.get("id") for said in self.client.stray]
        late = len(ids) == len(set(ids)) and self._given_up.issuperset(ids)
        self.book.check(late, f"{self.name} was answered more than once, or unasked: {self.client.stray}")

    async def _take_back_in_words(self, id_: str, answered: anyio.Event) -> None:
        """On a stream nothing follows. Over HTTP the request may be overtaken, and is answered: so until it is."""
        while not answered.is_set():
            await self.client.notify("notifications/cancelled", {"requestId": id_})
            if not self.over_http:
                return
            with anyio.move_on_after(0.2):
                await answered.wait()

    def _how(self, one: Asked, reply: Reply, right: Right, expected: str, asked: str) -> str:
        """What an answer is."""
        said = reply.message or {}
        error, result = said.get("error"), said.get("result") or {}
        refusal = error.get("data") if error else refusal_facts(result)
        if isinstance(refusal, dict) and "call_id" in refusal:
            one.call_id, reason = refusal["call_id"], str(refusal["reason"])
            self.book.check(reason in (*KILLED, expected), f"{self.name} {asked} refused: {refusal}")
            return reason
        if error and error.get("code") == TAKEN_BACK and expected == GIVEN_UP:
            return GIVEN_UP
        whole = said if len(str(said)) < 1000 else f"{str(said)[:1000]}…"
        self.book.check(bool(said) and right(error or result), f"{self.name} {asked} answered: {reply.status} {whole}")
        return FAILED if error or result.get("isError") else ANSWERED

    def _check_before(self, reply: Reply, token: object, hears: tuple[str, int] | None, *, whole: bool) -> None:
        """Before an answer progress comes whole and in order, and messages in order. Over HTTP nothing else does."""
        mark, steps = hears or ("", 0)
        said = [each for each in reply.notifications if each.get("method") != CANCELLED]  # of a server that was killed
        given = [(each.get("method"), each.get("params") or {}) for each in said]
        progress = [params for method, params in given if method == PROGRESS and params.get("progressToken") == token]
        logs = [params for method, params in given if method == MESSAGE and params["data"].get("mark") == mark]
        every = [{"progressToken": token, "progress": n, "total": steps, "message": mark} for n in range(1, steps + 1)]
        told = [params["data"]["step"] for params in logs]
        if hears:
            right = progress == every if whole else progress == every[: len(progress)]
            self.book.check(right, f"{self.name} heard for {mark}: {progress}")
            self.book.check(told == sorted(set(told)), f"{self.name} was told for {mark}: {logs}")
            self.book.heard[PROGRESS] += len(progress)
            self.book.heard[MESSAGE] += len(logs)
        if self.over_http:
            others = len(given) - len(progress) - len(logs) if hears else len(given)
            self.book.check(others == 0, f"{self.name} heard on the answer to a request: {given}")
