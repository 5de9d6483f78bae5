"""What clients do on one connection: bodies of any size, requests that come too early, and bytes after the answer."""

from pathlib import Path

import anyio
import pytest

from mcpguard.app import listeners
from mcpguard.codec.envelope import CLIENT
from tests.gateway.speaking import guarded, nothing_happens, turned_away
from tests.gateway.wires import Wire, answered, mirrored, modern, narrow, widen, wire
from tests.patience import PATIENCE
from tests.simulators.script import Script
from tests.simulators.words import CLIENT_CAPABILITIES, Json

pytestmark = pytest.mark.anyio
LIMIT = 4096
TOO_LARGE = b"The body is larger than 4096 bytes.\n"
BIG = modern("tools/call", {"name": "web::big", "arguments": {"bytes": 8_000_000}})
PAGE = "GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n"


def call(number: int) -> Json:
    return modern("tools/call", {"name": "web::echo", "arguments": {"n": number}}, number)


async def text(connection: Wire) -> tuple[int, dict[str, str], bytes]:
    status, headers = await connection.answer_head()
    return status, headers, await connection.exactly(int(headers["content-length"]))


def chunked(connection: Wire, *parts: bytes) -> bytes:
    """A request without a length, as far as these parts of its body go."""
    head = connection.head(0, mirrored(call(1)) | {"transfer-encoding": "chunked"})
    head = head.replace(b"content-length: 0\r\n", b"")
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


async def test_a_body_over_the_limit_is_refused_whatever_its_headers_say(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, limits__body_bytes=LIMIT) as guard:
        with nothing_happens(guard, script):
            for length in (LIMIT + 1, 10**12, 10**18):
                async with wire(guard) as connection:
                    await connection.send(connection.head(length, mirrored(call(1))))
                    status, headers, said = await text(connection)
                    assert (status, headers["content-type"], said) == (413, "text/plain; charset=utf-8", TOO_LARGE)
            async with wire(guard) as connection:  # all of it at once, before anybody has looked
                await connection.send(chunked(connection, b"x" * (LIMIT + 1)) + b"0\r\n\r\n")
                assert (await text(connection))[::2] == (413, TOO_LARGE)
            async with wire(guard) as connection:  # and without its end
                await connection.send(chunked(connection, b"x" * LIMIT))
                await connection.send(b"1\r\nx\r\n")
                assert (await text(connection))[::2] == (413, TOO_LARGE)
        assert not await turned_away(guard)


async def test_a_large_body_over_the_limit_is_refused_before_its_end(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, limits__body_bytes=200_000) as guard, wire(guard) as connection:
        with nothing_happens(guard, script):
            await connection.send(chunked(connection, b"x" * 100_000))
            await connection.send(b"%x\r\n%b\r\n" % (100_001, b"x" * 100_001))
            assert (await text(connection))[::2] == (413, b"The body is larger than 200000 bytes.\n")
        await connection.send(b"0\r\n\r\n" + connection.request(call(2), mirrored(call(2))))
        assert (await connection.answer())[0] == 200, "what had been sent of it is no part of what comes next"


async def test_a_body_at_the_limit_is_read_and_may_be_waited_for(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), limits__body_bytes=LIMIT) as guard, wire(guard) as connection:
        request = connection.request(call(1), mirrored(call(1)) | {"expect": "100-continue"})
        head, _, body = request.partition(b"\r\n\r\n")
        body += b" " * (LIMIT - len(body))
        length = head.replace(b"content-length: %d" % (len(request) - len(head) - 4), b"content-length: %d" % LIMIT)
        await connection.send(length + b"\r\n\r\n")
        assert (await connection.answer_head())[0] == 100
        await connection.send(body)
        assert (await connection.answer())[0] == 200


