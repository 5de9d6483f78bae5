"""A conversation over streamable HTTP: what is sent, and what is made of what comes back, in both eras."""

import anyio
import pytest

from mcpguard.upstreams.exchange.conversation import INTERNAL_ERROR, METHOD_NOT_FOUND, Bounds, ServerError
from mcpguard.upstreams.exchange.endings import NoUsableAnswer
from mcpguard.upstreams.exchange.transport import TransportEnded
from tests.patience import PATIENCE
from tests.upstreams.played import Asked, played
from tests.upstreams.talking import LEGACY, MODERN, STAMP, in_session, modern, talking

pytestmark = pytest.mark.anyio


def named(asked: Asked) -> dict[str, str]:
    """What the headers say of the protocol."""
    return {name: value for name, value in asked.headers.items() if name.startswith(("mcp-", "last-"))}


async def test_a_request_is_one_post_and_its_answer_a_json_text() -> None:
    async with played() as server, talking(server, {"Authorization": "Bearer secret"}) as talk:
        talk.asking("tools/list", {"cursor": None})
        asked = await server.next()
        assert (asked.verb, asked.target) == ("POST", "/mcp")
        assert asked.message == {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": None}}
        assert asked.headers == {
            "host": f"127.0.0.1:{server.port}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "accept-encoding": "identity",
            "user-agent": "mcpguard",
            "authorization": "Bearer secret",
            "content-length": str(len(asked.body)),
        }
        await asked.result(tools=[], odd=None)
        assert await talk.outcome() == {"tools": [], "odd": None}


async def test_or_it_comes_on_a_stream_after_what_belongs_to_it() -> None:
    async with played() as server, talking(server) as talk:
        talk.asking("tools/call", origin="call a")
        asked = await server.next()
        await asked.stream()
        await asked.chunk(b": keep-alive\r\n\r\n")
        await asked.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}})
        assert await talk.news() == ("notifications/progress", {"progress": 1}, "call a")
        await asked.event({"jsonrpc": "2.0", "id": "s1", "method": "roots/list"})
        answered = await server.next()
        assert answered.message == {
            "jsonrpc": "2.0",
            "id": "s1",
            "result": {"asked": "roots/list", "with": None, "for": "call a"},
        }
        await answered.taken()
        await asked.event_result(done=True)
        assert await talk.outcome() == {"done": True}


async def test_nobody_waits_for_a_stream_to_end_and_its_connection_is_used_again_when_it_has() -> None:
    async with played() as server, talking(server) as talk:
        for number in range(3):
            talk.asking("tools/call")
            asked = await server.next()
            await asked.stream()
            await asked.event_result(number=number)
            assert await talk.outcome() == {"number": number}
            await asked.end()
            with anyio.fail_after(PATIENCE):
                while len(talk.http._pool._open) != sum(map(len, talk.http._pool._idle.values())):
                    await anyio.wait_all_tasks_blocked()
        assert server.connections == 1


async def test_answers_reach_those_who_asked_in_whatever_order_they_come() -> None:
    async with played() as server, talking(server) as talk:
        for name in "abc":
            talk.asking(name)
        asked = [await server.next() for _ in "abc"]
        for each in reversed(asked):
            await each.result(to=each.message["method"])
            assert await talk.outcome() == {"to": each.message["method"]}


