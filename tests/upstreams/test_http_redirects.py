"""Redirections: followed a little, and nothing that was meant for one origin goes to another."""

from pathlib import Path

import pytest

from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.exchange.endings import NoUsableAnswer
from tests.upstreams.certificates import Authority
from tests.upstreams.played import dialing, played
from tests.upstreams.talking import in_session, modern, talking

pytestmark = pytest.mark.anyio

SECRETS = {"Authorization": "Bearer secret", "X-Api-Key": "secret"}


@pytest.mark.parametrize("status", [307, 308])
async def test_within_the_origin_everything_goes_along(status: int) -> None:
    async with played() as server, talking(server, SECRETS) as talk:
        talk.asking("tools/call", {"name": "x"})
        first = await server.next()
        await first.answer(status, b"gone", "Location: ../elsewhere/mcp?a=b#c")
        second = await server.next()
        assert (second.verb, second.target, second.body) == ("POST", "/elsewhere/mcp?a=b", first.body)
        assert second.headers == first.headers
        await second.result()
        assert await talk.outcome() == {}


async def test_another_origin_gets_neither_credentials_nor_the_session(tmp_path: Path) -> None:
    """The only one that a redirection may lead to: the same host, with TLS."""
    authority = Authority(tmp_path)
    dial = dialing(authority.trust)
    async with (
        played() as server,
        played(authority.server()) as other,
        in_session(server, headers=SECRETS, dial=dial) as talk,
    ):
        talk.asking("tools/call", {"name": "x"})
        first = await server.next("tools/call")
        assert first.headers["mcp-session-id"] == "s-1"
        await first.answer(307, b"", f"Location: {other.url}")
        second = await other.next("tools/call")
        assert second.headers["host"] == f"127.0.0.1:{other.port}"
        assert not {"authorization", "x-api-key", "mcp-session-id"} & second.headers.keys()
        assert "secret" not in str(second.headers)
        await second.answer(404)  # it has no session of ours, so it cannot have lost one
        assert isinstance(await talk.outcome(), ServerError)
        assert not talk.ended.is_set()


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("tls", [True, False])
async def test_another_port_is_another_server(status: int, tmp_path: Path, *, tls: bool) -> None:
    """Nobody looked at it: on this machine it is whatever else listens here."""
    authority = Authority(tmp_path)
    context = authority.server() if tls else None
    async with (
        played(context) as server,
        played(context) as other,
        modern(server, dial=dialing(authority.trust)) as talk,
    ):
        talk.asking("tools/call", {"name": "x", "arguments": {"for": "this server only"}})
        await (await server.next()).answer(status, b"", f"Location: {other.url}")
        outcome = await talk.outcome()
        assert isinstance(outcome, NoUsableAnswer)
        assert "another port" in str(outcome)
        assert other.connections == 0
        talk.asking("tools/list")
        await (await server.next("tools/list")).result()
        assert await talk.outcome() == {}


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_a_question_is_not_turned_into_another_kind_of_request(status: int) -> None:
    async with played() as server, modern(server) as talk:
        talk.asking("tools/call")
        await (await server.next()).answer(status, b"", f"Location: {server.url}")
        outcome = await talk.outcome()
        assert isinstance(outcome, ServerError)
        assert outcome.error["data"] == {"status": status}


async def test_what_is_listened_to_may_be_anywhere() -> None:
    async with played() as server, in_session(server, listened_to=True) as talk:
        await (await server.next()).answer(302, b"", "Location: /stream")
        listening = await server.next()
        assert (listening.verb, listening.target) == ("GET", "/stream")
        await listening.stream()
        await listening.event({"jsonrpc": "2.0", "method": "notifications/message"})
        assert await talk.news() == ("notifications/message", None, None)


async def test_there_is_an_end_to_it() -> None:
    async with played() as server, modern(server) as talk:
        talk.asking("tools/call")
        for _ in range(6):
            await (await server.next()).answer(307, b"", "Location: /again")
        outcome = await talk.outcome()
        assert isinstance(outcome, NoUsableAnswer)
        assert "too many redirections" in str(outcome)
        talk.asking("tools/list")
        await (await server.next()).result()
        assert await talk.outcome() == {}


@pytest.mark.parametrize(
    "location",
    ["ftp://127.0.0.1/", "http://user:word@127.0.0.1/", "http://a b/", "http://[::1", "/é", "http://a:0/", "\\\\a"],
)
async def test_what_is_no_url_leads_nowhere(location: str) -> None:
    async with played() as server, modern(server) as talk:
        talk.asking("tools/call")
        await (await server.next()).answer(307, b"", f"Location: {location}")
        assert isinstance(await talk.outcome(), NoUsableAnswer)
        talk.asking("tools/list")
        await (await server.next()).result()
        assert await talk.outcome() == {}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2", "169.254.169.254", "example.com"])
async def test_another_host_is_another_server(host: str) -> None:
    async with played() as server, modern(server) as talk:
        talk.asking("tools/call", {"name": "x", "arguments": {"for": "this server only"}})
        await (await server.next()).answer(307, b"", f"Location: http://{host}:{server.port}/mcp")
        outcome = await talk.outcome()
        assert isinstance(outcome, NoUsableAnswer)
        assert "another host" in str(outcome)
        talk.asking("tools/list")  # the next that comes is this, so the other never came
        await (await server.next("tools/list")).result()
        assert await talk.outcome() == {}
