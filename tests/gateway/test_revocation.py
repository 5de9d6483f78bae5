"""A caller is revoked, or its time is over, while all kinds of things are open in its name: each of them ends.

What was in flight is cut off and says so, with one entry for each call; nothing that comes afterwards is let in, and
nobody else notices.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.domain.asks import AskKind
from tests.gate import DIRECT, Gate
from tests.gateway.granting import Granted, granted, over, revoked
from tests.gateway.hearing import FIRST, WRAPPED, hearing, nothing_subscribed, subscribed, until
from tests.gateway.speaking import HOWS, guarded, nothing_happens, speaking, turned_away
from tests.simulators.http_client import HttpClient
from tests.simulators.line_client import LineClient
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
Way = Callable[[Gate, Granted], Awaitable[None]]
WAYS: list[Way] = [revoked, over]
BOTH = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
EVERY = pytest.mark.parametrize("how", HOWS)
SECONDS = 100


async def let_in(guard: Gate, label: str = "agent") -> Granted:
    return await granted(guard, label, seconds=SECONDS)


async def shut_out(guard: Gate, caller: Granted, script: Script) -> None:
    """Nobody is let in with this token any more, by any way, and nothing happens."""
    with nothing_happens(guard, script):
        for modern in (True, False):
            client = guard.client(modern=modern, token=caller.token)
            reply = await (client.discover() if modern else client.initialize())
            assert reply.status == 401
            assert reply.headers["www-authenticate"] == 'Bearer realm="mcpguard", error="invalid_token"'
        async with await anyio.connect_unix(guard.where.agents) as stream:
            hello = {"mcpguard": 1, "face": "direct", "only": None, "token": caller.token}
            await stream.send(json.dumps(hello).encode() + b"\n")
            assert "expired or revoked" in json.loads(await stream.receive())["error"]
    assert (await turned_away(guard)) == {("network", "credential"): 2, ("streams", "credential"): 1}


@EVERY
@BOTH
async def test_what_is_in_flight_and_what_is_queued_is_cut_off(way: Way, how: str, tmp_path: Path) -> None:
    """Two calls are in flight and two wait for their turn. Somebody else's, beside them, are answered."""
    script = Script()
    told: list[Json] = []
    async with guarded(tmp_path, script, upstreams__concurrency=3) as guard:
        caller, other = await let_in(guard), await granted(guard, "other")
        async with (
            speaking(guard, how, token=caller.token) as client,
            speaking(guard, how, token=other.token) as another,
            anyio.create_task_group() as tasks,
        ):

            async def call(of: Any, into: list[Json]) -> None:  # noqa: ANN401 - either client
                into.append((await of.call("web::slow")).result)

            answers: list[Json] = []
            tasks.start_soon(call, another, answers)
            await script.until(lambda: script.held == 1)
            for _ in range(4):
                tasks.start_soon(call, client, told)
            await script.until(lambda: script.held == 3)
            await until(lambda: len(guard.entries()) == 5)
            await way(guard, caller)
            await until(lambda: len(told) == 4)
            await script.until(lambda: script.held == 1)
            script.go()
            await until(lambda: answers)
        assert "isError" not in answers[0]
        said = sorted(each["_meta"]["mcpguard/refusal"]["executed"] for each in told)
        assert said == ["no", "no", "unknown", "unknown"]
        assert {each["_meta"]["mcpguard/refusal"]["reason"] for each in told} == {"caller:revoked"}
        mine = [entry for entry in guard.entries() if entry["caller"] == caller.id]
        assert sorted((each["outcome"], each["executed"], each["reason"]) for each in mine) == [
            ("refused", "no", "caller:revoked"),
            ("refused", "no", "caller:revoked"),
            ("unknown", "unknown", "caller:revoked"),
            ("unknown", "unknown", "caller:revoked"),
        ]
        assert len(script.called("tools/call", "slow")) == 3, "none of those that waited has come"
        await shut_out(guard, caller, script)


