"""Taking a request back, or waiting no longer: the server hears of it, the record says so, nobody else is touched."""

from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.refusals import refusal_facts
from mcpguard.codec.uris import wrap_uri
from tests.gate import Gate
from tests.gateway.abandoning import Asking, abandoned, begun, closed, waiting
from tests.gateway.speaking import HOWS, ONLY, OTHER_TOKEN, TOKEN, guarded, speaking, two_callers
from tests.review import DECISION
from tests.simulators.line_client import LineClient
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
REQUESTS: list[tuple[str, Json]] = [
    ("tools/call", {"name": "web::echo"}),
    ("resources/read", {"uri": wrap_uri("web", "note://first")}),
    ("prompts/get", {"name": "web::greet"}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "web::greet"}, "argument": {"name": "a", "value": ""}},
    ),
]
NOT_THE_ID = [True, 1.0, "1", None, [1], {}, 2**53, "other"]


@pytest.mark.parametrize("over", ["http", "stdio"])
@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_client_that_takes_a_request_back_stops_the_work(over: str, era: str, tmp_path: Path) -> None:
    """A modern client over HTTP does so by leaving, any other by saying so."""
    script = waiting(era)
    async with guarded(tmp_path, script, over=over) as guard:
        count = 0
        for how in HOWS:
            for method, params in REQUESTS:
                async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                    asking = Asking(client, method, params, "mine")
                    tasks.start_soon(asking)
                    count += 1
                    await begun(script, count - 1)
                    if how == "http modern":
                        asking.given_up.cancel()
                    else:
                        await client.notify("notifications/cancelled", {"requestId": "mine", "reason": "enough"})
                    await abandoned(script, count)
                    entry = await closed(guard, count)
                    assert (entry["outcome"], entry["executed"]) == ("cancelled", "unknown")
                    assert entry["method"] == method
                    if how == "http legacy":
                        while asking.reply is None:
                            await anyio.lowlevel.checkpoint()
                        assert asking.reply.error["code"] == -32800
                    if isinstance(client, LineClient):
                        script.go()
                        await client.request("ping" if how == "stream legacy" else "server/discover")
                        assert asking.reply is None, "a stream says nothing of what was taken back"
                    tasks.cancel_scope.cancel()
        assert len(script.abandoned) == count


async def test_a_legacy_client_that_hangs_up_has_not_taken_it_back(tmp_path: Path) -> None:
    script = waiting()
    async with guarded(tmp_path, script) as guard:
        for count, (method, params) in enumerate(REQUESTS, 1):
            client = await guard.legacy()
            async with anyio.create_task_group() as tasks:
                asking = Asking(client, method, params | {"_meta": {"progressToken": 1}})
                tasks.start_soon(asking)
                await script.until(lambda: script.held == 1)
                asking.given_up.cancel()
            assert (await client.request("ping", id_=1)).status == 400, "it goes on, and its id is in use"
            script.go()
            entry = await closed(guard, count)
            assert (entry["outcome"], entry["executed"]) == ("answered", "yes")
            while (await client.request("ping", id_=1)).status != 200:
                await anyio.lowlevel.checkpoint()
        assert script.abandoned == []


async def test_only_ones_own_requests_can_be_taken_back(tmp_path: Path) -> None:
    script = waiting()
    script.answers["tools/call add"] = {"content": []}
    async with guarded(tmp_path, script, callers=two_callers()) as guard, AsyncExitStack() as stack:
        owner = await guard.legacy(token=TOKEN)
        others = [
            await guard.legacy(token=TOKEN),
            await guard.legacy(ONLY + "web", token=TOKEN),
            await guard.legacy(token=OTHER_TOKEN),
            await guard.legacy(),
            guard.client(token=TOKEN),
            await stack.enter_async_context(speaking(guard, "stream legacy", token=TOKEN)),
            await stack.enter_async_context(speaking(guard, "stream modern", token=TOKEN)),
        ]
        async with anyio.create_task_group() as tasks:
            asking = Asking(owner, "tools/call", {"name": "web::echo"})
            tasks.start_soon(asking)
            await script.until(lambda: script.held == 1)
            for other in others:
                reply = await other.notify("notifications/cancelled", {"requestId": 1})
                assert reply.status in (202, None)
            for wrong in NOT_THE_ID:
                assert (await owner.notify("notifications/cancelled", {"requestId": wrong})).status == 202
            for params in (None, {}, {"id": 1}):
                assert (await owner.notify("notifications/cancelled", params)).status == 202
            await owner.call("web::add")
            assert (script.held, script.abandoned) == (1, [])
            script.go()
        assert asking.reply is not None
        assert asking.reply.result["content"] == []


