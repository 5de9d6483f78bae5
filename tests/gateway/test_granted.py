"""Callers that a person granted, as agents are them: what their scope names they find and use, and nothing more."""

import json
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.capabilities import Effect
from mcpguard.guard.traffic.wake import LONGEST_NAP
from tests.gate import Gate
from tests.gateway.granting import granted, over, revoked
from tests.gateway.hearing import WRAPPED, until
from tests.gateway.speaking import HOWS, guarded, nothing_happens, refused_once, speaking
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
LOOKING: Json = {"anonymous__effects": ["read"]}


@pytest.mark.parametrize("how", HOWS)
async def test_a_token_names_its_caller_and_its_scope_is_kept(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        caller = await granted(guard, "agent", "w*", "tool:e*", Effect.READ)
        async with speaking(guard, how, token=caller.token) as client:
            assert await client.names() == ["web::echo"]
            assert await client.names("prompts/list") == []
            assert await client.names("resources/list") == []
            assert (await client.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
            entry = guard.entries()[-1]
            assert (entry["caller"], entry["caller_label"]) == (caller.id, "agent")
            with refused_once(guard, "capability:unknown", script):
                await client.call("web::slow")


@pytest.mark.parametrize("how", HOWS)
async def test_out_of_scope_and_unknown_are_the_same_to_the_byte(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        caller = await granted(guard, "agent", "web", "echo")
        async with speaking(guard, how, token=caller.token) as client:
            answers = set()
            for name in ("web::slow", "web::none", "none::slow", "none::none"):
                with refused_once(guard, "capability:unknown", script) as entry:
                    reply = await client.call(name)
                answers.add(json.dumps((reply.message or {}) | {"id": 0}).replace(entry["entry"], "ID"))
            assert len(answers) == 1


@pytest.mark.parametrize("how", HOWS)
async def test_by_default_anonymous_finds_everything_and_uses_what_is_read(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **LOOKING) as guard, speaking(guard, how) as client:
        assert {"web::echo", "web::fail"} <= {*await client.names()}
        assert (await client.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        assert "contents" in (await client.request("resources/read", {"uri": WRAPPED})).result
        with refused_once(guard, "scope:effect", script) as entry:
            said = (await client.call("web::fail")).result["_meta"]["mcpguard/refusal"]
        assert (said["reason"], entry["caller"], entry["effect"]) == ("scope:effect", "anonymous", "destructive")
        assert (said["detail"]["effect"], said["detail"]["caller"]) == ("destructive", "anonymous")


async def test_the_settings_narrow_what_anonymous_finds(tmp_path: Path) -> None:
    script = Script()
    narrow: Json = {"anonymous__servers": ["w?b"], "anonymous__tools": ["tool:ec*"]}
    async with guarded(tmp_path, script, **narrow) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                assert await client.names() == ["web::echo"]
                with refused_once(guard, "capability:unknown", script):
                    await client.call("web::slow")


async def test_where_nobody_is_anonymous_everybody_needs_a_token(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, anonymous__enabled=False) as guard:
        caller = await granted(guard)
        with nothing_happens(guard, script):
            for modern in (True, False):
                nobody = guard.client(modern=modern)
                reply = await (nobody.discover() if modern else nobody.initialize())
                assert (reply.status, reply.headers["www-authenticate"]) == (401, 'Bearer realm="mcpguard"')
            async with await anyio.connect_unix(guard.where.agents) as stream:
                await stream.send(b'{"mcpguard": 1, "face": "direct", "only": null, "token": null}\n')
                assert b"MCPGUARD_TOKEN" in await stream.receive()
        for how in HOWS:
            async with speaking(guard, how, token=caller.token) as client:
                assert "web::echo" in await client.names()


async def test_a_session_is_its_callers_also_when_the_name_is_given_anew(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        first = await granted(guard)
        client = await guard.legacy(token=first.token)
        await revoked(guard, first)
        second = await granted(guard)
        assert second.grant.caller.label == first.grant.caller.label
        client.headers["authorization"] = f"Bearer {second.token}"
        assert (await client.call("web::echo")).status == 404


async def test_whose_time_is_over_first_is_first_nobody(tmp_path: Path) -> None:
    """Also where a caller comes whose time is over sooner than anybody's that was waited for."""
    async with guarded(tmp_path, Script()) as guard:
        late, soon = await granted(guard, "late", seconds=300), await granted(guard, "soon", seconds=10)
        async with guard.stream(token=late.token) as one, guard.stream(token=soon.token) as other:
            await over(guard, soon)
            await other.ended.wait()
            assert not one.ended.is_set()
            assert (await one.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
            await over(guard, late)
            await one.ended.wait()


async def test_nobody_wakes_for_callers_whose_time_has_no_end(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        before = _sleepers(guard)
        await granted(guard)
        await guard.clock.advance(0)
        assert _sleepers(guard) == before
        await granted(guard, "other", seconds=10 * int(LONGEST_NAP))
        await until(lambda: _sleepers(guard) == before + 1)


def _sleepers(guard: Gate) -> int:
    return len(guard.clock._sleepers)
