"""While a person thinks, much may change: before an answer goes back the call is judged as things stand then."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.attacks.asking import (
    ADA,
    ASKED_BY,
    EVE,
    PERMITTED,
    Questioned,
    all_closed,
    answers_to,
    nosy,
    notes,
    once_each,
    refusals,
    responses,
)
from tests.gate import gate
from tests.gateway.speaking import HOWS, changed, guarded, played, speaking
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


def unheard(script: Script) -> bool:
    """Whether the server was given no answer."""
    return not responses(script) and not [each for each in answers_to(script) if each.get("result") in (ADA, EVE)]


@pytest.mark.parametrize("server", ASKED_BY)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("what", ["removed", "switched off", "another"])
async def test_a_server_that_is_not_what_it_was_gets_no_answer(
    what: str, how: str, server: str, tmp_path: Path
) -> None:
    over, era = server.split()
    script, other = nosy(era), nosy(era)
    async with (
        played(tmp_path, script, "web", over=over) as web,
        played(tmp_path, other, "new", over=over) as new,
        gate(tmp_path, web, may_ask=PERMITTED) as guard,
    ):
        await guard.ready("web")
        async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
            call = await Questioned(client, tasks).begin()
            changes = {
                "removed": (),
                "switched off": (replace(web, enabled=False),),
                "another": (replace(new, name="web"),),
            }
            guard.now.guard.servers.declare(changes[what])
            if what == "another":
                await other.received("tools/list")
                await guard.ready("web")
            await call.say(dict.fromkeys(call.questions, ADA))
            await all_closed(guard)
            reply = await call.ended()
            assert "Ada" not in str(reply.message)
        ((outcome, reason),) = refusals(guard)
        assert outcome == "unknown"
        assert reason in ("server:lost", "server:disabled", "capability:unknown", "server:unreachable")
        assert notes(guard)[0] == ("asked", "", "")
        assert (unheard(script), unheard(other), other.called("tools/call")) == (True, True, [])
        assert once_each(guard.said())


@pytest.mark.parametrize("server", [each for each in ASKED_BY if each != "stdio legacy"])
@pytest.mark.parametrize("how", HOWS)
async def test_a_tool_that_is_gone_gets_no_answer(how: str, server: str, tmp_path: Path) -> None:
    """Over a stream a server of the handshake era is not listed again while it works."""
    over, era = server.split()
    script = nosy(era)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
            call = await Questioned(client, tasks).begin()
            script.tools.pop()
            await changed(guard, script)
            reply = await call.answer()
            if era == "modern":
                assert reply.result["structuredContent"]["reason"] == "capability:unknown"
            else:
                assert reply.error["code"] == -31010
        assert notes(guard) == [("asked", "", ""), ("heard", "accept", "")]
        assert unheard(script)