@BOTH
@pytest.mark.parametrize("modern", [True, False])
async def test_a_stream_on_the_agents_socket_ends(way: Way, modern: bool, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        caller = await let_in(guard)
        async with (
            guard.stream(modern=modern, token=caller.token) as client,
            guard.stream(modern=modern) as another,
        ):
            for each in (client, another):
                if not modern:
                    await each.initialize()
                assert (await each.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
            await way(guard, caller)
            await client.ended.wait()
            assert (await another.call("web::echo", {"x": 2})).result["structuredContent"] == {"x": 2}
            assert not another.ended.is_set()
        await shut_out(guard, caller, script)


@BOTH
async def test_a_session_is_gone_with_its_stream_and_its_requests(way: Way, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        caller, other = await let_in(guard), await granted(guard, "other")
        client, another = await guard.legacy(token=caller.token), await guard.legacy(token=other.token)
        async with client.listening() as listening, another.listening() as others:
            await way(guard, caller)
            await listening.until_ended()
            assert not others.ended
        assert (await client.call("web::echo")).status == 401
        client.headers["authorization"] = f"Bearer {other.token}"
        assert (await client.call("web::echo")).status == 404, "and the session is nobody else's either"
        assert (await another.call("web::echo")).status == 200
        assert len(guard.where.door.sessions) == 1


@EVERY
@BOTH
async def test_subscriptions_end_and_are_given_back(way: Way, how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        caller = await let_in(guard)
        async with _heard(guard, how, caller) as ended:
            assert subscribed(script) == {FIRST}
            await way(guard, caller)
            await nothing_subscribed(script)
            await until(ended)
        await shut_out(guard, caller, script)


@asynccontextmanager
async def _heard(guard: Gate, how: str, caller: Granted) -> AsyncIterator[Callable[[], bool]]:
    """A client that has subscribed, and does not take it back. Gives what tells whether its stream has ended."""
    if how.startswith("http"):
        client = guard.client(token=caller.token) if how.endswith("modern") else await guard.legacy(token=caller.token)
        wanted = {"resourceSubscriptions": [WRAPPED]} if client.modern else {}
        async with client.listening(**wanted) as listening:
            if client.modern:
                await listening.until("notifications/subscriptions/acknowledged")
            else:
                assert (await client.request("resources/subscribe", {"uri": WRAPPED})).result == {}
            yield lambda: listening.ended
    else:
        async with (
            guard.stream(modern=how.endswith("modern"), token=caller.token) as line,
            anyio.create_task_group() as tasks,
        ):
            if line.modern:
                params = {"notifications": {"resourceSubscriptions": [WRAPPED]}}
                tasks.start_soon(line.request, "subscriptions/listen", params)
                await until(lambda: line.heard)
            else:
                await line.initialize()
                assert (await line.request("resources/subscribe", {"uri": WRAPPED})).result == {}
            yield line.ended.is_set
            tasks.cancel_scope.cancel()


@BOTH
async def test_a_standing_request_is_answered_at_its_end(way: Way, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        caller = await let_in(guard)
        client = guard.client(token=caller.token)
        async with client.listening(toolsListChanged=True) as listening, guard.client().listening() as others:
            await listening.until("notifications/subscriptions/acknowledged")
            await way(guard, caller)
            await listening.until_ended()
            assert "result" in listening.heard[-1]
            assert not others.ended


@BOTH
@pytest.mark.parametrize("door", ["http", "stream"])
async def test_a_call_that_waits_for_its_clients_answer_ends(way: Way, door: str, tmp_path: Path) -> None:
    """The client was away with a question. When it comes back it is nobody."""
    script = Script("modern")
    async with guarded(tmp_path, script, may_ask={"web": [AskKind.ELICITATION]}) as guard:
        caller = await let_in(guard)
        async with speaking(guard, f"{door} modern", token=caller.token) as client:
            params = {"name": "web::ask", "arguments": {}}
            first = (await client.request("tools/call", params)).result
            assert first["resultType"] == "input_required"
            await way(guard, caller)
            await until(lambda: "outcome" in guard.entries()[-1])
            (entry,) = guard.entries()
            assert (entry["outcome"], entry["executed"], entry["reason"]) == ("unknown", "unknown", "caller:revoked")
            if isinstance(client, HttpClient):
                answers = {name: {"action": "accept", "content": {"name": "Ada"}} for name in first["inputRequests"]}
                again = params | {"requestState": first["requestState"], "inputResponses": answers}
                assert (await client.request("tools/call", again)).status == 401
                del client.headers["authorization"]
                assert "error" in ((await client.request("tools/call", again)).message or {}), "nor anybody else"
            else:
                assert isinstance(client, LineClient)
                await client.ended.wait()
        assert len(script.called("tools/call", "ask")) == 1, "no answer reached the server"
        assert len(guard.entries()) == 1


@BOTH
async def test_a_client_that_is_asked_on_its_stream_is_asked_no_more(way: Way, tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script, may_ask={"web": [AskKind.ELICITATION]}) as guard:
        caller = await let_in(guard)
        async with speaking(guard, "stream legacy", token=caller.token) as client, anyio.create_task_group() as tasks:
            client.by_hand = True
            tasks.start_soon(client.call, "web::ask")
            await until(lambda: client.asked)
            await way(guard, caller)
            assert isinstance(client, LineClient)
            await client.ended.wait()
        (entry,) = guard.entries()
        assert (entry["outcome"], entry["reason"]) == ("unknown", "caller:revoked")


@EVERY
async def test_whatever_the_moment_a_call_is_refused_or_cut_and_is_one_entry(how: str, tmp_path: Path) -> None:
    """The caller is revoked a few steps after the call was made: before, while and after it is judged and sent."""
    script = Script()
    async with guarded(tmp_path, script) as guard:
        found: set[str] = set()
        for steps in range(0, 40, 3):
            caller = await granted(guard)
            sent = len(script.called("tools/call"))
            async with speaking(guard, how, token=caller.token) as client, anyio.create_task_group() as tasks:
                tasks.start_soon(client.call, "web::slow")
                for _ in range(steps):
                    await checkpoint()
                await revoked(guard, caller)
                if isinstance(client, LineClient):
                    await client.ended.wait()
                await until(lambda: not guard.now.ledger.open_entries)
                tasks.cancel_scope.cancel()
            await until(lambda: not guard.now.ledger.open_entries)
            # Its own: the call of the one before may come in after its client has gone, which the server hears later.
            entries = [entry for entry in guard.entries() if entry["caller"] == caller.id]
            assert len(entries) <= 1
            for entry in entries:
                assert entry["reason"] == "caller:revoked", entry
                assert entry["executed"] != "no" or len(script.called("tools/call")) == sent
                found.add(entry["outcome"])
            await until(lambda: not script.held)  # the server is told over its own connection
        assert found <= {"refused", "unknown"}


async def test_what_the_store_has_revoked_is_revoked_though_nobody_told_us(tmp_path: Path) -> None:
    """The transaction was kept, and its success was lost on the way: the next call finds that out."""
    script = Script()
    async with guarded(tmp_path, script) as guard:
        caller = await granted(guard)
        client = guard.client(token=caller.token)
        assert (await client.call("web::echo", {})).status == 200
        sql = "UPDATE callers SET revoked_at = 1, revoked_by = 'somebody'"
        await guard.now.store.writer.submit(lambda connection: connection.exec_driver_sql(sql).close())
        before = len(script.called("tools/call"))
        said = (await client.call("web::echo", {})).result["_meta"]["mcpguard/refusal"]
        assert (said["executed"], said["reason"]) == ("no", "caller:revoked")
        assert len(script.called("tools/call")) == before
        assert (await client.call("web::echo", {})).status == 401


async def test_a_body_that_is_still_coming_is_not_waited_for(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        caller = await granted(guard)
        came = anyio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            yield b'{"jsonrpc":'
            came.set()
            await anyio.sleep_forever()

        client = guard.client(token=caller.token)
        headers = client.headers_for(None) | {"content-type": "application/json"}
        answers: list[int] = []

        async def post() -> None:
            response = await guard.http.post(guard.where.url + DIRECT, content=slowly(), headers=headers)
            answers.append(response.status_code)

        with nothing_happens(guard, script):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(post)
                await came.wait()
                await until(lambda: guard.where.door._guests.callers)
                await revoked(guard, caller)
                await until(lambda: not guard.where.door._guests.callers)
                tasks.cancel_scope.cancel()


async def test_hearing_goes_on_for_everybody_else(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        caller, other = await granted(guard), await granted(guard, "other")
        async with (
            hearing(guard, "http modern", WRAPPED, token=other.token) as ear,
            _heard(guard, "http modern", caller) as ended,
        ):
            await revoked(guard, caller)
            await until(ended)
            await script.updated(FIRST)
            assert await ear.until() == [WRAPPED]
