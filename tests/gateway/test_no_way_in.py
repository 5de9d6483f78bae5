"""Whatever an agent asks for, by every tool and method of every face, nothing is trusted more than it was before.

The tools are those that are listed, and what is tried with them comes from their schemas (`attempting`). After every
single step all that is trust is compared (`trusted`).
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.gateway.lists import KINDS
from mcpguard.gateway.methods import Methods
from mcpguard.guard.callers.grants import CallerRequest
from tests.gate import DIRECT, Gate
from tests.gateway.attempting import FORGED, HEADERS, REFERENCES, WORDS, attempts, configs
from tests.gateway.speaking import ONLY, turned_away
from tests.gateway.standing_everywhere import STANDINGS, Scene, scene
from tests.gateway.trusted import Trust, in_force, trust, wider
from tests.patience import PATIENCE
from tests.review import DECISION
from tests.simulators.client import Reply
from tests.simulators.http_client import HttpClient
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
GUARD = "/mcp"
FACES = (DIRECT, *(ONLY + name for name in ("good", "waits", "mine")), GUARD)
"""The guard face is the last: who may manage servers narrows there what the others are tried with."""
OPERATOR_METHODS = ("servers/approve", "mcpguard/unquarantine", "callers/grant", "settings/confirm", "tools/approve")
LISTEN = "subscriptions/listen"


def _scope(*effects: Effect, servers: str = "*") -> Scope:
    return Scope((servers,), ("*",), frozenset(effects))


CALLERS: dict[str, CallerRequest | None] = {
    "anonymous": None,
    "reads only": CallerRequest("reader", _scope(Effect.READ)),
    "does everything": CallerRequest("worker", _scope(*Effect)),
    "must declare": CallerRequest("careful", _scope(*Effect), must_declare=True),
    "manages": CallerRequest("manager", _scope(*Effect), manage=True),
    "revoked": CallerRequest("gone", _scope(*Effect), manage=True),
    "of elsewhere": CallerRequest("stranger", _scope(*Effect, servers="elsewhere-*"), manage=True),
}


class Walk:
    """One caller, and everything that it tries. Every step is followed by a look at all that is trust."""

    def __init__(self, scene: Scene, token: str | None, start: Trust, *, manages: bool) -> None:
        self.start = self.last = start
        self.reached: set[tuple[str, str]] = set()
        self.listed: set[tuple[str, str]] = set()
        self.seen: dict[str, set[str]] = {}
        self.objects = configs(str(scene.mark), scene.url)
        self._guard = scene.guard
        self._token = token
        on = {f"{name}: enabled" for name, server in start.servers.items() if server.enabled}
        self._given_back = on if manages else set[str]()  # who may manage enables again what itself has disabled

    async def client(self, face: str, *, modern: bool = True) -> HttpClient:
        client = self._guard.client(face, modern=modern, token=self._token)
        client.headers |= HEADERS
        client.meta = dict(FORGED)
        if not modern:
            await client.initialize()
        return client

    async def ask(self, client: HttpClient, method: str, params: Json) -> Reply:
        with anyio.fail_after(PATIENCE):
            reply = await client.request(method, params)
        self.look((client.url, method, params))
        return reply

    def look(self, step: object) -> None:
        seen = in_force(self._guard)
        now = replace(self.start, servers=seen.servers, callers=seen.callers)
        assert wider(self.last, now) <= self._given_back, step
        assert wider(self.start, now) == frozenset(), step
        self.last = now

    async def tools(self, face: str, shown: list[Json]) -> None:
        """Every tool that anybody is shown here, and those that nobody is."""
        client = await self.client(face)
        own = (await self.ask(client, "tools/list", {})).message or {}
        self.listed |= {(face, tool["name"]) for tool in own.get("result", {}).get("tools", ())}
        for tool in shown:
            self.seen = {name: self.seen.get(name, set()) for name in (*self.seen, *_properties(tool))}
        for tool in shown:
            for arguments in attempts(tool, self.objects, self.seen):
                reply = await self.ask(client, "tools/call", {"name": tool["name"], "arguments": arguments})
                self._heard(reply.message)
                if _reached(reply):
                    self.reached.add((face, tool["name"]))
        for name in (*REFERENCES, *WORDS):
            if face in (DIRECT, GUARD):
                await self.ask(client, "tools/call", {"name": name, "arguments": self.objects[0]})

    async def methods(self, face: str) -> None:
        """Everything else that can be asked, in both eras."""
        for modern in (True, False):
            client = await self.client(face, modern=modern)
            for method in (*Methods(self._guard.now.guard)._table, "initialize", *OPERATOR_METHODS):
                for params in _params(method):
                    if method == LISTEN and modern:
                        await self._listen(client, params)
                    else:
                        await self.ask(client, method, params)
            await client.notify("notifications/roots/list_changed", {"_meta": FORGED})
            self.look("a notification")

    async def _listen(self, client: HttpClient, params: Json) -> None:
        if (await self.ask(client, "server/discover", {})).status != 200:
            return
        async with client.listening(**params["notifications"]) as listening:
            with anyio.fail_after(PATIENCE):
                await listening.until("notifications/subscriptions/acknowledged")
            self.look(params)

    def _heard(self, message: object) -> None:
        for name, value in _texts(message):
            if len(found := self.seen.get(name, set())) < 3 and name in self.seen:
                found.add(value)


def _properties(tool: Json) -> Iterator[str]:
    """Those that are filled with what answers give: a key, of which there is no other way to know."""
    yield from (name for name in tool["inputSchema"].get("properties", {}) if name not in ("name", "server", "tool"))


def _texts(value: object) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            yield from ((str(name), each) for name, each in value.items() if isinstance(each, str))
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
        case _:
            return


def _reached(reply: Reply) -> bool:
    """Whether it was answered, or refused for another reason than its form."""
    result: Json = (reply.message or {}).get("result", {})
    said: Any = result.get("_meta", {}).get("mcpguard/refusal", {})
    return bool(result) and said.get("reason") != "arguments:invalid"


URIS = ("note://first", "mcp://good/note://first", "note://waits/first", "mcpguard://servers/waits/approve")


def _params(method: str) -> list[Json]:
    """What a method is asked with. One that is not known here fails the test: somebody has to say how it is tried."""
    if method in OPERATOR_METHODS:
        return [{"name": "waits", "reason": "because"}]
    if method in ("ping", "shutdown", "server/discover"):
        return [{}]
    if method in KINDS:
        return [{}, {"cursor": "approve"}]
    if method in ("resources/read", "resources/subscribe", "resources/unsubscribe"):
        return [{"uri": uri} for uri in URIS]
    named = [{"name": name, "arguments": {"name": "approve"}} for name in (*REFERENCES[-4:], "good::greet")]
    known: dict[str, list[Json]] = {
        "tools/call": [{"name": "good::erase"}, {"name": "upstream_servers", "arguments": {"operation": "approve"}}],
        "prompts/get": named,
        "logging/setLevel": [{"level": "debug"}, {"level": "approve"}],
        "completion/complete": [
            {"ref": {"type": "ref/prompt", "name": "good::greet"}, "argument": {"name": "name", "value": "approve"}},
            {"ref": {"type": "ref/resource", "uri": URIS[0]}, "argument": {"name": "number", "value": "1"}},
        ],
        LISTEN: [{"notifications": {"toolsListChanged": True, "resourceSubscriptions": [*URIS]}}],
        "initialize": [
            {"protocolVersion": "2025-11-25", "capabilities": {"mcpguard": {"approve": True}}, "clientInfo": info}
            for info in ({"name": "mcpguard command line", "version": "1"}, {"name": "operator", "version": "uid:0"})
        ],
    }
    return known[method]


async def shown(guard: Gate, face: str, token: str) -> list[Json]:
    """What a face shows; nothing where there is none."""
    message = (await guard.client(face, token=token).request("tools/list", {})).message or {}
    found: list[Json] = message.get("result", {}).get("tools", [])
    return found


@pytest.mark.parametrize("who", CALLERS)
async def test_nothing_is_trusted_more_whatever_an_agent_asks_for(who: str, tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        guard, wanted = here.guard, CALLERS[who]
        granting = guard.now.guard.granting
        _, witness = await granting.add(CallerRequest("witness", _scope(*Effect)), DECISION)
        grant, token = await granting.add(wanted, DECISION) if wanted else (None, None)
        known = {face: await shown(guard, face, witness) for face in FACES}
        if who == "revoked":
            assert grant is not None
            await granting.revoke(grant.caller.id, DECISION)
        walk = Walk(here, token, await trust(guard), manages=who == "manages")
        assert {name: server.standing for name, server in walk.start.servers.items()} == STANDINGS
        for face in FACES:
            if known[face]:
                await walk.methods(face)
            await walk.tools(face, known[face])
        here.untouched()
        assert wider(walk.start, await trust(guard)) == frozenset()
        missed = walk.listed - walk.reached
        assert missed <= UNREACHED.get(who, set()), "a tool that nothing was tried with"
        assert {name for face, name in walk.listed if face == GUARD} == (
            set() if who == "revoked" else {tool["name"] for tool in known[GUARD]}
        )
        away, entries = await turned_away(guard), guard.entries()
        if who == "revoked":
            assert away["network", "credential"] > 100
            assert entries == []
        else:
            reasons = {entry["reason"] for entry in entries if entry["outcome"] == "refused"}
            assert reasons >= REASONS[who]
            assert away["network", "arguments"] > 10
            assert away["network", "method"] > 0


REFUSED = {
    *("server:quarantined", "server:blocked", "server:disabled"),
    *("capability:pending", "capability:changed", "capability:blocked"),
}
UNREACHED = {"of elsewhere": {(GUARD, "read_more")}}
"""Who never has a long answer has nothing to read on of."""
REASONS = {
    "anonymous": {*REFUSED, "scope:effect"},
    "reads only": {*REFUSED, "scope:effect"},
    "does everything": {*REFUSED, "intent:understated"},
    "must declare": {*REFUSED, "intent:understated", "intent:undeclared"},
    "manages": {*REFUSED, "intent:understated"},
    "of elsewhere": {"capability:unknown"},
}
