"""Progress and messages of a call come to whoever made it, before the answer, and to nobody else."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.uris import wrap_uri
from tests.gate import Gate, gate
from tests.gateway.speaking import HOWS, guarded, played, speaking
from tests.simulators.asked import Asked
from tests.simulators.client import RawClient, Reply
from tests.simulators.script import Script
from tests.simulators.words import LOG_LEVEL, Json, RpcError

pytestmark = pytest.mark.anyio
SERVERS = {
    "hm": ("http", "modern"),
    "hl": ("http", "legacy"),
    "sm": ("stdio", "modern"),
    "sl": ("stdio", "legacy"),
}
TOKENS = ["abc", "", 7, 0, -1, 2**53 - 1, "\u00fc"]
NO_TOKENS = [None, True, 1.5, [1], {"a": 1}]


def requests(server: str) -> list[tuple[str, Json]]:
    """One of every kind that can take long."""
    return [
        ("tools/call", {"name": f"{server}::echo"}),
        ("resources/read", {"uri": wrap_uri(server, "note://first")}),
        ("resources/read", {"uri": f"proxy://template/{server}/note://5/text"}),
        ("prompts/get", {"name": f"{server}::greet"}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": f"{server}::greet"}, "argument": {"name": "name", "value": ""}},
        ),
    ]


async def stepping(asked: Asked) -> Json:
    for step in (1, 2.5, 4):
        await asked.progress(step, 4, f"step {step}")
    return {"content": [], "contents": [], "messages": [], "completion": {"values": []}}


def slowly(*eras: str) -> Script:
    script = Script(*eras)
    for key in script.answers:
        script.answers[key] = stepping
    script.answers["completion/complete"] = stepping
    return script


@asynccontextmanager
async def four(folder: Path) -> AsyncIterator[tuple[Gate, dict[str, Script]]]:
    scripts = {name: slowly(era) for name, (_, era) in SERVERS.items()}
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(played(folder, scripts[name], name, over=over))
            for name, (over, _) in SERVERS.items()
        ]
        guard = await stack.enter_async_context(gate(folder, *servers))
        await guard.ready(*SERVERS)
        yield guard, scripts


def said(reply: Reply) -> list[object]:
    assert {each["method"] for each in reply.notifications} <= {"notifications/progress"}
    return [each["params"] for each in reply.notifications]


async def test_progress_of_every_request_comes_before_its_answer(tmp_path: Path) -> None:
    async with four(tmp_path) as (guard, scripts):
        for how in HOWS:
            async with speaking(guard, how) as client:
                for server, script in scripts.items():
                    for method, params in requests(server):
                        reply = await client.request(method, params | {"_meta": {"progressToken": "mine"}})
                        assert reply.result["content"] == []
                        assert said(reply) == [
                            {"progressToken": "mine", "progress": step, "total": 4, "message": f"step {step}"}
                            for step in (1, 2.5, 4)
                        ], (how, server, method)
                        theirs = script.called(method)[-1]["params"]["_meta"]["progressToken"]
                        assert theirs != "mine", "a server learns no token of a client"


async def test_who_did_not_ask_for_progress_hears_none(tmp_path: Path) -> None:
    async with four(tmp_path) as (guard, scripts):
        for how in HOWS:
            async with speaking(guard, how) as client:
                for server, script in scripts.items():
                    for method, params in requests(server):
                        reply = await client.request(method, params)
                        assert reply.before == []
                        assert "progressToken" not in script.called(method)[-1]["params"].get("_meta", {})


async def test_a_token_is_a_string_or_a_whole_number_and_comes_back_as_it_was(tmp_path: Path) -> None:
    script = slowly()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                for token in TOKENS:
                    reply = await client.request("tools/call", {"name": "web::echo", "_meta": {"progressToken": token}})
                    assert [each["params"]["progressToken"] for each in reply.notifications] == [token] * 3
                for odd in NO_TOKENS:
                    reply = await client.request("tools/call", {"name": "web::echo", "_meta": {"progressToken": odd}})
                    assert reply.before == []


async def test_among_many_everybody_hears_only_of_what_is_theirs(tmp_path: Path) -> None:
    """They all use the same token, and their servers speak of them in turns."""

    async def in_turns(asked: Asked) -> Json:
        name = asked.arguments["name"]
        for step in range(1, 6):
            await asked.progress(step, message=name)
            await anyio.lowlevel.checkpoint()
        return {"content": [], "structuredContent": {"name": name}}

    async def one(client: RawClient, server: str, name: str) -> None:
        said = {"name": f"{server}::echo", "arguments": {"name": name}, "_meta": {"progressToken": 1}}
        reply = await client.request("tools/call", said)
        assert reply.result["structuredContent"] == {"name": name}
        heard = [(each["params"]["message"], each["params"]["progress"]) for each in reply.notifications]
        assert heard == [(name, step) for step in (1, 2, 3, 4, 5)]

    async with four(tmp_path) as (guard, scripts), AsyncExitStack() as stack:
        for script in scripts.values():
            script.answers["tools/call echo"] = in_turns
        crowd = [
            (await stack.enter_async_context(speaking(guard, how)), server, f"{how} {server} {number}")
            for how in HOWS
            for server in scripts
            for number in range(4)
        ]
        async with anyio.create_task_group() as tasks:
            for each in crowd:
                tasks.start_soon(one, *each)


async def test_a_server_can_speak_of_no_call_that_it_was_not_given(tmp_path: Path) -> None:
    """It tries the tokens of clients, of calls that have ended, and none at all."""
    web, other = slowly("legacy"), slowly("legacy")
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(played(tmp_path, script, name))
            for name, script in {"web": web, "other": other}.items()
        ]
        guard = await stack.enter_async_context(gate(tmp_path, *servers))
        await guard.ready("web", "other")

        async def forging(asked: Asked) -> Json:
            ended = web.called("tools/call")[0]["params"]["_meta"]["progressToken"]
            forged: list[object] = [1, "1", True, None, "mine", ended, [1], {}]
            for token in forged:
                await other.notify("notifications/progress", {"progressToken": token, "progress": 1})
                await web.notify("notifications/progress", {"progressToken": token, "progress": 1})
            await web.notify("notifications/progress")
            await other.notify("notifications/message", {"level": "error", "data": "to everybody"})
            await web.notify("notifications/cancelled", {"requestId": 1})
            await web.notify("notifications/invented", {"to": "everybody"})
            await asked.progress(1)
            return {"content": []}

        for how in HOWS:
            async with speaking(guard, how) as client:
                params = {"name": "web::echo", "_meta": {"progressToken": "mine"}}
                web.answers["tools/call echo"] = stepping
                await client.request("tools/call", params)
                web.answers["tools/call echo"] = forging
                reply = await client.request("tools/call", params)
                assert said(reply) == [{"progressToken": "mine", "progress": 1}], how


async def test_messages_come_as_severe_as_they_were_asked_for(tmp_path: Path) -> None:
    async def talking(asked: Asked) -> Json:
        for level in ("debug", "info", "warning", "error"):
            await asked.log(level, {"level": level})
        await asked.notify("notifications/message", {"level": "invented", "data": 1})
        return {"content": []}

    async with four(tmp_path) as (guard, scripts):
        for script in scripts.values():
            script.answers["tools/call echo"] = talking
        for how in HOWS:
            async with speaking(guard, how) as client:
                for server in scripts:
                    assert await levels(client, server, None) == (
                        [] if "modern" in how else ["info", "warning", "error"]
                    )
                    for least, wanted in (("error", ["error"]), ("debug", ["debug", "info", "warning", "error"])):
                        assert await levels(client, server, least) == wanted, (how, server)
                    if "legacy" in how:
                        await client.request("logging/setLevel", {"level": "info"})
                if "legacy" in how:
                    for wrong in ("invented", None, 5, ""):
                        assert (await client.request("logging/setLevel", {"level": wrong})).error["code"] == -32602


async def levels(client: RawClient, server: str, least: str | None) -> list[str]:
    """The levels of the messages that a call brings."""
    meta: Json = {}
    if least is not None and client.modern:
        meta = {"_meta": {LOG_LEVEL: least}}
    elif least is not None:
        await client.request("logging/setLevel", {"level": least})
    reply = await client.request("tools/call", {"name": f"{server}::echo"} | meta)
    assert {each["method"] for each in reply.before} <= {"notifications/message"}
    return [each["params"]["level"] for each in reply.before]


@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_a_handshakes_server_logs_as_much_as_somebody_wants_and_each_hears_what_they_want(
    over: str, tmp_path: Path
) -> None:
    async def every_level(asked: Asked) -> Json:
        for level in ("debug", "info", "error"):
            await asked.log(level, level)  # the server itself keeps back what was not asked for
        return {"content": []}

    script = Script("legacy")
    script.answers["tools/call echo"] = every_level
    async with guarded(tmp_path, script, over=over) as guard:
        quiet, usual, curious = guard.client(), await guard.legacy(), guard.client()
        quiet.meta, curious.meta = {LOG_LEVEL: "error"}, {LOG_LEVEL: "debug"}
        for client, heard in (
            (guard.client(), []),
            (quiet, ["error"]),
            (usual, ["info", "error"]),
            (curious, ["debug", "info", "error"]),
            (quiet, ["error"]),
            (usual, ["info", "error"]),
        ):
            reply = await client.call("web::echo")
            assert [each["params"]["data"] for each in reply.before] == heard
            for each in reply.before:
                assert each["params"]["_meta"] == {"mcpguard/origin": {"server": "web"}}
                assert each["params"].get("proxy") == (None if client.modern else {"server": "web"})
        asked = [each["params"]["level"] for each in script.called("logging/setLevel")]
        assert asked == ["error", "info", "debug"], "asked for once, and again only for more"


@pytest.mark.parametrize("offers", [True, False])
async def test_a_server_that_cannot_set_its_level_is_called_all_the_same(*, offers: bool, tmp_path: Path) -> None:
    def refuse(_: Asked) -> Json:
        raise RpcError(-32603, "no")

    script = Script("legacy")
    script.answers["logging/setLevel"] = refuse
    if not offers:
        del script.capabilities["logging"]
    async with guarded(tmp_path, script) as guard:
        client = await guard.legacy()
        for _ in range(2):
            assert (await client.call("web::echo", {"a": 1})).result["structuredContent"] == {"a": 1}
        assert len(script.called("logging/setLevel")) == offers


@pytest.mark.parametrize("data", ["x" * 100_000, {"a": ["é" * 50_000]}])
async def test_a_message_has_a_bounded_size(data: object, tmp_path: Path) -> None:
    async def shout(asked: Asked) -> Json:
        await asked.log("error", data)
        return {"content": []}

    script = Script()
    script.answers["tools/call echo"] = shout
    async with guarded(tmp_path, script) as guard:
        client = guard.client()
        client.meta = {LOG_LEVEL: "debug"}
        (heard,) = (await client.call("web::echo")).before
        assert len(heard["params"]["data"]) == 16 * 1024 + 1
        assert heard["params"]["data"].endswith("…")
        assert (heard["params"]["level"], heard["params"]["logger"]) == ("error", "simulated")
