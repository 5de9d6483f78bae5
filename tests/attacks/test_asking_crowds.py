"""Many questions at once: each is one, and those of one call leave the others' alone."""

import json
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.codec.messages import Failure, Request, Result
from mcpguard.upstreams.exchange.conversation import Bounds, Counts
from mcpguard.upstreams.exchange.server_requests import ServerRequests
from tests.attacks.asking import ADA, FORM, PERMITTED, WHO, Questioned, answers_to, nosy, notes
from tests.gateway.speaking import HOWS, guarded, speaking
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import Json, request

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_the_same_id_for_two_questions_ends_no_connection(over: str, tmp_path: Path) -> None:
    async def ask(asked: Asked) -> str:
        before = len(answers_to(script))
        for _ in range(3):
            await asked.say(request("same", "elicitation/create", FORM))
        await script.until(lambda: len(answers_to(script)) == before + 3)
        return "done"

    def are_answered(count: int) -> bool:
        return len(answers_to(script)) == count

    script = Script("legacy")
    script.tool("ask", ask)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        before = guard.now.guard.status().servers[0].since
        for count, how in enumerate(HOWS):
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                call = await Questioned(client, tasks).begin()
                assert len(call.questions) == 1
                # Before it is answered: afterwards its id is free for another question.
                await script.until(partial(are_answered, 3 * count + 2))
                assert (await call.answer()).text == "done"
        assert [each.get("result", {}) for each in answers_to(script)] == [{}, {}, ADA] * len(HOWS)
        (status,) = guard.now.guard.status().servers
        assert (status.state, status.since) == ("ready", before)


async def test_what_is_taken_back_in_the_same_breath_is_neither_put_to_anybody_nor_answered() -> None:
    reached: list[str] = []

    async def ask(method: str, _params: object, _origin: object) -> Json:
        await checkpoint()
        reached.append(method)
        return {}

    async def send(answer: Result | Failure) -> None:
        reached.append(f"answer to {answer.id}")

    serving = ServerRequests(ask, send, Bounds(), Counts())
    async with anyio.create_task_group() as tasks:
        for id_ in ("first", "second"):
            serving.take(Request(id_, id_), None, tasks)
        serving.cancel({"requestId": "first"})
    assert reached == ["second", "answer to second"]


async def test_calls_whose_clients_do_not_answer_leave_room_for_the_questions_of_others(tmp_path: Path) -> None:
    script = nosy("legacy")
    async with guarded(tmp_path, script, may_ask=PERMITTED) as guard, anyio.create_task_group() as tasks:
        silent = await guard.legacy()
        for _ in range(20):
            await Questioned(silent, tasks).begin()
        for how in HOWS:
            async with speaking(guard, how) as client:
                call = await Questioned(client, tasks).begin()
                assert (await call.answer()).text == json.dumps(ADA)
        tasks.cancel_scope.cancel()


async def test_questions_with_names_like_ours_are_all_answered(tmp_path: Path) -> None:
    (who,) = WHO.values()
    wants = {"web:1": who, "": who, "web:2": who, "x" * 101: who, "x" * 10_000: who, "web:3": who}
    script = nosy("modern", wants=wants)
    async with guarded(tmp_path, script, may_ask=PERMITTED) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                call = await Questioned(client, tasks).begin(len(wants))
                assert len(call.questions) == len(wants)
                names = [str(number) for number in range(len(wants))]
                forms = [{"action": "accept", "content": {"name": name}} for name in names]
                await call.say(dict(zip(call.questions, forms, strict=True)))
                told = json.loads((await call.ended()).text)
                assert sorted(each["content"]["name"] for each in told.values()) == names
                assert told.keys() == wants.keys()
        assert notes(guard) == ([("asked", "", "")] * 6 + [("heard", "accept", "")] * 6) * 4
