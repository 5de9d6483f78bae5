"""What is recorded of questions: each once and under its call, nothing without bounds, nothing in clear."""

from pathlib import Path

import anyio
import pytest

from mcpguard.app import places
from mcpguard.domain.asks import AskKind
from tests.attacks.asking import (
    ADA,
    ASKED_BY,
    EVE,
    FORM,
    PERMITTED,
    TOOL,
    Questioned,
    all_closed,
    answers_to,
    demanding,
    nosy,
    notes,
    once_each,
    refusals,
)
from tests.attacks.in_front import until
from tests.gate import Gate
from tests.gateway.speaking import HOWS, guarded, speaking
from tests.simulators.asked import Asked
from tests.simulators.hostile import on, reverse_requests
from tests.simulators.script import Script
from tests.simulators.words import Json, RpcError, request
from tests.world import verified

pytestmark = pytest.mark.anyio
CANARY = "a-word-that-nobody-else-says"


def whole(guard: Gate) -> None:
    report = verified(places.database(guard.now.settings))
    assert report.whole, report


@pytest.mark.parametrize("server", ASKED_BY)
async def test_each_question_and_its_answer_are_recorded_once_and_in_no_words(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    said = FORM | {"message": f"{CANARY}?"}
    script = nosy(era, state=CANARY, wants={CANARY: {"method": "elicitation/create", "params": said}})
    answer = {"action": "accept", "content": {"name": CANARY}, CANARY: CANARY}
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED, audit__bodies="digest") as guard:
        for how in HOWS:
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                call = await Questioned(client, tasks).begin()
                assert CANARY in (await call.answer(answer)).text
        assert notes(guard) == [("asked", "", ""), ("heard", "accept", "")] * len(HOWS)
        records = guard.said()
        entries = [each["entry"] for each in records if each["kind"] == "opened"]
        assert [each["entry"] for each in records if each["kind"] == "heard"] == entries
        assert CANARY not in str(records)
        bodies = {(each["body_size"], each["body_digest"]) for each in records if each["kind"] == "heard"}
        assert len({size for size, _ in bodies}) == 1
        assert once_each(records)
        whole(guard)
    for file in (tmp_path / "data").rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes(), file


@pytest.mark.parametrize("over", ["http", "stdio"])
@pytest.mark.parametrize("waits", [True, False])
async def test_a_server_that_asks_without_end_fills_no_ledger(over: str, waits: bool, tmp_path: Path) -> None:
    async def ask(asked: Asked) -> str:
        for _ in range(500):
            try:
                await asked.ask("elicitation/create", FORM)
            except RpcError:
                continue
        return "done"

    script = Script("legacy")
    script.tool("ask", ask if waits else "done")
    if not waits:
        script.hooks.append(on("tools/call", reverse_requests(2_000, "elicitation/create", FORM)))
    for permitted in (dict[str, list[AskKind]](), PERMITTED):
        folder = tmp_path / str(len(permitted))
        folder.mkdir()
        async with guarded(folder, script, over=over, may_ask=permitted, asking__per_call=5) as guard:
            client = await guard.legacy()
            client.on["elicitation/create"] = lambda _: ADA
            assert (await client.call(TOOL)).text == "done"
            assert len(client.asked) <= (5 if permitted else 0)
            assert 1 <= len(notes(guard)) <= 12
            assert once_each(guard.said())
            whole(guard)


@pytest.mark.parametrize("count", [17, 20_000])
async def test_a_modern_server_that_asks_very_much_at_once_fills_no_ledger(count: int, tmp_path: Path) -> None:
    question = {"method": "elicitation/create", "params": {}}
    script = demanding({"inputRequests": {str(number): question for number in range(count)}})
    async with guarded(tmp_path, script, may_ask=PERMITTED) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                reply = await client.call(TOOL)
                assert reply.result["_meta"]["mcpguard/refusal"]["reason"] == "upstream:request_excessive"
                assert client.asked == []
        assert notes(guard) == [("asked", "", "upstream:request_excessive")] * 16 * len(HOWS)
        assert refusals(guard) == [("unknown", "upstream:request_excessive")] * len(HOWS)


@pytest.mark.parametrize("server", ["http legacy", "stdio legacy"])
async def test_nothing_is_recorded_of_a_call_after_its_end(server: str, tmp_path: Path) -> None:
    """The server answers the call in the moment in which it asks, or in which it is answered."""
    over, era = server.split()
    script = Script(era)

    async def ask(asked: Asked) -> str:
        for number in range(5):
            await asked.say(request(f"{asked.id}-{number}", "elicitation/create", FORM))
            if number < asked.arguments["heard"]:
                await script.until(lambda: len(answers_to(script)) > before(asked))
        return "done"

    def before(asked: Asked) -> int:
        return sum(1 for each in answers_to(script) if str(each["id"]).startswith(f"{asked.id}-")) - 1

    script.tool("ask", ask)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                client.on["elicitation/create"] = lambda _: EVE
                for round_ in range(30):
                    await client.request("tools/call", {"name": TOOL, "arguments": {"heard": round_ % 3}})
        await all_closed(guard, 30 * len(HOWS))
        await until(lambda: not guard.now.ledger.open_entries)
        closed: set[str] = set()
        late: list[Json] = []
        for record in guard.said():
            if record["kind"] == "closed":
                closed.add(record["entry"])
            late += [record] if record["kind"] in ("asked", "heard") and record["entry"] in closed else []
        assert late == []
        assert once_each(guard.said())
        whole(guard)
