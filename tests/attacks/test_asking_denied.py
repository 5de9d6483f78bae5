"""What is not permitted reaches no client, the server is told so or its call is ended, and the entry says why."""

import json
from functools import partial
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.asks import AskKind
from tests.attacks.asking import (
    ADA,
    ASKED_BY,
    FORM,
    NOBODY,
    PERMITTED,
    SAMPLE,
    TOOL,
    WHO,
    Questioned,
    answers_to,
    demanding,
    notes,
    refusals,
)
from tests.attacks.in_front import until
from tests.gate import gate, remote
from tests.gateway.speaking import HOWS, guarded, played, speaking
from tests.simulators.asked import Asked
from tests.simulators.client import RawClient
from tests.simulators.hostile import on, raw
from tests.simulators.over_http import HttpFace, serving_http
from tests.simulators.script import Script
from tests.simulators.words import Json, request

pytestmark = pytest.mark.anyio
DENIED, UNATTRIBUTED = "upstream:request_denied", -31010
QUESTIONS: dict[str, Json] = {
    "elicitation": {"method": "elicitation/create", "params": FORM},
    "sampling": {"method": "sampling/createMessage", "params": SAMPLE},
    "roots": {"method": "roots/list"},
}


def able(client: RawClient) -> RawClient:
    client.capabilities = NOBODY
    for each in QUESTIONS.values():
        client.on[each["method"]] = lambda _: ADA
    return client


def asks(era: str, kind: str) -> Script:
    """A server that asks for this, whatever it was told that the client can do."""
    if era == "modern":
        return demanding({"inputRequests": {"it": QUESTIONS[kind]}})

    async def ask(asked: Asked) -> str:
        return str(await asked.ask(QUESTIONS[kind]["method"], QUESTIONS[kind].get("params")))

    script = Script("legacy")
    script.tool("ask", ask)
    return script


@pytest.mark.parametrize("server", ASKED_BY)
@pytest.mark.parametrize("kind", QUESTIONS)
async def test_what_is_not_permitted_reaches_no_client(kind: str, server: str, tmp_path: Path) -> None:
    """Other kinds are permitted to this server, and this kind to others."""
    over, era = server.split()
    script = asks(era, kind)
    permitted = {"web": [other for other in AskKind if other != kind], "we": [AskKind(kind)]}
    async with (
        played(tmp_path, script, "web", over=over) as web,
        played(tmp_path, Script(), "we") as other,
        gate(tmp_path, web, other, may_ask=permitted) as guard,
    ):
        for how in HOWS:
            async with speaking(guard, how) as client:
                reply = await able(client).call(TOOL)
                assert (client.asked, client.heard) == ([], [])
                if era == "modern":
                    assert reply.result["_meta"]["mcpguard/refusal"]["reason"] == DENIED
                else:
                    assert reply.error["code"] == UNATTRIBUTED
        assert notes(guard) == [("asked", "", DENIED)] * len(HOWS)
        ended = ("unknown", DENIED) if era == "modern" else ("failed", "")
        assert refusals(guard) == [ended] * len(HOWS)
        assert not [each for each in answers_to(script) if "result" in each]
        assert len(script.called("tools/call")) == len(HOWS), "it was not asked again"


@pytest.mark.parametrize("server", ASKED_BY)
@pytest.mark.parametrize("kind", QUESTIONS)
async def test_a_client_that_cannot_be_asked_is_not(kind: str, server: str, tmp_path: Path) -> None:
    over, era = server.split()
    script = asks(era, kind)
    async with guarded(tmp_path, script, over=over, may_ask={"web": [*AskKind]}) as guard:
        clients = [guard.client(), guard.client(modern=False)]
        for client in clients:
            able(client).capabilities = {other: {} for other in QUESTIONS if other != kind}
            if not client.modern:
                await client.initialize()
            await client.call(TOOL)
            assert (client.asked, client.heard) == ([], [])
        assert notes(guard) == [("asked", "", "client:unable")] * len(clients)


