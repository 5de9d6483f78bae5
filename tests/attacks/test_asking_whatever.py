"""Whatever happens during a call: each question is answered once at most, by its own client, and the call ends once."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import anyio
import pytest
from anyio.abc import TaskGroup
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.attacks.asking import ADA, EVE, FORM, PERMITTED, Questioned
from tests.attacks.in_front import until
from tests.clock import at_rest
from tests.gate import Gate, gate
from tests.gateway.speaking import HOWS, OTHER_TOKEN, TOKEN, played, speaking, two_callers
from tests.simulators.asked import Asked
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json, notification, request, result
from tests.tiers import examples

pytestmark = pytest.mark.anyio
STEPS = ("ask", "answer", "answer one", "answer twice", "foreign", "server withdraws", "cancel", "leave", "pause")
hows = st.sampled_from(HOWS)
steps = st.lists(st.sampled_from(STEPS), max_size=14).map(lambda found: ["ask", *found])
patient = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.differing_executors],
)


@dataclass
class Play:
    """A guard, a server that asks when the test says so, and the call that it works on."""

    script: Script
    guard: Gate = field(init=False)
    asked: Asked | None = None
    finish: anyio.Event = field(default_factory=anyio.Event)

    async def work(self, asked: Asked) -> str:
        self.asked = asked
        await self.finish.wait()
        return "done"

    async def rest(self) -> None:
        """Let what was set in motion come to rest, mostly."""
        for _ in range(4):
            await at_rest()
            await self.guard.now.store.writer.submit(lambda _: None)
        await at_rest()


class Call:
    """One call, while everything happens to it."""

    def __init__(self, play: Play, client: RawClient, thieves: list[RawClient], tasks: TaskGroup) -> None:
        self.call = Questioned(client, tasks, "web::play")
        self.asked: list[str] = []
        self.answers = 0
        self._play = play
        self._client = client
        self._thieves = thieves
        self._before = len(client.asked)
        self._withdrawn = 0

    async def step(self, what: str) -> None:
        server = self._play.asked
        assert server is not None
        match what:
            case "ask":
                self.asked.append(f"q-{server.id}-{len(self.asked)}")
                await server.say(request(self.asked[-1], "elicitation/create", FORM))
            case "server withdraws" if self._withdrawn < len(self.asked):
                await server.say(notification("notifications/cancelled", {"requestId": self.asked[self._withdrawn]}))
                self._withdrawn += 1
            case "answer" | "answer one" | "answer twice":
                await self._answer(what)
            case "foreign":
                await self._play.rest()
                for thief in self._thieves:
                    await self._steal(thief)
            case "cancel":
                await self._client.notify("notifications/cancelled", {"requestId": self._client.last})
            case "leave":
                self.call.leave()
            case _:
                await self._play.rest()

    async def _answer(self, what: str) -> None:
        await self._play.rest()
        given: Json = dict.fromkeys(list(self._open())[: 1 if what == "answer one" else None], ADA)
        for _ in range(2 if what == "answer twice" else 1):
            self.answers += len(given)
            if given and not (self._client.modern and self.call.reply is None):
                await self.call.say(given)

    def _open(self) -> list[str]:
        """What this client was asked, as far as it knows."""
        if not self._client.modern:
            return [each["id"] for each in self._client.asked[self._before :]]
        said = (self.call.reply.message or {}).get("result", {}) if self.call.reply else {}
        if said.get("resultType") != "input_required":
            return []
        self.call.state = said["requestState"]
        return list(said["inputRequests"])

    async def _steal(self, thief: RawClient) -> None:
        names = self._open()
        if thief.modern:
            more = {"inputResponses": dict.fromkeys(names, EVE), "requestState": self.call.state}
            reply = await thief.request("tools/call", {**self.call.params, **more})
            assert not self.call.state or "requestState is unknown" in reply.error["message"]
        else:
            for name in names:
                await thief.send(result(name, EVE))


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="module")
async def play(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Play]:
    folder, found = tmp_path_factory.mktemp("whatever"), Play(Script("legacy"))
    found.script.tool("play", found.work)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(played(folder, found.script, "web"))
        found.guard = await stack.enter_async_context(
            gate(folder, server, callers=two_callers(), may_ask=PERMITTED, asking__per_call=6)
        )
        await found.guard.ready("web")
        yield found


@given(how=hows, what=steps)
@patient
async def test_a_question_is_answered_once_at_most_and_a_call_ends_once(play: Play, how: str, what: list[str]) -> None:
    play.script.calls.clear()
    play.asked, play.finish = None, anyio.Event()
    already = len(play.guard.said())
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(speaking(play.guard, how, token=TOKEN))
        thieves = [
            await stack.enter_async_context(speaking(play.guard, other, token=token))
            for other, token in (("http legacy", TOKEN), ("http modern", OTHER_TOKEN))
        ]
        tasks = await stack.enter_async_context(anyio.create_task_group())
        call = Call(play, client, thieves, tasks)
        call.call.go()
        await until(lambda: play.asked)
        for each in what:
            await call.step(each)
        play.finish.set()
        await until(lambda: not play.guard.now.ledger.open_entries)
        await at_rest()  # a socket of anyio's cannot be left in the moment in which something comes
        tasks.cancel_scope.cancel()
    check(play, call, play.guard.said()[already:])


def check(play: Play, call: Call, records: list[Json]) -> None:
    kinds = [each["kind"] for each in records if "entry" in each]
    assert (kinds[0], kinds[-1]) == ("opened", "closed")
    assert (kinds.count("opened"), kinds.count("closed")) == (1, 1)
    asked = [each for each in records if each["kind"] == "asked" and "reason" not in each]
    heard = [each for each in records if each["kind"] == "heard"]
    assert len(heard) <= len(asked) <= min(6, len(call.asked))
    assert len([each for each in heard if each.get("action") == "accept"]) <= call.answers
    told = [each for each in play.script.calls if "method" not in each]
    results = [each["result"] for each in told if "result" in each]
    assert EVE not in results
    assert len(results) <= len([each for each in heard if each.get("action") == "accept"])
    assert all(count == 1 for count in Counter(each["id"] for each in told).values())
    assert {each["id"] for each in told} <= {*call.asked}