async def test_an_error_of_the_server_is_kept_as_it_is_whatever_the_status() -> None:
    error = {"code": -32022, "message": "no", "data": {"supported": ["2026-07-28"], "odd": None}, "more": 1}
    async with played() as server, talking(server) as talk:
        for status, id_ in [(200, 1), (200, None), (400, 3), (404, None), (500, "server-error")]:
            talk.asking("server/discover")
            await (await server.next()).json({"jsonrpc": "2.0", "id": id_, "error": error}, status=status)
            outcome = await talk.outcome()
            assert isinstance(outcome, ServerError)
            assert outcome.error == error


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, "<html>"),
        (404, '{"jsonrpc": "2.0", "id": 1, "error": {}}'),
        (400, '{"jsonrpc": "2.0", "id": 1, "result": {}}'),
        (302, ""),
    ],
)
async def test_of_any_other_failure_the_status_is_told(status: int, body: str) -> None:
    async with played() as server, talking(server) as talk:
        talk.asking("tools/list")
        await (await server.next()).answer(status, body.encode(), "Content-Type: application/json")
        outcome = await talk.outcome()
        assert isinstance(outcome, ServerError)
        assert outcome.error["code"] == INTERNAL_ERROR
        assert outcome.error["data"] == {"status": status}


@pytest.mark.parametrize("status", [401, 403])
async def test_where_credentials_are_asked_for_it_is_kept_in_what_words(status: int) -> None:
    words = 'Bearer resource_metadata="https://example.com/.well-known"'
    async with played() as server, talking(server) as talk:
        talk.asking("initialize")
        await (await server.next()).answer(status, b"{}", f"WWW-Authenticate: {words}\x1b[2J")
        assert isinstance(await talk.outcome(), NoUsableAnswer), "no head has control characters"
        talk.asking("initialize")
        await (await server.next()).answer(status, b"{}", f"WWW-Authenticate: {words}\x9b[2J")
        outcome = await talk.outcome()
        assert isinstance(outcome, ServerError)
        assert outcome.error["data"] == {"status": status, "www_authenticate": words + "[2J"}
        talk.asking("initialize")
        await (await server.next()).answer(status, b"{}", "WWW-Authenticate: " + "x" * 50_000)
        outcome = await talk.outcome()
        assert isinstance(outcome, ServerError)
        assert outcome.error["data"]["www_authenticate"] == "x" * 2048


async def test_legacy_headers_name_the_session_and_the_revision_once_they_are_known() -> None:
    async with played() as server, talking(server) as talk:
        talk.asking("initialize")
        asked = await server.next()
        assert named(asked) == {}
        await asked.result("Mcp-Session-Id: s-1")
        await talk.outcome()
        talk.http.speak(LEGACY)
        told = {"mcp-session-id": "s-1", "mcp-protocol-version": LEGACY}
        talk.asking("tools/call", {"name": "x", "_meta": STAMP})  # an agent cannot change the era
        asked = await server.next()
        assert named(asked) == told
        await asked.result()
        talk.tasks.start_soon(talk.http.notify, "notifications/roots/list_changed")
        told_of = await server.next("notifications/roots/list_changed")
        assert named(told_of) == told
        await told_of.taken()
        talk.asking("initialize")
        asked = await server.next("initialize")
        assert named(asked) == {}  # a handshake begins anew
        await asked.result()
        await talk.outcome()


async def test_modern_headers_repeat_what_the_request_is_from_the_first_question_on() -> None:
    async with played() as server, talking(server) as talk:
        talk.asking("server/discover", {"_meta": STAMP})
        asked = await server.next()
        assert named(asked) == {"mcp-protocol-version": MODERN, "mcp-method": "server/discover"}
        await asked.result("Mcp-Session-Id: s-1")
        await talk.outcome()
        talk.http.speak(MODERN)
        for method, params, name in [
            ("tools/call", {"name": "get_weather"}, "get_weather"),
            ("prompts/get", {"name": "été"}, "=?base64?w6l0w6k=?="),
            ("resources/read", {"uri": "file:///a b"}, "file:///a b"),
            ("tasks/get", {"taskId": "t\r\nX: y"}, "=?base64?dA0KWDogeQ==?="),
            ("tools/list", None, None),
        ]:
            talk.asking(method, params)
            asked = await server.next()
            said = {"mcp-protocol-version": MODERN, "mcp-method": method} | ({"mcp-name": name} if name else {})
            assert named(asked) == said
            await asked.result()
            assert await talk.outcome() == {}


