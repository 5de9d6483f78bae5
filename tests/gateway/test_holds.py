"""A call that a person must allow waits, is answered, and is made once; or it is not made, and nothing happens."""

import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.uris import wrap_uri
from mcpguard.domain.decisions import Forbidden, Stale, Unknown
from mcpguard.domain.errors import IllegalMove
from tests.gate import Gate, gate
from tests.gateway.granting import Granted, granted, over, revoked
from tests.gateway.guard_face import agent, answer
from tests.gateway.holding import (
    ALLOWED,
    HELD,
    LIFE,
    Making,
    allowed,
    calls,
    denied,
    held,
    moves,
    refusal,
    told_to_come_back,
    until,
)
from tests.gateway.speaking import HOWS, guarded, played, speaking
from tests.review import DECISION
from tests.simulators.client import Reply
from tests.simulators.line_client import LineClient
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
EVERY = pytest.mark.parametrize("how", HOWS)


async def test_nobody_is_asked_about_a_call_that_is_not_recorded_yet(tmp_path: Path) -> None:
    script, busy = Script(), threading.Event()
    async with guarded(tmp_path, script, **HELD) as guard, anyio.create_task_group() as tasks:
        tickets = guard.now.guard.held._answering.tickets
        writing = partial(guard.now.store.writer.submit, lambda _: busy.wait(60) and None)
        tasks.start_soon(writing)
        making = Making(guard.client())
        tasks.start_soon(making)
        await until(lambda: len([*tickets]) == 1)
        (begun,) = tickets
        assert (await guard.now.guard.held.every(), guard.now.guard.held.waiting) == ([], 0)
        for answering in (allowed, denied):
            with pytest.raises(Unknown):
                await answering(guard, begun.hold.id)
        busy.set()
        assert (await held(guard))["arguments"] == {"text": "hello"}
        assert calls(script) == 0
        await allowed(guard)
        assert "hello" in (await making.done()).text