async def test_pages_and_calls_on_one_connection_are_answered_in_turn(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, wire(guard) as connection:
        page = PAGE.format(host=guard.where.url.partition("//")[2]).encode()
        for _ in range(2):
            await connection.send(page + connection.request(call(1), mirrored(call(1))) + page)
            assert (await text(connection))[0] == 200
            assert (await connection.answer())[1]["result"]["structuredContent"] == {"n": 1}
            assert (await text(connection))[0] == 200


async def test_what_one_request_said_counts_for_no_other(tmp_path: Path) -> None:
    """The head of a request is read anew as soon as anything in it differs."""
    script = Script()
    async with guarded(tmp_path, script) as guard, wire(guard) as connection:
        same = mirrored(call(1))
        for more, expected in (
            ({}, 200),
            ({"host": "evil.example"}, 421),
            ({}, 200),
            ({"origin": "http://evil.example"}, 403),
            ({"authorization": "Bearer x"}, 401),
            ({"via": "1.1 proxy"}, 401),
            ({"content-type": "text/plain"}, 415),
            ({"accept": "text/html"}, 406),
            ({"mcp-method": "tools/list"}, 400),
            ({"mcp-name": "web::add"}, 400),
            ({"mcp-protocol-version": "2025-11-25"}, 400),
            ({}, 200),
        ):
            await connection.post(call(1), same | more)
            assert (await text(connection))[0] == expected, more
        await connection.post(call(1), same, "/mcp/only/nothing")
        assert (await text(connection))[0] == 404
        await connection.send(connection.head(0, same, method="GET"))
        assert (await text(connection))[0] == 405
    assert len(script.called("tools/call", "echo")) == 3


async def test_a_client_that_says_something_else_of_itself_is_another(tmp_path: Path) -> None:
    """What is remembered of a client for its connection is what it said, and where, and nothing more."""
    said: list[tuple[str, Json]] = [
        ("one", {}),
        ("one", {}),
        ("two", {}),
        ("two", {"roots": {}}),
        ("two", {"roots": {}}),
    ]
    async with guarded(tmp_path, Script()) as guard, wire(guard) as connection:
        for name, can in said:
            message = call(1)
            message["params"]["_meta"] |= {CLIENT: {"name": name, "version": "1"}, CLIENT_CAPABILITIES: can}
            await connection.post(message, mirrored(message))
            assert (await connection.answer())[0] == 200
        only = modern("tools/call", {"name": "echo", "arguments": {}})
        await connection.post(only, mirrored(only), "/mcp/only/web")
        assert (await connection.answer())[0] == 200
        entries = guard.entries()
        assert [entry.get("client", "") for entry in entries] == [*(name for name, _ in said), ""]
        assert [entry["face"] for entry in entries] == ["direct"] * 5 + ["transparent"]


async def test_refusals_wait_for_who_does_not_read(tmp_path: Path) -> None:
    """Each is short, and nobody could keep them all for somebody who sends without end and reads nothing."""
    count = 50
    async with guarded(tmp_path, Script()) as guard, narrow(guard) as connection:
        bad = connection.request(b"{", mirrored(BIG))
        await connection.post(BIG, mirrored(BIG))
        await connection.send(bad * count)
        await answered(guard)
        await anyio.wait_all_tasks_blocked()
        assert not await turned_away(guard)
        widen(connection)
        assert (await connection.answer())[0] == 200
        for _ in range(count):
            assert (await connection.answer())[0] == 400


@pytest.mark.parametrize("later", ["a line without a request", "the body of a request that was refused"])
async def test_bytes_after_the_answer_keep_no_connection_open(
    later: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "IDLE_SECONDS", 0.5)
    async with guarded(tmp_path, Script()) as guard, wire(guard) as connection:
        request = connection.request(call(1), mirrored(call(1)) | {"authorization": "Bearer x"})
        head, _, body = request.partition(b"\r\n\r\n")
        await connection.send(head + b"\r\n\r\n")
        assert (await text(connection))[0] == 401
        await connection.send(body + (b"\r\n" if later.startswith("a line") else b""))
        with anyio.fail_after(PATIENCE):
            assert await connection.until_closed() == b""
