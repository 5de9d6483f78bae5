"""The way from an installation to the network, asked by somebody who is no installer."""

import base64
from collections.abc import AsyncIterator

import anyio
import pytest

from mcpguard.upstreams.packages.outlet import Outlet, outlet
from mcpguard.upstreams.transports.dialing import Dialing
from tests.patience import PATIENCE
from tests.upstreams.played import Played, dialing, played

pytestmark = pytest.mark.anyio


@pytest.fixture
async def way_out() -> AsyncIterator[Outlet]:
    async with outlet(dialing(), ()) as one:
        yield one


@pytest.fixture
async def server() -> AsyncIterator[Played]:
    async with played() as one:
        yield one


def place(one: Outlet) -> tuple[str, int]:
    host, _, port = one.url.rpartition("@")[2].rpartition(":")
    return host, int(port)


def password(one: Outlet) -> str:
    said = one.url.removeprefix("http://").rpartition("@")[0]
    return f"Proxy-Authorization: Basic {base64.b64encode(said.encode()).decode()}\r\n"


async def asked(one: Outlet, *requests: str) -> bytes:
    """All that comes back until the connection is closed."""
    came = b""
    with anyio.fail_after(PATIENCE):
        async with await anyio.connect_tcp(*place(one)) as stream:
            for each in requests:
                await stream.send(each.encode("latin-1"))
            try:
                while True:
                    came += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return came


async def test_only_whoever_knows_its_password_gets_anywhere(way_out: Outlet, server: Played) -> None:
    for line in ("", "Proxy-Authorization: Basic aW5zdGFsbGF0aW9uOg==\r\n"):
        for request in (
            f"GET http://127.0.0.1:{server.port}/ HTTP/1.1\r\n",
            f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n",
        ):
            assert (await asked(way_out, f"{request}{line}\r\n")).startswith(b"HTTP/1.1 407 ")
    assert server.connections == 0


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("POST http://127.0.0.1:PORT/ HTTP/1.1", 405),
        ("GET https://127.0.0.1:PORT/ HTTP/1.1", 405),
        ("GET /mcp HTTP/1.1", 400),
        ("GET ftp://127.0.0.1:PORT/ HTTP/1.1", 400),
        ("GET http://a:b@127.0.0.1:PORT/ HTTP/1.1", 400),
        ("CONNECT 127.0.0.1:0 HTTP/1.1", 400),
        ("CONNECT \xe9:PORT HTTP/1.1", 400),
        ("HELLO", 400),
    ],
)
async def test_what_no_installer_asks_is_not_done(line: str, status: int, way_out: Outlet, server: Played) -> None:
    request = f"{line.replace('PORT', str(server.port))}\r\n{password(way_out)}\r\n"
    assert (await asked(way_out, request)).startswith(b"HTTP/1.1 %d " % status)
    assert server.connections == 0


async def test_one_request_is_passed_on_without_what_belongs_to_the_connection(way_out: Outlet, server: Played) -> None:
    line = f"GET http://127.0.0.1:{server.port}/a?b HTTP/1.1\r\n"
    head = f"{line}Host: other.example\r\nAccept: x\r\n{password(way_out)}\r\n"
    second = f"GET http://127.0.0.1:{server.port}/second HTTP/1.1\r\n{password(way_out)}\r\n"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asked, way_out, head, second)
        first = await server.next()
        tasks.cancel_scope.cancel()
    assert (first.verb, first.target) == ("GET", "/a?b")
    assert first.headers == {"host": f"127.0.0.1:{server.port}", "connection": "close", "accept": "x"}
    assert len(server.heard) == 1


async def test_what_was_judged_is_where_it_ends_and_the_first_that_was_not_is_told(server: Played) -> None:
    async with outlet(Dialing(), ()) as one:
        for port in (server.port, 9):
            line = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{password(one)}\r\n"
            assert (await asked(one, line)).startswith(b"HTTP/1.1 403 ")
        with anyio.fail_after(PATIENCE):
            assert (await one.watch(0)).endswith("the operator can allow its network")
    async with (
        outlet(Dialing(), {("127.0.0.1", server.port)}) as one,
        await anyio.connect_tcp(*place(one)) as stream,
    ):
        await stream.send(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n{password(one)}\r\n".encode())
        with anyio.fail_after(PATIENCE):
            assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")
            await stream.send(b"GET /through HTTP/1.1\r\n\r\n")
            assert (await server.next()).target == "/through"


async def test_it_is_gone_with_its_installation(server: Played) -> None:
    async with outlet(dialing(), ()) as one:
        pass
    with pytest.raises(OSError, match="connect"):
        await anyio.connect_tcp(*place(one))
    assert server.connections == 0