@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_nobody_is_asked_outside_of_any_call(over: str, tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        client = await guard.legacy()
        able(client)
        async with client.listening(), guard.stream(modern=False) as other:
            await able(other).initialize()
            for party in script.parties:
                await party.push(request("stray", "elicitation/create", FORM))
            await until(lambda: answers_to(script))
            assert [each["error"]["code"] for each in answers_to(script)] == [UNATTRIBUTED]
            assert (client.asked, other.asked) == ([], [])
        assert (guard.entries(), notes(guard)) == ([], [])


async def test_nobody_is_asked_on_the_stream_that_belongs_to_no_call(tmp_path: Path) -> None:
    """Over HTTP, while calls of two clients are running."""
    script = Script("legacy")

    async def wait(asked: Asked) -> str:
        await asked.script.hold()
        return "done"

    script.tool("ask", wait)
    face = HttpFace(script)
    async with (
        serving_http(face) as url,
        gate(tmp_path, remote("web", url), may_ask=PERMITTED) as guard,
        anyio.create_task_group() as tasks,
    ):
        await guard.ready("web")
        await script.until(lambda: any(session.listening for session in face.sessions.values()))
        for count in (1, 2):
            client = able(await guard.legacy())
            call = Questioned(client, tasks)
            call.go()
            await script.until(partial(_at_work, script, count))
        for count in (1, 2):
            await script.parties[0].push(request(f"stray-{count}", "elicitation/create", FORM))
            await until(partial(_answered, script, count))
        script.go()
        await until(lambda: len([each for each in guard.entries() if "outcome" in each]) == 2)
        assert [each["error"]["code"] for each in answers_to(script)] == [UNATTRIBUTED] * 2
        assert notes(guard) == []


def _at_work(script: Script, count: int) -> bool:
    return script.held == count


def _answered(script: Script, count: int) -> bool:
    return len(answers_to(script)) == count


@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_nobody_is_asked_when_the_call_has_ended(over: str, tmp_path: Path) -> None:
    """Or was taken back: neither its own client nor that of the next call."""
    script = Script("legacy")
    said: list[Asked] = []

    async def ask(asked: Asked) -> str:
        said.append(asked)
        if asked.arguments.get("wait"):
            await asked.script.hold()
        return "done"

    script.tool("ask", ask)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        async with guard.stream(modern=False) as client, anyio.create_task_group() as tasks:
            await able(client).initialize()
            assert (await client.call(TOOL)).text == "done"
            await said[0].say(request("late", "elicitation/create", FORM))
            call = Questioned(client, tasks, arguments={"wait": True})
            call.go()
            await script.until(lambda: script.held)
            await client.cancel(client.last)
            await script.until(lambda: script.abandoned)
            await said[1].say(request("later", "elicitation/create", FORM))
            client.by_hand = False
            assert (await client.call(TOOL)).text == "done"
            assert (client.asked, client.heard) == ([], [])
            tasks.cancel_scope.cancel()
        assert notes(guard) == []
        assert [outcome for outcome, _ in refusals(guard)] == ["answered", "cancelled", "answered"]
        assert not [each for each in answers_to(script) if "result" in each]


@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_over_http_a_question_on_one_calls_stream_is_for_that_calls_client(over: str, tmp_path: Path) -> None:
    """On a stream one call after the other is worked on, so that there, too, it is known whose it is."""
    script = Script("legacy")

    async def ask(asked: Asked) -> str:
        name = asked.arguments["who"]
        answer = await asked.ask("elicitation/create", FORM | {"message": name})
        return f"{name}: {answer['content']['name']}"

    script.tool("ask", ask)
    async with (
        guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard,
        anyio.create_task_group() as tasks,
    ):
        calls = []
        for name in ("Ada", "Bob", "Eve"):
            client = await guard.legacy()
            client.on["elicitation/create"] = lambda params: {
                "action": "accept",
                "content": {"name": params["message"].removeprefix("web: ")},
            }
            call = Questioned(client, tasks, arguments={"who": name})
            client.by_hand = False
            call.go()
            calls.append((name, call))
        for name, call in calls:
            assert (await call.ended()).text == f"{name}: {name}"
            assert [each["params"]["message"] for each in call.client.asked] == [f"web: {name}"]


MALFORMED: dict[str, Json] = {
    "neither": {},
    "no questions": {"inputRequests": {}},
    "null": {"inputRequests": None, "requestState": "x"},
    "a list": {"inputRequests": [WHO["who"]]},
    "a text": {"inputRequests": "who"},
    "a list for a question": {"inputRequests": {"who": [WHO["who"]]}},
    "no method": {"inputRequests": {"who": {"params": FORM}}},
    "another method": {"inputRequests": {"who": {"method": "tools/call", "params": {}}}},
    "one of two": {"inputRequests": {**WHO, "what": {"method": "ping", "params": {}}}},
    "a list of parameters": {"inputRequests": {"who": {"method": "elicitation/create", "params": [FORM]}}},
    "no parameters": {"inputRequests": {"who": {"method": "elicitation/create"}}},
    "a number for a state": {"inputRequests": WHO, "requestState": 7},
    "an object for a state": {"requestState": {"a": 1}},
    "null for a state": {"inputRequests": WHO, "requestState": None},
}


async def test_what_nobody_can_answer_is_put_to_nobody(tmp_path: Path) -> None:
    script = Script("modern")
    script.tool("ask", lambda asked: {"resultType": "input_required", **MALFORMED[asked.arguments["what"]]})
    async with guarded(tmp_path, script, may_ask=PERMITTED) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                for what in MALFORMED:
                    reply = await able(client).call(TOOL, {"what": what})
                    assert reply.error["code"] == -32603, what
                    assert (client.asked, client.heard) == ([], []), what
        assert notes(guard) == []
        assert refusals(guard) == [("failed", "")] * len(HOWS) * len(MALFORMED)
        assert len(script.called("tools/call")) == len(HOWS) * len(MALFORMED)


async def test_a_server_that_only_ever_wants_to_be_asked_again_is_not(tmp_path: Path) -> None:
    script = demanding({"requestState": "again"})
    async with guarded(tmp_path, script, may_ask=PERMITTED) as guard:
        reply = await able(guard.client()).call(TOOL)
        assert reply.result["_meta"]["mcpguard/refusal"]["reason"] == "upstream:request_excessive"
        assert len(script.called("tools/call")) == 32
        assert refusals(guard) == [("unknown", "upstream:request_excessive")]


def too_deep(asked: Asked, levels: int) -> bytes:
    said = json.dumps({"resultType": "input_required", "inputRequests": {"who": {**WHO["who"], "params": {"x": 7}}}})
    nested = b'{"a":' * levels + b"1" + b"}" * levels
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (str(asked.id).encode(), said.encode().replace(b"7", nested))


@pytest.mark.parametrize("levels", [40, 10_000])
async def test_questions_that_are_nested_deeply_harm_nobody(levels: int, tmp_path: Path) -> None:
    nested: object = 1
    for _ in range(min(levels, 40)):
        nested = {"a": nested}
    script = demanding({"inputRequests": {"who": {"method": "elicitation/create", "params": FORM | {"x": nested}}}})
    if levels > 40:
        script.hooks.append(on("tools/call", raw(lambda asked: too_deep(asked, levels))))
    async with guarded(tmp_path, script, may_ask=PERMITTED) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                if levels > 40:
                    assert "requestState" not in str((await able(client).call(TOOL)).message)
                    assert client.asked == []
                    continue
                call = await Questioned(client, tasks).begin()
                ((_, question),) = call.questions.items()
                assert question["params"]["x"] == nested
                call.leave()
                tasks.cancel_scope.cancel()
