"""However a question ends, nobody waits for it any more: not the server, not the client, not the next call."""

from pathlib import Path

import anyio
import pytest

from mcpguard.app import places
from tests.attacks.asking import (
    ADA,
    ASKED_BY,
    FORM,
    PERMITTED,
    Questioned,
    all_closed,
    answers_to,
    nosy,
    notes,
    once_each,
    refusals,
    responses,
    taken_back,
)
from tests.attacks.in_front import until
from tests.gate import Gate, gate, process, remote
from tests.gateway.speaking import HOWS, guarded, speaking
from tests.patience import PATIENCE
from tests.simulators.asked import Asked
from tests.simulators.http_client import HttpClient
from tests.simulators.over_http import HttpFace, serving_http
from tests.simulators.processes import controlled
from tests.simulators.script import Script
from tests.simulators.words import Json, Torn, request
from tests.world import said

pytestmark = pytest.mark.anyio
UNANSWERED = ("heard", "", "client:unanswered")


async def still_answers(guard: Gate) -> None:
    """The next call is answered: the place at the server is free again."""
    with anyio.fail_after(PATIENCE):
        assert (await guard.client().call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}


@pytest.mark.parametrize("server", ASKED_BY)
async def test_a_client_that_never_answers(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    script = nosy(era)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED, asking__answer_seconds=0.1) as guard:
        for count, how in enumerate(HOWS):
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                call = await Questioned(client, tasks).begin()
                await all_closed(guard, 2 * count + 1)
                if not client.modern:
                    reply = await call.ended()
                    await taken_back(call)
                    assert era == "modern" or reply.error["code"] == -32603
                await still_answers(guard)
        assert notes(guard) == [("asked", "", ""), UNANSWERED] * len(HOWS)
        ended = ("unknown", "client:unanswered") if era == "modern" else ("failed", "")
        assert {*refusals(guard)} == {ended, ("answered", "")}


@pytest.mark.parametrize("server", ASKED_BY)
async def test_a_legacy_client_that_leaves_while_it_is_asked(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    script = nosy(era)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        for how in ("http legacy", "stream legacy"):
            async with anyio.create_task_group() as tasks:
                async with speaking(guard, how) as client:
                    call = await Questioned(client, tasks).begin()
                    call.leave()
                await until(lambda: not guard.now.ledger.open_entries)
                await still_answers(guard)
        assert notes(guard) == [("asked", "", ""), UNANSWERED] * 2
        assert once_each(guard.said())
        assert (responses(script), [each for each in answers_to(script) if "result" in each]) == ([], [])


@pytest.mark.parametrize("server", ASKED_BY)
@pytest.mark.parametrize("way", ["end", "cancel", "cancel on a stream"])
async def test_a_call_that_is_taken_back_while_its_client_is_asked(way: str, server: str, tmp_path: Path) -> None:
    """Or whose session is ended."""
    over, era = server.split()
    script = nosy(era)
    how = "stream legacy" if "stream" in way else "http legacy"
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
            call = await Questioned(client, tasks).begin()
            if way == "end":
                assert isinstance(client, HttpClient)
                await client.end()
            else:
                await client.notify("notifications/cancelled", {"requestId": client.last})
            await until(lambda: not guard.now.ledger.open_entries)
            if how == "http legacy":
                assert (await call.ended()).error["code"] == -32800
            await taken_back(call)
            await still_answers(guard)
            tasks.cancel_scope.cancel()
        assert [outcome for outcome, _ in refusals(guard)] == ["cancelled", "answered"]
        assert notes(guard) == [("asked", "", "")]
        assert once_each(guard.said())


@pytest.mark.parametrize("server", ASKED_BY)
async def test_a_modern_client_that_leaves_its_stream_with_the_questions(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    async with guarded(tmp_path, nosy(era), over=over, may_ask=PERMITTED) as guard:
        async with guard.stream() as stream, anyio.create_task_group() as tasks:
            await Questioned(stream, tasks).begin()
        await until(lambda: not guard.now.ledger.open_entries)
        await still_answers(guard)
        assert notes(guard) == [("asked", "", "")]
        assert [outcome for outcome, _ in refusals(guard)] == ["cancelled", "answered"]


@pytest.mark.parametrize("server", ASKED_BY)
@pytest.mark.parametrize("how", ["http modern", "stream modern"])
async def test_a_modern_client_that_came_back_and_leaves_takes_its_call_back(
    how: str, server: str, tmp_path: Path
) -> None:
    over, era = server.split()

    async def ask(asked: Asked) -> str:
        await asked.need({"who": {"method": "elicitation/create", "params": FORM}}, "x")
        await asked.script.hold()
        return "done"

    script = Script(era)
    script.tool("ask", ask)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
            call = await Questioned(client, tasks).begin()
            await call.say(dict.fromkeys(call.questions, ADA))
            await script.until(lambda: script.held)
            if how == "stream modern":
                await client.notify("notifications/cancelled", {"requestId": client.last})
            call.leave()
            await until(lambda: not guard.now.ledger.open_entries)
            await script.until(lambda: not script.held)
            await still_answers(guard)
        assert [outcome for outcome, _ in refusals(guard)] == ["cancelled", "answered"]


@pytest.mark.parametrize("server", ASKED_BY)
@pytest.mark.parametrize("how", HOWS)
async def test_a_guard_that_stops_while_clients_are_asked(how: str, server: str, tmp_path: Path) -> None:
    over, era = server.split()
    given: Json = {"may_ask": PERMITTED, "limits__stop_seconds": 2}
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            async with guarded(tmp_path, nosy(era), over=over, **given) as guard, speaking(guard, how) as client:
                await Questioned(client, tasks).begin()
                place = places.database(guard.now.settings)
            tasks.cancel_scope.cancel()
    records = said(place)
    assert once_each(records)
    assert records[-1]["kind"] == "stopped"


@pytest.mark.parametrize("how", HOWS)
async def test_a_process_that_dies_while_its_client_is_asked(how: str, tmp_path: Path) -> None:
    script = nosy("legacy")
    async with controlled(script, tmp_path) as server:
        declared = process("web", [server.command, *server.arguments])
        async with gate(tmp_path, declared, may_ask=PERMITTED) as guard:
            await guard.ready("web")
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                call = await Questioned(client, tasks).begin()
                await server.process.die()
                await all_closed(guard)
                told = (await (call.answer() if client.modern else call.ended())).result["_meta"]["mcpguard/refusal"]
                assert (told["reason"], told["executed"]) == ("server:lost", "unknown")
                if not client.modern:
                    await taken_back(call)
            assert notes(guard) == [("asked", "", "")]
            assert refusals(guard) == [("unknown", "server:lost")]


@pytest.mark.parametrize("how", HOWS)
async def test_a_server_that_breaks_off_while_its_client_is_asked(how: str, tmp_path: Path) -> None:
    async def ask(asked: Asked) -> Torn:
        await asked.say(request(f"q-{asked.id}", "elicitation/create", FORM))
        await asked.script.hold()
        return Torn(b'{"jsonrpc":"2.0","id":')

    script = Script("legacy")
    script.tool("ask", ask)
    face = HttpFace(script)
    async with serving_http(face) as url, gate(tmp_path, remote("web", url), may_ask=PERMITTED) as guard:
        await guard.ready("web")
        async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
            call = await Questioned(client, tasks).begin()
            script.go()
            await all_closed(guard)
            if not client.modern:
                assert (await call.ended()).result["_meta"]["mcpguard/refusal"]["reason"] == "server:lost"
                await taken_back(call)
        assert notes(guard) == [("asked", "", "")]
        await still_answers(guard)
