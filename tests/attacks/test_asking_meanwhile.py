"""What a server does while its client is asked: it takes the question back, it answers, it asks on and on."""

import json
from pathlib import Path

import anyio
import pytest

from tests.attacks.asking import (
    ADA,
    ASKED_BY,
    FORM,
    PERMITTED,
    TOOL,
    Questioned,
    answers_to,
    nosy,
    notes,
    refusals,
    taken_back,
)
from tests.attacks.in_front import until
from tests.gate import gate
from tests.gateway.speaking import HOWS, guarded, played, speaking
from tests.patience import PATIENCE
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import Json, RpcError, notification, request

pytestmark = pytest.mark.anyio
LEGACY_SERVERS = ("http legacy", "stdio legacy")


@pytest.mark.parametrize("server", LEGACY_SERVERS)
async def test_a_server_that_takes_its_question_back_or_answers_before_it_is_answered(
    server: str, tmp_path: Path
) -> None:
    over, era = server.split()
    now: dict[str, anyio.Event] = {}

    async def ask(asked: Asked) -> str:
        await asked.say(request(f"q-{asked.id}", "elicitation/create", FORM))
        await now["go on"].wait()
        if asked.arguments["withdraw"]:
            await asked.say(notification("notifications/cancelled", {"requestId": f"q-{asked.id}"}))
            await asked.ask("ping")  # its answer shows that the question is gone
            now["gone"].set()
            await now["answer"].wait()
        return "done"

    script = Script(era)
    script.tool("ask", ask)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        for how in HOWS:
            for withdraw in (True, False):
                now |= {name: anyio.Event() for name in ("go on", "gone", "answer")}
                async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                    call = await Questioned(client, tasks, arguments={"withdraw": withdraw}).begin()
                    now["go on"].set()
                    if withdraw:
                        await now["gone"].wait()
                        await taken_back(call)
                        await call.say(dict.fromkeys(call.questions, ADA))
                        now["answer"].set()
                    if withdraw or not client.modern:
                        assert (await call.ended()).text == "done"
                        await taken_back(call)
                    await until(lambda: not guard.now.ledger.open_entries)
                    if not withdraw and client.modern:
                        assert (await call.answer()).text == "done", "it was kept for a client that was away"
        assert notes(guard) == [("asked", "", "")] * 2 * len(HOWS)
        assert {*refusals(guard)} == {("answered", "")}
        assert {str(each.get("result")) for each in answers_to(script)} <= {"{}", "None"}, "only pings are answered"


@pytest.mark.parametrize("server", ASKED_BY)
async def test_the_time_for_an_answer_is_not_the_calls(server: str, tmp_path: Path) -> None:
    """That a call of the same length has come to its end shows that the time is over."""
    over, era = server.split()
    script, slow = nosy(era), Script()
    slow.tool("wait", lambda asked: asked.script.hold())  # type: ignore[arg-type, return-value]
    async with (
        played(tmp_path, script, "web", over=over, timeout=0.6) as web,
        played(tmp_path, slow, "slow", timeout=0.6) as other,
        gate(tmp_path, web, other, may_ask=PERMITTED) as guard,
    ):
        await guard.ready("web", "slow")
        for how in HOWS:
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                call = await Questioned(client, tasks).begin()
                told = (await guard.client().call("slow::wait")).result["_meta"]["mcpguard/refusal"]
                assert told["reason"] == "reply:timeout"
                assert (await call.answer()).text == json.dumps(ADA)


@pytest.mark.parametrize("server", LEGACY_SERVERS)
@pytest.mark.parametrize("how", ["http legacy", "stream legacy"])
async def test_no_call_lasts_for_ever_by_asking(how: str, server: str, tmp_path: Path) -> None:
    over, era = server.split()

    async def ask(asked: Asked) -> str:
        while True:
            try:
                await asked.ask("elicitation/create", FORM)
            except RpcError:
                await anyio.lowlevel.checkpoint()

    script = Script(era)
    script.tool("ask", ask)
    given: Json = {"may_ask": PERMITTED, "asking__per_call": 3, "declared": {"timeout": 1}}
    async with guarded(tmp_path, script, over=over, **given) as guard, speaking(guard, how) as client:
        client.on["elicitation/create"] = lambda _: ADA
        with anyio.fail_after(PATIENCE):
            reply = await client.call(TOOL)
        assert reply.result["_meta"]["mcpguard/refusal"]["reason"] == "reply:timeout"
        assert len(client.asked) == 3
        answered = [("asked", "", ""), ("heard", "accept", "")] * 3
        assert notes(guard) == [*answered, ("asked", "", "upstream:request_excessive")]
