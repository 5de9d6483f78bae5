"""Clients that are subscribed to resources, over both transports and in both eras, and what servers say of those."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.lowlevel import checkpoint

from mcpguard.codec.uris import wrap_uri
from tests.gate import Gate
from tests.gateway.speaking import speaking
from tests.patience import PATIENCE
from tests.simulators.client import RawClient
from tests.simulators.http_client import HttpClient
from tests.simulators.line_client import LineClient
from tests.simulators.parties import UPDATED
from tests.simulators.script import Script
from tests.simulators.words import SUBSCRIPTION_ID, Json, notification

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
FIRST = "note://first"
WRAPPED = wrap_uri("web", FIRST)


async def until(condition: Callable[[], object]) -> None:
    """Wait until it holds."""
    with anyio.fail_after(PATIENCE):
        while not condition():
            await checkpoint()


class Ear:
    """A client that is subscribed. `said` is what it was told on the account of no request, or of its listening."""

    def __init__(self, client: RawClient, said: list[Json]) -> None:
        self.client = client
        self.agreed: list[str] = []
        self.errors: list[Json] = []
        self._said = said

    @property
    def heard(self) -> list[str]:
        """The resources that it was told have changed."""
        return [each["params"]["uri"] for each in self._said if each.get("method") == UPDATED]

    @property
    def ids(self) -> set[object]:
        """The subscriptions on whose account it was told."""
        told = [each["params"] for each in self._said if each.get("method") == UPDATED]
        return {params.get("_meta", {}).get(SUBSCRIPTION_ID) for params in told}

    async def until(self, count: int = 1) -> list[str]:
        await until(lambda: len(self.heard) >= count)
        return self.heard

    async def subscribe(self, uri: str) -> None:
        reply = await self.client.request("resources/subscribe", {"uri": uri})
        assert reply.message is not None
        if "error" in reply.message:
            self.errors.append(reply.error)
        else:
            assert reply.result == {}
            self.agreed.append(uri)

    async def unsubscribe(self, uri: str) -> None:
        assert (await self.client.request("resources/unsubscribe", {"uri": uri})).result == {}

    async def acknowledged(self) -> None:
        await until(lambda: any(each.get("method") == ACKNOWLEDGED for each in self._said))
        first = self._said[0]
        assert first["method"] == ACKNOWLEDGED
        self.agreed = first["params"]["notifications"].get("resourceSubscriptions", [])


@asynccontextmanager
async def hearing(
    guard: Gate, how: str, *uris: str, only: str | None = None, token: str | None = None
) -> AsyncIterator[Ear]:
    """A client that has subscribed to these. When the block is left it takes that back, in the way of its era."""
    async with speaking(guard, how, only=only, token=token) as client:
        match how.split():
            case ["http", "modern"]:
                assert isinstance(client, HttpClient)
                async with client.listening(resourceSubscriptions=[*uris]) as listening:
                    ear = Ear(client, listening.heard)
                    await ear.acknowledged()
                    yield ear
            case ["stream", "modern"]:
                assert isinstance(client, LineClient)
                async with anyio.create_task_group() as tasks:
                    wanted = {"notifications": {"resourceSubscriptions": [*uris]}}
                    tasks.start_soon(lambda: client.request("subscriptions/listen", wanted, id_="ours"))
                    ear = Ear(client, client.heard)
                    await ear.acknowledged()
                    yield ear
                    await client.cancel("ours")
                    tasks.cancel_scope.cancel()
            case ["http", "legacy"]:
                assert isinstance(client, HttpClient)
                async with client.listening() as listening:
                    ear = Ear(client, listening.heard)
                    yield await _subscribed(ear, uris)
                    await _unsubscribed(ear, uris)
            case _:
                ear = Ear(client, client.heard)
                yield await _subscribed(ear, uris)
                await _unsubscribed(ear, uris)


async def _subscribed(ear: Ear, uris: tuple[str, ...]) -> Ear:
    for uri in uris:
        await ear.subscribe(uri)
    return ear


async def _unsubscribed(ear: Ear, uris: tuple[str, ...]) -> None:
    for uri in uris:
        await ear.unsubscribe(uri)


def subscribed(script: Script) -> set[str]:
    """What the server is asked to tell of now."""
    found: set[str] = set().union(*(party.subscribed for party in script.parties))
    return found.union(*(listen.wanted.get("resourceSubscriptions", []) for listen in script.listens))


async def nothing_subscribed(script: Script) -> None:
    await until(lambda: not subscribed(script))


async def insist(script: Script, uri: object) -> None:
    """Let the server say of a resource that it has changed, whether or not anybody asked for that."""
    for party in script.parties:
        if party.initialized:
            await party.push(notification(UPDATED, {"uri": uri}))
    for listen in script.listens[-1:]:
        await listen.notify(UPDATED, {"uri": uri})


def asked(script: Script) -> int:
    """How often the server was asked to tell of a resource."""
    listens = [each for each in script.called("subscriptions/listen") if "resourceSubscriptions" in _wanted(each)]
    return len(script.called("resources/subscribe")) + len(listens)


def _wanted(message: Json) -> Json:
    found: Json = message["params"]["notifications"]
    return found