async def test_nothing_is_held_unless_it_is_set(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        assert (await guard.client().call("web::echo", {"text": "a"})).result.get("isError") is not True
        assert guard.entries()[-1]["verdict"] == "allow"
        assert await guard.now.guard.held.every() == []


@EVERY
async def test_a_call_waits_for_a_person_and_is_made_when_they_allow_it(how: str, tmp_path: Path) -> None:
    script = Script()
    async with (
        guarded(tmp_path, script, **HELD) as guard,
        speaking(guard, how) as client,
        anyio.create_task_group() as t,
    ):
        making = Making(client, progressToken="p")
        t.start_soon(making)
        call = await held(guard)
        assert (call["server"], call["name"], call["state"], call["because"]) == (
            "web",
            "echo",
            "waiting",
            "any of web:echo",
        )
        assert calls(script) == 0
        await guard.clock.advance(6)
        assert calls(script) == 0
        ticket = await allowed(guard)
        reply = await making.done()
        assert "hello" in reply.text
        assert calls(script) == 1
        waited = [said["params"] for said in reply.notifications if said["method"] == "notifications/progress"]
        assert {each["progressToken"] for each in waited} == {"p"}
        steps = [each["progress"] for each in waited]
        assert steps == sorted(set(steps))
        assert all("held for approval" in each["message"] for each in waited)
        entry = [record for record in guard.said() if record.get("entry") == ticket]
        assert [record["kind"] for record in entry] == ["opened", "released", "closed"]
        assert [record.get("verdict") for record in entry] == ["hold", "allow", None]
        assert (entry[0]["ticket"], entry[2]["outcome"]) == (ticket, "answered")
        assert moves(guard) == [("allow", "waiting", "allowed")]
        assert await guard.now.guard.held.every() == []


@EVERY
async def test_whoever_is_told_to_come_back_makes_the_same_call_once(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard:
        caller = await granted(guard)
        async with speaking(guard, how, token=caller.token) as client:

            async def call() -> Reply:
                return await client.call("web::echo", {"a": 1, "b": {"c": 2, "d": [3]}})

            said = await told_to_come_back(guard, call)
            assert (said["status"], said["reason"]) == ("held", "hold:waiting")
            ticket = said["detail"]["ticket"]
            assert guard.entries()[-1]["outcome"] == "held"
            assert calls(script) == 0
            await allowed(guard, ticket)
            assert calls(script) == 0, "to allow it makes no call"
            other = await told_to_come_back(guard, lambda: client.call("web::echo", {"a": 2, "b": {"c": 2, "d": [3]}}))
            assert other["detail"]["ticket"] != ticket, "other arguments are another call"
            again = await client.call("web::echo", {"b": {"d": [3], "c": 2}, "a": 1})
            assert again.result.get("isError") is not True
            entry = guard.entries()[-1]
            assert (entry["verdict"], entry["outcome"], entry["ticket"]) == ("allow", "answered", ticket)
            third = await told_to_come_back(guard, call)
            assert third["detail"]["ticket"] not in (ticket, other["detail"]["ticket"])
            assert calls(script) == 1


async def test_a_call_that_is_denied_is_refused_and_so_is_the_same_one_for_a_while(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard, anyio.create_task_group() as tasks:
        client = guard.client()
        making = Making(client)
        tasks.start_soon(making)
        await denied(guard)
        said = refusal(await making.done())
        assert (said["status"], said["reason"], said["detail"]) == ("refused", "hold:denied", {"person": DECISION.why})
        assert DECISION.why in (await making.done()).result["content"][0]["text"]
        again = refusal(await client.call("web::echo", {"text": "hello"}))
        assert again["reason"] == "hold:denied"
        assert guard.now.guard.held.waiting == 0, "nobody is asked a second time"
        await guard.clock.advance(LIFE + 1)
        later = await told_to_come_back(guard, lambda: client.call("web::echo", {"text": "hello"}))
        assert later["reason"] == "hold:waiting"
        assert calls(script) == 0
        assert moves(guard) == [("deny", "waiting", "denied")]


async def test_what_nobody_answers_expires(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard:
        client = guard.client()
        said = await told_to_come_back(guard, lambda: client.call("web::echo", {"text": "hello"}))
        ticket = said["detail"]["ticket"]
        await guard.clock.advance(LIFE)
        await until(lambda: guard.now.guard.held.waiting == 0)
        with pytest.raises(Unknown):
            await guard.now.guard.held.allow(ticket, DECISION)
        anew = await told_to_come_back(guard, lambda: client.call("web::echo", {"text": "hello"}))
        assert anew["detail"]["ticket"] != ticket
        assert (calls(script), moves(guard)) == (0, [("expire", "waiting", "expired")])


async def test_a_call_that_waits_longer_than_a_person_may_answer_is_refused(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, holds__wait_seconds=60, holds__life_seconds=30, **HELD) as guard:
        async with anyio.create_task_group() as tasks:
            making = Making(guard.client())
            tasks.start_soon(making)
            await held(guard)
            await guard.clock.advance(31)
            assert refusal(await making.done())["reason"] == "hold:expired"
        assert (calls(script), moves(guard)) == (0, [("expire", "waiting", "expired")])


async def test_what_was_allowed_and_not_made_in_time_is_asked_anew(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard:
        client = guard.client()
        said = await told_to_come_back(guard, lambda: client.call("web::echo"))
        await allowed(guard, said["detail"]["ticket"])
        await guard.clock.advance(ALLOWED + 1)
        again = await told_to_come_back(guard, lambda: client.call("web::echo"))
        assert again["reason"] == "hold:waiting"
        assert calls(script) == 0
        assert moves(guard) == [("allow", "waiting", "allowed"), ("expire", "allowed", "expired")]


@EVERY
async def test_whoever_takes_the_call_back_while_it_waits_withdraws_it(how: str, tmp_path: Path) -> None:
    script = Script()
    async with (
        guarded(tmp_path, script, **HELD) as guard,
        speaking(guard, how) as client,
        anyio.create_task_group() as t,
    ):
        making = Making(client)
        t.start_soon(making)
        ticket = (await held(guard))["id"]
        if how == "http modern":
            making.given_up.cancel()
        else:
            await client.notify("notifications/cancelled", {"requestId": "mine"})
        await until(lambda: guard.now.guard.held.waiting == 0)
        with pytest.raises(Unknown):
            await guard.now.guard.held.allow(ticket, DECISION)
        await until(lambda: guard.entries()[-1].get("outcome") is not None)
        entry = guard.entries()[-1]
        assert (entry["outcome"], entry["executed"]) == ("cancelled", "no")
        assert (calls(script), moves(guard)) == (0, [("withdraw", "waiting", "withdrawn")])
        if isinstance(client, LineClient):
            t.cancel_scope.cancel()


async def test_two_that_make_the_same_call_wait_together_and_one_of_them_makes_it(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard, anyio.create_task_group() as tasks:
        caller = await granted(guard)
        first, second = (Making(guard.client(token=caller.token)) for _ in range(2))
        for each in (first, second):
            tasks.start_soon(each)
        await until(lambda: len(guard.entries()) == 2)
        await held(guard)
        await allowed(guard)
        replies = [await first.done(), await second.done()]
        refused = [reply for reply in replies if reply.result.get("isError")]
        assert [refusal(reply)["reason"] for reply in refused] == ["hold:used"]
        assert calls(script) == 1


async def test_one_that_leaves_takes_nothing_back_while_another_waits(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard, anyio.create_task_group() as tasks:
        leaving, staying = Making(guard.client()), Making(guard.client())
        for each in (leaving, staying):
            tasks.start_soon(each)
        await until(lambda: len(guard.entries()) == 2)
        leaving.given_up.cancel()
        await until(lambda: [entry.get("outcome") for entry in guard.entries()].count("cancelled") == 1)
        await allowed(guard)
        assert (await staying.done()).result.get("isError") is not True
        assert calls(script) == 1


async def test_many_that_use_what_was_allowed_at_once_make_one_call(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, holds__wait_seconds=0, **HELD) as guard:
        caller = await granted(guard)
        said = refusal(await guard.client(token=caller.token).call("web::echo", {"text": "hello"}))
        await allowed(guard, said["detail"]["ticket"])
        many = [Making(guard.client(token=caller.token)) for _ in range(20)]
        async with anyio.create_task_group() as tasks:
            for each in many:
                tasks.start_soon(each)
        replies = [await each.done() for each in many]
        assert [reply.result.get("isError") is True for reply in replies].count(False) == 1
        assert calls(script) == 1


async def test_a_ticket_is_worth_nothing_to_another_caller_or_another_anonymous_session(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, holds__wait_seconds=0, **HELD) as guard:
        mine, theirs = await granted(guard, "mine"), await granted(guard, "theirs")
        ours = await guard.legacy()
        for client in (guard.client(token=mine.token), ours):
            await allowed(guard, refusal(await client.call("web::echo"))["detail"]["ticket"])
        for other in (guard.client(token=theirs.token), await guard.legacy()):
            assert refusal(await other.call("web::echo"))["reason"] == "hold:waiting"
        assert calls(script) == 0
        for client in (await guard.legacy(token=mine.token), ours):
            assert (await client.call("web::echo")).result.get("isError") is not True
        assert calls(script) == 2


async def test_only_so_many_calls_of_one_caller_wait(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, holds__wait_seconds=0, holds__per_caller=2, **HELD) as guard:
        mine, theirs = await granted(guard, "mine"), await granted(guard, "theirs")
        client = guard.client(token=mine.token)
        said = [refusal(await client.call("web::echo", {"n": n}))["reason"] for n in range(4)]
        assert said == ["hold:waiting", "hold:waiting", "hold:crowded", "hold:crowded"]
        assert refusal(await client.call("web::echo", {"n": 1}))["reason"] == "hold:waiting", "it waits already"
        assert refusal(await guard.client(token=theirs.token).call("web::echo"))["reason"] == "hold:waiting"
        assert (guard.now.guard.held.waiting, calls(script)) == (3, 0)


async def test_what_was_allowed_is_void_when_what_it_rests_on_is_another(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, holds__wait_seconds=0, **HELD) as guard:
        client, decisions = guard.client(), guard.now.guard.decisions
        await allowed(guard, refusal(await client.call("web::echo", {"n": 1}))["detail"]["ticket"])
        waiting = refusal(await client.call("web::echo", {"n": 2}))["detail"]["ticket"]
        await decisions.disable("web", DECISION)
        await decisions.enable("web", DECISION)
        await until(lambda: guard.now.guard.held.waiting == 0)
        with pytest.raises((Unknown, Stale)):
            await guard.now.guard.held.allow(waiting, DECISION)
        await guard.ready("web")
        assert refusal(await client.call("web::echo", {"n": 1}))["reason"] == "hold:waiting"
        assert calls(script) == 0
        assert sorted(moves(guard)[1:]) == [("void", "allowed", "expired"), ("void", "waiting", "expired")]


async def test_a_call_that_waits_is_refused_when_its_server_leaves_approved(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard, anyio.create_task_group() as tasks:
        making = Making(guard.client())
        tasks.start_soon(making)
        await held(guard)
        await guard.now.guard.decisions.quarantine("web", DECISION)
        assert refusal(await making.done())["reason"] == "server:quarantined"
        await until(lambda: guard.now.guard.held.waiting == 0)
        assert (calls(script), moves(guard)) == (0, [("void", "waiting", "expired")])


@pytest.mark.parametrize("way", [revoked, over], ids=lambda way: way.__name__)
async def test_a_call_that_waits_is_refused_when_its_caller_is_none_any_more(
    way: Callable[[Gate, Granted], Awaitable[None]], tmp_path: Path
) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard, anyio.create_task_group() as tasks:
        caller = await granted(guard, seconds=10)
        making = Making(guard.client(token=caller.token))
        tasks.start_soon(making)
        await held(guard)
        await way(guard, caller)
        await until(lambda: guard.now.guard.held.waiting == 0)
        await until(lambda: guard.entries()[-1].get("outcome") is not None)
        assert [record["reason"] for record in guard.said() if record["kind"] == "closed"] == ["caller:revoked"]
        assert calls(script) == 0
        tasks.cancel_scope.cancel()


async def test_what_was_asked_before_a_restart_can_be_allowed_and_is_then_made_once(tmp_path: Path) -> None:
    script = Script()
    async with played(tmp_path, script, "web") as server:
        async with gate(tmp_path, server, **HELD) as guard:
            caller = await granted(guard)
            client = guard.client(token=caller.token)
            said = await told_to_come_back(guard, lambda: client.call("web::echo"))
            ticket = said["detail"]["ticket"]
        async with gate(tmp_path, server, **HELD) as guard:
            await guard.ready("web")
            (call,) = await guard.now.guard.held.every()
            assert (call["id"], call["state"], call["caller"]["name"]) == (ticket, "waiting", "agent")
            await guard.now.guard.held.allow(ticket, DECISION)
            assert calls(script) == 0, "to allow it only arms the ticket"
            client = guard.client(token=caller.token)
            assert (await client.call("web::echo")).result.get("isError") is not True
            again = await told_to_come_back(guard, lambda: client.call("web::echo"))
            assert again["detail"]["ticket"] != ticket
            assert calls(script) == 1


async def test_a_guard_that_stops_tells_whoever_waits_to_come_back(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard, anyio.create_task_group() as tasks:
        making = Making(guard.client())
        tasks.start_soon(making)
        await held(guard)
        guard.where.door.close()
        assert refusal(await making.done())["reason"] == "hold:waiting"
        assert (guard.now.guard.held.waiting, calls(script), moves(guard)) == (1, 0, [])


async def test_a_shell_that_may_only_tighten_denies_and_does_not_allow(tmp_path: Path) -> None:
    script = Script()
    narrow = replace(DECISION, by=replace(DECISION.by, may_widen=False))
    async with guarded(tmp_path, script, holds__wait_seconds=0, **HELD) as guard:
        client = guard.client()
        ticket = refusal(await client.call("web::echo"))["detail"]["ticket"]
        with pytest.raises(Forbidden):
            await guard.now.guard.held.allow(ticket, narrow)
        assert guard.now.guard.held.waiting == 1
        await guard.now.guard.held.deny(ticket, narrow)
        with pytest.raises(IllegalMove):
            await guard.now.guard.held.allow(ticket, DECISION)
        assert refusal(await client.call("web::echo"))["reason"] == "hold:denied"
        assert calls(script) == 0


async def test_what_was_allowed_can_be_taken_back_until_it_is_made(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, holds__wait_seconds=0, **HELD) as guard:
        client = guard.client()
        ticket = await allowed(guard, refusal(await client.call("web::echo"))["detail"]["ticket"])
        await denied(guard, ticket)
        assert refusal(await client.call("web::echo"))["reason"] == "hold:denied"
        assert calls(script) == 0
        assert moves(guard) == [("allow", "waiting", "allowed"), ("deny", "allowed", "denied")]


async def test_what_is_refused_anyway_is_put_to_nobody(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, holds__calls=["any"]) as guard:
        narrow = await granted(guard, "narrow", "other")
        for client, name in ((guard.client(token=narrow.token), "web::echo"), (guard.client(), "web::nothing")):
            assert refusal(await client.call(name))["status"] == "refused"
        invalid = refusal(await guard.client().call("web::add", {"a": "one"}))
        assert invalid["reason"] == "arguments:invalid"
        assert (guard.now.guard.held.waiting, calls(script)) == (0, 0)


async def test_resources_prompts_and_completions_are_held_alike(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, holds__calls=["any"], holds__wait_seconds=0) as guard:
        client = guard.client()
        ref = {"ref": {"type": "ref/prompt", "name": "web::greet"}, "argument": {"name": "name", "value": ""}}
        for method, params in (
            ("resources/read", {"uri": wrap_uri("web", "note://first")}),
            ("prompts/get", {"name": "web::greet"}),
            ("completion/complete", ref),
        ):
            error = (await client.request(method, params)).error
            assert (error["code"], error["data"]["reason"]) == (-31010, "hold:waiting")
            await allowed(guard, error["data"]["detail"]["ticket"])
            assert (await client.request(method, params)).result
        assert {entry["verdict"] for entry in guard.entries()} == {"hold", "allow"}


async def test_an_agent_reads_beforehand_that_a_person_will_be_asked(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **HELD) as guard, agent(guard) as client:
        echo, add = (await answer(client, "describe_tool", names=["web:echo", "web:add"]))["tools"]
        assert (echo["answer"], echo["reason"]) == ("ready", "hold:waiting")
        assert (add["answer"], "reason" in add) == ("ready", False)


async def test_only_the_calls_that_a_phrase_names_are_held(tmp_path: Path) -> None:
    script = Script()
    phrases = ["destructive", "read of web:add by desk"]
    async with guarded(tmp_path, script, holds__calls=phrases, holds__wait_seconds=0) as guard:
        desk, lab = await granted(guard, "desk"), await granted(guard, "lab")
        sum_ = {"a": 1, "b": 2}
        for token in (desk.token, lab.token):
            assert (await guard.client(token=token).call("web::echo")).result.get("isError") is not True
            assert refusal(await guard.client(token=token).call("web::fail"))["reason"] == "hold:waiting"
        assert refusal(await guard.client(token=desk.token).call("web::add", sum_))["reason"] == "hold:waiting"
        assert (await guard.client(token=lab.token).call("web::add", sum_)).result["structuredContent"] == {"sum": 3}