async def test_what_is_taken_back_while_it_waits_for_its_turn_was_never_sent(tmp_path: Path) -> None:
    script = waiting()
    async with guarded(tmp_path, script, upstreams__concurrency=1) as guard:
        for count, how in enumerate(HOWS):
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                first = Asking(guard.client(), "tools/call", {"name": "web::echo"})
                tasks.start_soon(first)
                await script.until(lambda: script.held == 1)
                second = Asking(client, "tools/call", {"name": "web::echo"}, "mine")
                tasks.start_soon(second)
                while len(guard.entries()) < 2 * count + 2:
                    await anyio.lowlevel.checkpoint()
                if how == "http modern":
                    second.given_up.cancel()
                else:
                    await client.notify("notifications/cancelled", {"requestId": "mine"})
                entry = await closed_one(guard, 2 * count + 1)
                assert (entry["outcome"], entry["executed"]) == ("cancelled", "no")
                script.go()
                while first.reply is None:
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        assert len(script.called("tools/call")) == len(HOWS)


async def closed_one(guard: Gate, at: int) -> Json:
    while "outcome" not in (entry := guard.entries()[at]):
        await anyio.lowlevel.checkpoint()
    return entry


@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_a_server_that_does_not_answer_in_time_is_not_waited_for(over: str, tmp_path: Path) -> None:
    script = waiting()

    def heard_of(*methods: str) -> int:
        return sum(len(script.called(method)) for method in methods)

    async with guarded(tmp_path, script, over=over, declared={"timeout": 0.05}) as guard:
        count = 0
        for how in HOWS:
            async with speaking(guard, how) as client:
                for method, params in REQUESTS:
                    before = heard_of(method)
                    while heard_of(method) == before:  # on a busy machine the time may be over before it is sent
                        reply = await client.request(method, params)
                        count += 1
                        said = refusal_facts(reply.result) if method == "tools/call" else reply.error["data"]
                        assert (said["status"], said["executed"], said["reason"]) == (
                            "withheld",
                            "unknown",
                            "reply:timeout",
                        )
                        entry = await closed(guard, count)
                        assert (entry["outcome"], entry["executed"], entry["reason"]) == (
                            "unknown",
                            "unknown",
                            "reply:timeout",
                        )
        methods = [method for method, _ in REQUESTS]
        await script.until(lambda: len(script.abandoned) == heard_of(*methods))
        assert len(script.abandoned) >= len(HOWS) * len(REQUESTS)
        script.answers["tools/call echo"] = {"content": []}
        async with speaking(guard, "http modern") as client:
            while (reply := await client.call("web::echo")).result["content"]:  # on a busy machine it is late now, too
                assert refusal_facts(reply.result)["reason"] == "reply:timeout"
            assert reply.result["content"] == [], "and it can be called again"


async def test_a_server_that_ends_in_the_middle_leaves_it_open_what_happened(tmp_path: Path) -> None:
    script = waiting()
    async with guarded(tmp_path, script, over="stdio") as guard:
        async with anyio.create_task_group() as tasks:
            asking = Asking(guard.client(), "tools/call", {"name": "web::echo"})
            tasks.start_soon(asking)
            await script.until(lambda: script.held == 1)
            assert guard.now.fleet.restart("web")
        assert asking.reply is not None
        said = asking.reply.result["_meta"]["mcpguard/refusal"]
        assert (said["status"], said["executed"], said["reason"]) == ("withheld", "unknown", "server:lost")
        entry = await closed(guard, 1)
        assert (entry["outcome"], entry["reason"]) == ("unknown", "server:lost")


async def test_a_call_that_a_person_ends_with_a_restart_leaves_it_open_what_happened(tmp_path: Path) -> None:
    script = waiting()
    async with guarded(tmp_path, script, over="stdio") as guard:
        async with anyio.create_task_group() as tasks:
            asking = Asking(guard.client(), "tools/call", {"name": "web::echo"})
            tasks.start_soon(asking)
            await script.until(lambda: script.held == 1)
            await guard.now.guard.decisions.restart("web", DECISION)
        assert asking.reply is not None
        said = asking.reply.result["_meta"]["mcpguard/refusal"]
        assert (said["status"], said["executed"], said["reason"]) == ("withheld", "unknown", "server:lost")
        script.answers["tools/call echo"] = {"content": []}
        assert (await guard.client().call("web::echo")).result["content"] == [], "the next one waits until it is there"
        assert len(script.called("tools/call")) == 2, "nothing is sent twice"
