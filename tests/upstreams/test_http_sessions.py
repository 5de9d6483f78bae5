"""Sessions and streams up to 2025-11-25: how they are listened to, taken up again, lost and ended."""

from dataclasses import replace

import anyio
import pytest

from mcpguard.upstreams.exchange.endings import NoUsableAnswer, SessionLost, Unsent
from tests.patience import PATIENCE
from tests.upstreams.played import played
from tests.upstreams.talking import LEGACY, QUICK, in_session, talking

pytestmark = pytest.mark.anyio

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


async def test_what_a_server_says_of_its_own_accord_is_listened_to_and_belongs_to_the_only_request_if_any() -> None:
    async with played() as server, in_session(server, listened_to=True) as talk:
        listening = await server.next()
        assert (listening.verb, listening.headers["accept"]) == ("GET", "text/event-stream")
        assert listening.headers["mcp-session-id"] == "s-1"
        assert listening.headers["mcp-protocol-version"] == LEGACY
        await listening.stream()
        await listening.event(CHANGED)
        assert await talk.news() == ("notifications/tools/list_changed", None, None)
        talk.asking("tools/call", origin="call a")
        asked = await server.next("tools/call")
        await listening.event(CHANGED)
        assert await talk.news() == ("notifications/tools/list_changed", None, "call a")
        talk.asking("tools/call", origin="call b")
        another = await server.next("tools/call")
        await listening.event({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        answered = await server.next()
        assert answered.message == {"jsonrpc": "2.0", "id": 1, "result": {"asked": "ping", "with": None, "for": None}}
        await answered.taken()
        await listening.event({"jsonrpc": "2.0", "id": asked.message["id"], "result": {"forged": True}})
        await listening.event({"jsonrpc": "2.0", "id": 0, "result": {"forged": True}})
        await asked.result(genuine=True)
        assert await talk.outcome() == {"genuine": True}
        assert talk.http.counts.late == 2
        await listening.event(CHANGED)
        assert await talk.news() == ("notifications/tools/list_changed", None, "call b")
        await another.result(genuine=True)
        await talk.outcome()


async def test_a_stream_that_breaks_is_opened_again_where_it_was_left() -> None:
    async with played() as server, in_session(server, listened_to=True) as talk:
        first = await server.next()
        await first.stream()
        await first.event(CHANGED, id="e-1")
        await talk.news()
        await first.hang_up()
        second = await server.next()
        assert second.headers["last-event-id"] == "e-1"
        await second.stream()
        await second.event(None, id="e-2", retry="1")
        await second.end()
        third = await server.next()
        assert third.headers["last-event-id"] == "e-2"
        await third.answer(503)
        fourth = await server.next()
        await fourth.stream()
        await fourth.event(CHANGED)
        await talk.news()
        await fourth.hang_up()
        assert (await server.next()).headers["last-event-id"] == "e-2"  # no other place was named since
        talk.asking("ping")
        await (await server.next("ping")).result()
        assert await talk.outcome() == {}


async def test_an_event_that_is_too_large_is_not_asked_for_again() -> None:
    async with played() as server, in_session(server, listened_to=True) as talk:
        first = await server.next()
        await first.stream()
        await first.event(CHANGED, id="e-1")
        await talk.news()
        await first.chunk(b"data: ")
        for _ in range(20):
            await first.chunk(b"x" * 1_000_000)
        await first.left()
        assert "last-event-id" not in (await server.next()).headers


@pytest.mark.parametrize("ids", [["e-1"], ["e-1", "e-2"]])
async def test_an_answer_whose_stream_is_closed_early_is_fetched_where_it_was_left(ids: list[str]) -> None:
    """A server may close the connection after any event with an id, and wants to be polled (SEP-1699)."""
    async with played() as server, in_session(server) as talk:
        talk.asking("tools/call", origin="call a")
        asked = await server.next("tools/call")
        here = asked
        for id_ in ids:
            await here.stream()
            await here.event(None, id=id_, retry="1")
            await here.end()
            here = await server.next()
            assert (here.verb, here.headers["last-event-id"]) == ("GET", id_)
        await here.stream()
        await here.event({"jsonrpc": "2.0", "method": "notifications/progress"})
        assert await talk.news() == ("notifications/progress", None, "call a")
        await here.event({"jsonrpc": "2.0", "id": asked.message["id"], "result": {"late": "but whole"}})
        assert await talk.outcome() == {"late": "but whole"}
        assert [each.message["method"] for each in server.heard if each.verb == "POST"].count("tools/call") == 1


async def test_an_answer_that_cannot_be_fetched_fails_that_request_only() -> None:
    async with played() as server, in_session(server) as talk:
        talk.asking("tools/call")
        asked = await server.next("tools/call")
        await asked.stream()
        await asked.event(None, id="e-1", retry="1")
        await asked.end()
        for _ in range(3):
            await (await server.next()).answer(503)
        assert isinstance(await talk.outcome(), NoUsableAnswer)
        talk.asking("tools/call")
        asked = await server.next("tools/call")
        await asked.stream()
        await asked.event(None, id="e-2", retry="1")
        await asked.hang_up()
        await (await server.next()).answer(405)
        assert isinstance(await talk.outcome(), NoUsableAnswer)
        talk.asking("ping")
        await (await server.next("ping")).result()
        assert await talk.outcome() == {}


@pytest.mark.parametrize("where", ["request", "notification", "listening"])
async def test_a_lost_session_ends_the_conversation_so_that_a_new_one_is_begun(where: str) -> None:
    async with played() as server:
        async with in_session(server, listened_to=True) as talk:
            listening = await server.next()
            talk.asking("tools/call")
            waiting = await server.next("tools/call")
            if where == "listening":
                lost = listening
            elif where == "notification":
                await talk.http.notify("notifications/roots/list_changed")
                lost = await server.next("notifications/roots/list_changed")
            else:
                talk.asking("tools/list")
                lost = await server.next("tools/list")
            await lost.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "x"}}, status=404)
            with anyio.fail_after(PATIENCE):
                await talk.ended.wait()
            outcomes = [await talk.outcome() for _ in range(1 + (where == "request"))]
            assert {str(outcome) for outcome in outcomes} == {"the server has dropped the session"}
            assert where != "request" or any(isinstance(outcome, SessionLost) for outcome in outcomes)
            await waiting.left()
            talk.asking("later")
            assert isinstance(await talk.outcome(), Unsent)
        assert all(asked.verb != "DELETE" for asked in server.heard)


async def test_without_a_session_a_404_is_the_answer_to_one_request() -> None:
    async with played() as server, talking(server) as talk:
        talk.asking("server/discover")
        await (await server.next()).answer(404)
        await talk.outcome()
        talk.asking("initialize")
        await (await server.next()).result()
        assert await talk.outcome() == {}
        assert not talk.ended.is_set()


async def test_a_server_that_does_not_let_go_of_its_session_holds_up_nothing() -> None:
    async with played() as server:
        async with in_session(server, waits=replace(QUICK, closing=2)):  # so long that it is certain to be asked
            pass
        assert (await server.next()).verb == "DELETE"  # and is never answered


async def test_a_session_id_that_cannot_be_sent_back_is_refused() -> None:
    async with played() as server, talking(server) as talk:
        talk.asking("initialize")
        await (await server.next()).result("Mcp-Session-Id: a b")
        assert isinstance(await talk.outcome(), NoUsableAnswer)


async def test_there_is_no_more_listening_after_the_era_has_changed() -> None:
    async with played() as server, talking(server) as talk:
        talk.http.speak("2026-07-28")
        talk.asking("tools/list")
        await (await server.next("tools/list")).result()
        await talk.outcome()
    assert [asked.verb for asked in server.heard] == ["POST"]
