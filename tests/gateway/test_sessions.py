"""Sessions belong to one caller and one face, cost next to nothing while they are idle, and end."""

import asyncio
import tracemalloc
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.callers import Caller
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.clients import NETWORK, Client
from mcpguard.gateway.faces.direct import DirectFace
from mcpguard.gateway.http.plain import HttpRefusal
from mcpguard.gateway.http.sessions import ClientSession, Sessions
from mcpguard.gateway.outbox import Outbox
from tests.clock import FakeClock
from tests.gate import DIRECT, Gate
from tests.gateway.speaking import ONLY, OTHER_TOKEN, TOKEN, guarded, nothing_happens, turned_away, two_callers
from tests.simulators.http_client import HttpClient
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
FACE = DirectFace("::")
HOUR = 3600


def client() -> Client:
    return Client(NETWORK, Caller("a", "a"), FACE, Era.LEGACY)


def opened(sessions: Sessions, count: int) -> list[ClientSession]:
    return [sessions.open(client()) for _ in range(count)]


def known(sessions: Sessions, some: list[ClientSession]) -> list[bool]:
    return [each.id in sessions._sessions for each in some]


async def steal(guard: Gate, session: str | None, face: str = DIRECT, token: str | None = None) -> HttpClient:
    """Somebody else who has learned the id of a session."""
    thief = guard.client(face, modern=False, token=token)
    thief.session = session
    return thief


async def test_a_session_does_not_exist_for_anybody_else(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, callers=two_callers()) as guard:
        owner = await guard.legacy(token=TOKEN)
        with nothing_happens(guard, script):
            for face, token in (
                (DIRECT, None),
                (DIRECT, OTHER_TOKEN),
                (ONLY + "web", TOKEN),
                (ONLY + "web", None),
            ):
                thief = await steal(guard, owner.session, face, token)
                for reply in (await thief.call("web::echo", {}), await thief.notify("notifications/cancelled", {})):
                    assert (reply.status, reply.error["message"]) == (
                        404,
                        "unknown session; send initialize first",
                    )
                for method in ("GET", "DELETE"):
                    response = await guard.http.request(method, thief.url, headers=thief.headers_for(None))
                    assert response.status_code == 404
        unknown = await steal(guard, "x" * 43, token=TOKEN)
        assert (await unknown.call("web::echo", {})).error["message"] == "unknown session; send initialize first"
        assert (await owner.call("web::echo", {})).status == 200, "the owner noticed nothing"


