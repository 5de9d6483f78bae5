"""Of questions that nobody comes back for nothing is left: no call, no task, no place, no memory."""

import asyncio
import gc
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.gateway.input_required import ParkedCalls
from mcpguard.gateway.questions import ClientLine, OpenQuestions
from mcpguard.guard.calls.client_questions import ClientQuestions
from mcpguard.upstreams.exchange.server_requests import ServerRequests
from mcpguard.upstreams.protocol.calls_in_flight import InFlight
from mcpguard.upstreams.protocol.switchboard import Switchboard
from tests.attacks.asking import ASKED_BY, PERMITTED, TOOL, Questioned, all_closed, nosy, once_each, refusals
from tests.attacks.in_front import until
from tests.gate import Gate
from tests.gateway.speaking import guarded

pytestmark = pytest.mark.anyio
MANY = 100


def alive(*kinds: type) -> list[Any]:
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, kinds)]


def kept() -> dict[str, int]:
    """What everything that holds calls or questions holds now."""
    found: Counter[str] = Counter()
    each: ParkedCalls | OpenQuestions | ClientLine | Switchboard | ServerRequests
    for each in alive(ParkedCalls, OpenQuestions, ClientLine, Switchboard, ServerRequests):
        match each:
            case ParkedCalls():
                found["parked"] += sum(call._answer is None for call in each._waiting.values())
            case OpenQuestions():
                found["questions"] += len(each._open)
            case ClientLine():
                found["questions"] += len(each._posed)
            case Switchboard():
                found["calls"] += len(each.calls)
            case ServerRequests():
                found["requests"] += len(each._scopes) + len(each._now)
            case _:
                raise AssertionError(each)
    return {name: count for name, count in found.items() if count}


def tasks_now() -> Counter[str]:
    """Tasks by name, without those of connections that are kept for later."""
    return Counter(task.get_name() for task in asyncio.all_tasks() if not task.get_name().startswith("Task-"))


async def settled(guard: Gate) -> None:
    await until(lambda: not guard.now.ledger.open_entries)
    await until(lambda: not kept())


@pytest.mark.parametrize("server", [each for each in ASKED_BY if each != "stdio legacy"])
async def test_of_many_calls_that_nobody_comes_back_for_nothing_is_left(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    given: dict[str, Any] = {
        "may_ask": PERMITTED,
        "asking__waiting": MANY,
        "asking__answer_seconds": 1,
        "upstreams__concurrency": MANY,
    }
    async with guarded(tmp_path, nosy(era), over=over, **given) as guard:
        client = guard.client()
        assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
        await settled(guard)
        before = tasks_now()
        replies = [await client.call(TOOL) for _ in range(MANY)]
        assert {reply.result["resultType"] for reply in replies} == {"input_required"}
        await all_closed(guard, MANY + 1)
        await settled(guard)
        await until(lambda: tasks_now() == before)
        assert alive(InFlight, ClientQuestions) == []
        assert once_each(guard.said())
        ended = ("unknown", "client:unanswered") if era == "modern" else ("failed", "")
        assert refusals(guard)[1:] == [ended] * MANY
        if over == "http":
            assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}


@pytest.mark.parametrize("server", ASKED_BY)
async def test_of_many_clients_that_leave_nothing_is_left(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    async with guarded(tmp_path, nosy(era), over=over, may_ask=PERMITTED) as guard:
        await settled(guard)
        before = tasks_now()
        for count in range(20):
            async with anyio.create_task_group() as tasks:
                modern = bool(count % 2)
                async with guard.stream(modern=modern) as client:
                    if not modern:
                        await client.initialize()
                    if server == "stdio legacy" and count > 1:
                        break  # what was taken back there may still be asking: nothing is put to the next
                    await Questioned(client, tasks).begin()
                tasks.cancel_scope.cancel()
        await settled(guard)
        await until(lambda: tasks_now() == before)
        assert alive(InFlight, ClientQuestions) == []
        assert once_each(guard.said())


async def test_beyond_the_calls_that_may_wait_nothing_more_does(tmp_path: Path) -> None:
    async with guarded(tmp_path, nosy(), may_ask=PERMITTED, asking__waiting=3) as guard:
        client = guard.client()
        replies = [await client.call(TOOL) for _ in range(5)]
        kinds = [reply.result["resultType"] for reply in replies]
        assert kinds == ["input_required"] * 3 + ["complete"] * 2
        assert replies[-1].result["_meta"]["mcpguard/refusal"]["reason"] == "upstream:request_excessive"
        ended = [(each["outcome"], each["reason"]) for each in guard.entries() if "outcome" in each]
        assert ended == [("unknown", "upstream:request_excessive")] * 2