async def test_headers_that_repeat_parameters_go_with_the_request() -> None:
    async with played() as server, modern(server) as talk:
        call = talk.http.request
        talk.tasks.start_soon(call, "tools/call", {"name": "sql"}, None, {"Mcp-Param-Region": "us-west1"})
        asked = await server.next()
        assert asked.headers["mcp-param-region"] == "us-west1"
        await asked.result()


@pytest.mark.parametrize("era", [in_session, modern])
async def test_a_cancelled_request_is_taken_back_in_the_words_of_its_era(era: type) -> None:
    async with played() as server, era(server) as talk:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as callers:
                callers.start_soon(talk.ask, "tools/call")
                asked = await server.next("tools/call")
                await asked.stream()
                scope.cancel()
        await asked.left()
        if era is in_session:
            cancelled = await server.next("notifications/cancelled")
            assert cancelled.message["params"] == {"requestId": asked.message["id"]}
            await cancelled.taken()
        talk.asking("tools/list")
        await (await server.next("tools/list")).result()
        assert await talk.outcome() == {}


async def test_the_handshake_is_never_taken_back() -> None:
    async with played() as server, talking(server) as talk:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as callers:
                callers.start_soon(talk.ask, "initialize")
                asked = await server.next("initialize")
                scope.cancel()
        await asked.left()
        talk.asking("ping")
        await (await server.next("ping")).result()
        assert await talk.outcome() == {}


async def test_what_is_refused_is_answered_with_an_error() -> None:
    async with played() as server, in_session(server) as talk:
        talk.asking("tools/call")
        asked = await server.next("tools/call")
        await asked.stream()
        await asked.event({"jsonrpc": "2.0", "id": 7, "method": "unknown"})
        answered = await server.next()
        assert answered.message["error"] == {"code": METHOD_NOT_FOUND, "message": "no such method"}
        assert answered.headers["mcp-session-id"] == "s-1"
        await answered.taken()
        await asked.event_result()
        assert await talk.outcome() == {}


async def test_a_flood_of_requests_is_refused_and_then_dropped_and_the_answer_comes_through() -> None:
    async with played() as server, in_session(server, bounds=Bounds(requests=3)) as talk:
        talk.answers = anyio.Event()
        talk.asking("tools/call")
        asked = await server.next("tools/call")
        await asked.stream()
        for number in range(20):
            await asked.event({"jsonrpc": "2.0", "id": number, "method": "sampling/createMessage"})
        await asked.event_result(through=True)
        assert await talk.outcome() == {"through": True}
        assert talk.http.counts.dropped == 14
        refused = [await server.next() for _ in range(3)]
        assert sorted(each.message["id"] for each in refused if "error" in each.message) == [3, 4, 5]
        talk.answers.set()
        answered = [await server.next() for _ in range(3)]
        assert sorted(each.message["id"] for each in answered if "result" in each.message) == [0, 1, 2]


async def test_a_modern_server_may_not_ask_anything_on_a_stream() -> None:
    async with played() as server, modern(server) as talk:
        talk.asking("tools/call")
        asked = await server.next("tools/call")
        await asked.stream()
        await asked.event({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage"})
        await asked.event_result()
        assert await talk.outcome() == {}
        assert talk.http.counts.dropped == 1
        assert len(server.heard) == 1


async def test_whoever_is_not_there_cannot_be_told() -> None:
    async with talking("http://127.0.0.1:1/") as talk:
        with pytest.raises(TransportEnded):
            await talk.http.notify("notifications/initialized")


async def test_all_that_waits_ends_with_the_conversation() -> None:
    async with played() as server:
        async with in_session(server) as talk:
            talk.asking("tools/call")
            asked = await server.next("tools/call")
            talk.http.end(TransportEnded("enough"))
            assert str(await talk.outcome()) == "enough"
            await asked.left()
            await talk.ended.wait()
        closed = await server.next()
        assert (closed.verb, closed.headers["mcp-session-id"]) == ("DELETE", "s-1")