async def test_what_comes_without_a_session_or_begins_one_again_is_refused(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        nobody = guard.client(modern=False)
        with nothing_happens(guard, script):
            for method in ("tools/list", "tools/call", "ping", "logging/setLevel", "server/discover"):
                assert (await nobody.request(method, {})).status == 400
            assert (await nobody.notify("notifications/initialized")).status == 400
            for method in ("GET", "DELETE"):
                headers = nobody.headers_for(None)
                assert (await guard.http.request(method, nobody.url, headers=headers)).status_code == 400
        one = await guard.legacy()
        first = one.session
        again = await one.initialize()
        assert (again.status, again.error["message"]) == (400, "this session is initialized already")
        assert (await one.request("ping")).status == 200
        assert one.session == first
        fresh = guard.client(modern=False)
        for params in ({}, {"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}):
            refused = await fresh.request("initialize", params)
            assert refused.error["code"] == -32602
            assert "mcp-session-id" not in refused.headers
        twice = {"mcp-session-id": one.session or ""}
        response = await guard.http.post(
            one.url,
            content=b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
            headers=[*one.headers_for(None).items(), *twice.items(), ("content-type", "application/json")],
        )
        assert response.status_code == 400, "one of two sessions is none"
        assert (await turned_away(guard))["network", "no session"] == 8


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
async def test_every_revision_of_the_handshake_is_spoken_as_it_was_agreed(version: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        one = guard.client(modern=False)
        one.version = version
        assert (await one.initialize()).result["protocolVersion"] == version
        assert (await one.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        one.version = "2026-07-28"
        assert (await one.request("ping")).status == 400
        newer = guard.client(modern=False)
        newer.version = "2099-01-01"
        assert (await newer.initialize()).result["protocolVersion"] == "2025-11-25"


async def test_a_session_that_is_given_back_ends_with_everything_in_it(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        one = await guard.legacy()
        async with one.listening() as heard, anyio.create_task_group() as tasks:
            replies = []

            async def call() -> None:
                replies.append(await one.call("web::slow"))

            tasks.start_soon(call)
            await script.received("tools/call")
            session = one.session
            assert (await one.end()).status == 200
            await heard.until_ended()
        assert replies[0].error["code"] == -32800
        await script.until(lambda: script.abandoned)
        one.session = session
        assert (await one.request("ping")).status == 404
        assert (await one.end()).status == 404
        (entry,) = guard.entries()
        assert (entry["outcome"], entry["executed"]) == ("cancelled", "unknown")


async def test_the_one_that_was_idle_for_longest_makes_room(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), limits__sessions=3) as guard:
        clients = []
        for _ in range(3):
            clients.append(await guard.legacy())
            await guard.clock.advance(1)
        await clients[0].request("ping")
        async with clients[1].listening():
            for _ in range(3):
                await guard.clock.advance(1)
                clients.append(await guard.legacy())
            assert [(await each.request("ping")).status for each in clients] == [404, 200, 404, 404, 200, 200]


async def test_handshakes_count_in_the_budget_of_their_caller(tmp_path: Path) -> None:
    """A client that begins anew for every call has room for it; one that does nothing but begin has not."""
    script = Script()
    async with guarded(tmp_path, script, callers=two_callers(), budgets__caller_minute=6) as guard:
        for number in range(3):
            client = await guard.legacy(token=TOKEN)
            assert (await client.call("web::echo", {"n": number})).result["structuredContent"] == {"n": number}
        before = len(guard.where.door.sessions)
        with nothing_happens(guard, script):
            for _ in range(20):
                reply = await guard.client(modern=False, token=TOKEN).initialize()
                assert (reply.status, reply.error["code"]) == (429, -31010)
                assert (reply.error["data"]["reason"], reply.error["data"]["executed"]) == ("budget:calls", "no")
                assert 1 <= int(reply.headers["retry-after"]) <= 61
        assert len(guard.where.door.sessions) == before, "no session was made"
        assert await turned_away(guard) == {("network", "budget:calls"): 20}
        assert (await (await guard.legacy(token=OTHER_TOKEN)).call("web::echo")).result
        await guard.clock.advance(int(reply.headers["retry-after"]))
        assert (await guard.legacy(token=TOKEN)).session, "as was said, there is room again"


async def test_handshakes_of_streams_count_as_well(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, budgets__caller_minute=2) as guard:
        for _ in range(2):
            async with guard.stream(modern=False) as stream:
                assert (await stream.initialize()).result
        async with guard.stream(modern=False) as stream:
            with nothing_happens(guard, script):
                reply = await stream.initialize()
                assert (reply.error["code"], reply.error["data"]["reason"]) == (-31010, "budget:calls")
                assert (await stream.request("tools/list")).error["message"] == "begin with initialize"
            await guard.clock.advance(61)
            assert (await stream.initialize()).result, "the stream may begin later"
        found = await turned_away(guard)
        assert found == {("streams", "budget:calls"): 1, ("streams", "no handshake"): 1}


async def test_what_is_in_use_keeps_nobody_from_making_room() -> None:
    sessions = Sessions(5, HOUR, FakeClock())
    busy = opened(sessions, 2)
    with sessions.listening(busy[0], Outbox()), sessions.calling(busy[1], 1):
        idle = opened(sessions, 20)
        assert len(sessions) == 5
        assert known(sessions, busy) == [True, True]
        assert known(sessions, idle[-3:]) == [True, True, True]


def test_where_all_are_in_use_there_is_no_other() -> None:
    sessions = Sessions(2, HOUR, FakeClock())
    one, other = opened(sessions, 2)
    with sessions.listening(one, Outbox()), sessions.listening(other, Outbox()), pytest.raises(HttpRefusal) as turned:
        sessions.open(client())
    assert turned.value.status == 503
    assert len(sessions) == 2
    sessions.open(client())
    assert known(sessions, [one, other]) == [True, False], "the one that was in use until just now stays"


async def test_idle_for_too_long_is_the_end() -> None:
    clock = FakeClock()
    sessions = Sessions(100, HOUR, clock)
    one, used, busy = opened(sessions, 3)
    with sessions.calling(busy, 1):
        await clock.advance(HOUR)
        assert sessions.find(used.id, "a", "direct ::") is used
        await clock.advance(1)
        assert sessions.find(one.id, "a", "direct ::") is None
        await clock.advance(HOUR)
        assert sessions.find(used.id, "a", "direct ::") is None
        assert sessions.find(busy.id, "a", "direct ::") is busy, "it is in use"
        await clock.advance(2 * HOUR)
    await clock.advance(HOUR)
    assert sessions.find(busy.id, "a", "direct ::") is busy, "it is idle since its call ended, not since it began"
    await clock.advance(HOUR + 1)
    sessions.open(client())
    assert len(sessions) == 1, "and nobody needs to ask for it"


def test_ids_cannot_be_guessed() -> None:
    ids = {session.id for session in opened(Sessions(2000, HOUR, FakeClock()), 1000)}
    assert len(ids) == 1000
    assert all(len(each) == 43 and each.isascii() and each.isprintable() for each in ids)


def test_an_idle_session_is_cheap() -> None:
    """Measured: 440 bytes, and 560 of the process, the client in it included."""
    sessions = Sessions(10_000, HOUR, FakeClock())
    opened(sessions, 1)
    tracemalloc.start()
    try:
        opened(sessions, 5000)
        assert tracemalloc.get_traced_memory()[0] / 5000 < 1000
    finally:
        tracemalloc.stop()


async def test_idle_sessions_are_no_tasks(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        await guard.legacy()
        before = len(asyncio.all_tasks())
        for _ in range(50):
            await guard.legacy()
        assert len(guard.where.door.sessions) == 51
        assert len(asyncio.all_tasks()) == before


async def test_whoever_begins_sessions_without_end_loses_their_own_and_nobody_else_s() -> None:
    sessions = Sessions(10, HOUR, FakeClock())
    others = [sessions.open(Client(NETWORK, Caller(name, name), FACE, Era.LEGACY)) for name in ("b", "c", "c")]
    flood = opened(sessions, 1000)
    assert known(sessions, others) == [True] * 3
    assert known(sessions, flood) == [False] * 993 + [True] * 7


async def test_those_of_others_end_only_where_all_of_whoever_has_most_are_in_use() -> None:
    sessions = Sessions(4, HOUR, FakeClock())
    other = sessions.open(Client(NETWORK, Caller("b", "b"), FACE, Era.LEGACY))
    busy = opened(sessions, 3)
    for each in busy:
        each.stream = Outbox()
    (one,) = opened(sessions, 1)
    assert known(sessions, [other, *busy, one]) == [False, True, True, True, True]
