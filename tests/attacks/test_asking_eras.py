"""What one era knows and the other does not: no server and no client is taken from one into the other by it."""

from pathlib import Path

import anyio
import pytest

from tests.attacks.asking import ADA, FORM, PERMITTED, TOOL, answers_to, demanding, notes, refusals
from tests.gate import gate
from tests.gateway.speaking import HOWS, guarded, played, speaking
from tests.patience import PATIENCE
from tests.simulators.asked import Asked
from tests.simulators.client import RawClient
from tests.simulators.hostile import on, reverse_requests
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
COMPLETE: Json = {"ref": {"type": "ref/prompt", "name": "web::greet"}, "argument": {"name": "a", "value": ""}}
LISTS = ("tools/list", "prompts/list", "resources/list")
QUESTION: Json = {
    "resultType": "input_required",
    "inputRequests": {"who": {"method": "elicitation/create", "params": FORM}},
    "requestState": "x",
}


@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_a_modern_client_gets_no_request_whatever_it_asked_for(over: str, tmp_path: Path) -> None:
    """Completions cannot be answered with a question, so there is no way to ask."""

    async def ask(asked: Asked) -> Json:
        await asked.ask("elicitation/create", FORM)
        return {"completion": {"values": []}}

    script = Script("legacy")
    script.answers["completion/complete"] = ask
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        for how in ("http modern", "stream modern"):
            async with speaking(guard, how) as client:
                client.on["elicitation/create"] = lambda _: ADA
                assert (await client.request("completion/complete", COMPLETE)).error["code"] < 0
                assert (client.asked, client.heard) == ([], []), how
        assert notes(guard) == [("asked", "", ""), ("heard", "", "client:unable")] * 2
        assert ["result" in each for each in answers_to(script)] == [False, False]


@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_a_modern_server_that_makes_requests_reaches_nobody(over: str, tmp_path: Path) -> None:
    """Nothing says for which call it does: it works on several at once."""
    script = Script("modern")
    script.tool("ask", "done")
    script.hooks.append(on("tools/call", reverse_requests(3, "elicitation/create", FORM)))
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                client.on["elicitation/create"] = lambda _: ADA
                assert (await client.call(TOOL)).text == "done"
                assert (client.asked, client.heard) == ([], []), how
        assert notes(guard) == []
        assert not [each for each in answers_to(script) if "result" in each]


@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_a_server_of_the_handshake_era_cannot_answer_with_questions(over: str, tmp_path: Path) -> None:
    said: Json = {
        "inputRequests": {"who": {"method": "elicitation/create", "params": FORM}},
        "requestState": "the server's",
        "content": [{"type": "text", "text": "a result"}],
    }
    script = demanding(said, "legacy")
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                client.on["elicitation/create"] = lambda _: ADA
                reply = await client.call(TOOL)
                assert reply.text == "a result"
                assert reply.result.get("resultType") == ("complete" if client.modern else "input_required")
                again = await client.request("tools/call", {"name": TOOL, "requestState": "the server's"})
                assert "error" in (again.message or {}), "neither era has that for a call that nobody waits with"
                assert client.asked == []
        assert notes(guard) == []
        assert not [call for call in script.called("tools/call") if "requestState" in call["params"]]


@pytest.mark.parametrize("over", ["http", "stdio"])
@pytest.mark.parametrize(
    ("method", "params"),
    [("completion/complete", COMPLETE), ("tools/list", {}), ("prompts/list", {}), ("resources/list", {})],
)
async def test_a_question_in_the_place_of_what_can_be_none(
    method: str, params: Json, over: str, tmp_path: Path
) -> None:
    """It was honest as long as a person looked at it."""
    script = Script("modern")
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        await script.until(lambda: script.listens)
        script.answers[method] = QUESTION
        if method in LISTS:
            await script.changed_list()
            while not guard.now.guard.status().servers[0].error:
                await guard.clock.advance(1)
        for how in HOWS:
            async with speaking(guard, how) as client:
                await asked_nothing(client, method, params)
        assert notes(guard) == []
        assert {outcome for outcome, _ in refusals(guard)} <= {"failed", "refused"}


@pytest.mark.parametrize("over", ["http", "stdio"])
@pytest.mark.parametrize("method", LISTS)
async def test_a_server_that_asks_where_it_should_list_cannot_be_looked_at(
    method: str, over: str, tmp_path: Path
) -> None:
    """So nobody can approve it."""
    script = Script("modern")
    script.answers[method] = QUESTION
    async with (
        played(tmp_path, script, "web", over=over) as server,
        gate(tmp_path, server, may_ask=PERMITTED) as guard,
    ):
        assert [one.standing for one in guard.now.guard.status().servers] == ["quarantined"]
        for how in HOWS:
            async with speaking(guard, how) as client:
                await asked_nothing(client, method, {})
                told = (await client.call("web::echo")).result["_meta"]["mcpguard/refusal"]
                assert (told["reason"], told["executed"]) == ("server:quarantined", "no")
        assert notes(guard) == []
        assert refusals(guard) == [("refused", "server:quarantined")] * len(HOWS)
        assert script.called("tools/call") == []


async def asked_nothing(client: RawClient, method: str, params: Json) -> None:
    client.on["elicitation/create"] = lambda _: ADA
    with anyio.fail_after(PATIENCE):
        reply = await client.request(method, params)
    assert (reply.message or {}).get("result", {}).get("resultType", "complete") == "complete"
    assert client.asked == []
