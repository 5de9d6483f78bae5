"""Named proxies: the addresses that they tell are recorded and counted on, and nobody gets past them without TLS."""

import asyncio
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from uvicorn.server import ServerState

from mcpguard.app.crowd import Places
from mcpguard.app.http_connection import HttpConnection
from mcpguard.app.listeners import http_server
from mcpguard.codec.headers.client_address import Proxies
from mcpguard.gateway.clients import NETWORK
from mcpguard.web.gate.direct import RefuseDirect
from tests.gate import Gate
from tests.gateway.speaking import EVERYTHING, TOKEN, callers, flushed, guarded, nothing_happens, turned_away
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
CLIENT = "203.0.113.9"
BEARER = f"Bearer {TOKEN}"


class SentBytes(asyncio.Transport):
    """A transport whose two ends are where a test says."""

    def __init__(self, listener: str, peer: str) -> None:
        super().__init__({"sockname": (listener, 8080), "peername": (peer, 5)})
        self.sent = b""
        self.closing = anyio.Event()

    def write(self, data: Any) -> None:  # noqa: ANN401 - any bytes
        self.sent += bytes(data)

    def close(self) -> None:
        self.closing.set()

    abort = close

    def is_closing(self) -> bool:
        return self.closing.is_set()

    def pause_reading(self) -> None:
        """Nothing is read but what the test gives."""

    resume_reading = pause_reading


async def answered(guard: Gate, peer: str, request: str) -> bytes:
    """What a guard without TLS answers to somebody at this address, whose connection ends with the answer."""
    server = http_server(guard.now.settings, _page, HttpConnection)
    connection = HttpConnection(
        server.config,
        ServerState(),
        {},
        head_seconds=60,
        stopped=anyio.Event(),
        places=Places(10),
        door=guard.where.door,
        proxies=Proxies(["10.0.0.0/8"]),
        direct=RefuseDirect(_page, guard.now.guard.tallies),
    )
    transport = SentBytes("192.0.2.1", peer)
    connection.connection_made(transport)
    connection.data_received(request.replace("\n", "\r\n").encode())
    await transport.closing.wait()
    connection.connection_lost(None)
    return transport.sent


async def _page(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
    """The pages of a guard, of which only the sender's address is shown."""
    del receive
    await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
    await send({"type": "http.response.body", "body": f"page for {scope['client'][0]}".encode()})


def posted(*headers: str) -> str:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "web::echo"}})
    said = "\n".join(["host: 127.0.0.1:8080", f"authorization: {BEARER}", "connection: close", *headers])
    return f"POST /mcp/all HTTP/1.1\n{said}\ncontent-length: {len(body)}\n\n{body}"


async def test_calls_are_recorded_with_the_address_that_the_proxy_tells(tmp_path: Path) -> None:
    script, known = Script(), callers(**{TOKEN: EVERYTHING})
    async with guarded(tmp_path, script, callers=known, proxies=["127.0.0.0/8"]) as guard:
        for modern in (True, False):
            client = guard.client(modern=modern, token=TOKEN)
            client.headers["x-forwarded-for"] = f"192.0.2.66, {CLIENT}"
            if not modern:
                await client.initialize()
            assert (await client.call("web::echo", {})).status == 200
            assert guard.entries()[-1]["address"] == CLIENT
        assert (await guard.client(token=TOKEN).call("web::echo", {})).status == 200
        assert "address" not in guard.entries()[-1], "on this host there is none worth telling"


async def test_nobody_is_anonymous_behind_a_named_proxy_on_this_host(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, proxies=["127.0.0.0/8"], anonymous__enabled=True) as guard:
        with nothing_happens(guard, script):
            assert (await guard.client().call("web::echo", {})).status == 401
        assert (await turned_away(guard)) == {(NETWORK, "credential"): 1}


async def test_without_proxies_nobody_is_believed(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, callers=callers(**{TOKEN: EVERYTHING})) as guard:
        client = guard.client(token=TOKEN)
        client.headers["x-forwarded-for"] = CLIENT
        assert (await client.call("web::echo", {})).status == 200
        assert "address" not in guard.entries()[-1]


async def test_sign_ins_are_counted_by_the_address_that_the_proxy_tells(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), proxies=["127.0.0.0/8"]) as guard:
        form, url = {"name": "nobody", "password": "wrong wrong wrong"}, f"{guard.where.url}/login"
        for address in (CLIENT, "203.0.113.200"):
            told = {"x-forwarded-for": address, "origin": guard.where.url}
            await guard.http.post(url, data=form, headers=told)
        refused = await flushed(guard, "sign_in_refused")
        assert {each["peer"] for each in refused} == {CLIENT, "203.0.113.200"}


async def test_without_tls_nobody_gets_past_the_proxies(tmp_path: Path) -> None:
    script, known = Script(), callers(**{TOKEN: EVERYTHING})
    async with guarded(tmp_path, script, callers=known) as guard:
        with nothing_happens(guard, script):
            for request in (posted(), posted("x-forwarded-for: 10.0.0.1"), "GET /login HTTP/1.1\nhost: a\n\n"):
                refused = await answered(guard, CLIENT, request)
                assert refused.startswith(b"HTTP/1.1 403 ")
                assert b"the setting `proxies`" in refused
        assert (await turned_away(guard)) == {(NETWORK, "past the proxies"): 3}
        for path in ("/healthz", "/readyz"):
            assert b"page for" in await answered(guard, CLIENT, f"GET {path} HTTP/1.1\nhost: a\n\n")


async def test_proxies_and_programs_on_this_host_are_served(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        for peer, told, seen in (
            ("10.0.0.5", "", "10.0.0.5"),
            ("10.0.0.5", f"x-forwarded-for: {CLIENT}\n", CLIENT),
            ("127.0.0.1", f"x-forwarded-for: {CLIENT}\n", "127.0.0.1"),
        ):
            page = await answered(guard, peer, f"GET /login HTTP/1.1\nhost: a\n{told}\n")
            assert f"page for {seen}".encode() in page
