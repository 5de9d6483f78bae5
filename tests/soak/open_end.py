"""Clients that are in the middle of everything when the guard is told to stop."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
import httpx2

from tests.simulators.http_client import HttpClient
from tests.soak.listening import ALL_NEWS
from tests.soak.ways import HOWS, Client, House, How, Over, connected


@dataclass
class Open:
    """How much is open at once."""

    calls: int = 0
    streams: int = 0
    subscriptions: int = 0


@asynccontextmanager
async def everything_open(house: House) -> AsyncIterator[Open]:
    """A client of each kind, with a call that is never answered, and with a stream on which it is told of changes.

    What they hear at the guard's end is not looked at: only that each call is closed in the ledger.
    """
    many = Open()
    async with AsyncExitStack() as stack:
        for how in HOWS:
            only = house.servers[0] if how.alone else None
            client = await stack.enter_async_context(connected(house, how, only))
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            tasks.start_soon(_call, house, how, client, only)
            many.calls += 1
            many.streams += how.over is not Over.HTTP
            if how.modern:
                many.subscriptions += 1
                tasks.start_soon(_subscribe, client)
            elif isinstance(client, HttpClient):
                tasks.start_soon(_listen, client)
        yield many


async def _call(house: House, how: How, client: Client, only: str | None) -> None:
    name = "never" if only else f"{house.servers[0]}::never"
    with house.book.asking("open at the end", str(how), recorded=True) as one:
        params = {"name": name, "arguments": {"token": "last"}, "_meta": {"traceparent": one.trace}}
        await _until_the_end(client.request("tools/call", params))


async def _subscribe(client: Client) -> None:
    await _until_the_end(client.request("subscriptions/listen", {"notifications": ALL_NEWS}))


async def _listen(client: HttpClient) -> None:
    with suppress(httpx2.TransportError):
        async with client.listening() as heard:
            await heard.until_ended()


async def _until_the_end(asked: Awaitable[object]) -> None:
    with suppress(httpx2.TransportError, anyio.BrokenResourceError):
        await asked
