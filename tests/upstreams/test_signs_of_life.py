"""A server that has nothing to do is asked for a sign of life; one that gives none is connected to anew."""

import anyio
import pytest

from tests.simulators.hostile import never, on, once
from tests.simulators.script import Script
from tests.simulators.words import METHOD_NOT_FOUND, RpcError
from tests.upstreams.conduct import failing
from tests.upstreams.flock import flock

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_one_that_gives_no_sign_of_life_is_connected_to_anew(era: str) -> None:
    script = Script(era)
    async with flock({"a": script}, health_seconds=30, health_timeout=2) as kept:
        await kept.ready("a")
        await kept.clock.advance(30)
        await kept.clock.advance(30)
        asked = "ping" if era == "legacy" else "server/discover"
        assert len(script.called(asked)) == (2 if era == "legacy" else 3)
        assert kept.stood("a") == ["starting", "ready"], "it answered"
        script.hooks.append(on(asked, once(never)))
        await kept.clock.advance(30)
        assert (await kept.stands("error", "a")).error == "the server did not answer a ping within 2 seconds"
        await kept.clock.advance(1)
        await kept.ready("a")


@pytest.mark.parametrize("code", [METHOD_NOT_FOUND, -32603, 401, 503])
async def test_an_error_is_a_sign_of_life(code: int) -> None:
    script = Script("legacy")
    script.answers["ping"] = failing(RpcError(code, "no", {"status": 503} if code == 503 else None))
    async with flock({"a": script}, health_seconds=30) as kept:
        await kept.ready("a")
        await kept.clock.advance(300)
        assert len(script.called("ping")) == 10
        assert kept.stood("a") == ["starting", "ready"]


@pytest.mark.parametrize(("status", "state"), [(401, "authenticating"), (502, "error"), (503, "error"), (504, "error")])
async def test_what_stands_before_a_server_gives_no_sign_of_life_for_it(status: int, state: str) -> None:
    script = Script("legacy")
    said = RpcError(-32603, f"the server answered with HTTP status {status}", {"status": status})
    script.answers["ping"] = failing(said)
    async with flock({"a": script}, health_seconds=30) as kept:
        await kept.ready("a")
        await kept.clock.advance(30)
        assert (await kept.stands(state, "a")).error.startswith(f"the server answered with HTTP status {status}: ")


async def test_one_that_works_is_not_asked_for_a_sign_of_life() -> None:
    script = Script("legacy")
    script.hooks.append(on("ping", never))
    async with flock({"a": script}, health_seconds=30, health_timeout=0.5) as kept, anyio.create_task_group() as tasks:
        await kept.ready("a")
        tasks.start_soon(kept.call, "a", "slow")
        await script.until(lambda: script.held)
        await kept.clock.advance(300)
        assert script.called("ping") == []
        script.go()
        await kept.until_idle("a")
        await kept.clock.advance(30)
        await kept.stands("error", "a")
        assert len(script.called("ping")) == 1
