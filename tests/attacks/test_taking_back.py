"""A client that takes its calls back, again and again, at a server that asks on a stream which all calls share: whoever
else uses the server is served all the while, and asked only what is meant for them."""

import json
from pathlib import Path

import anyio
import pytest

from mcpguard.upstreams.supervise.succession import MOST
from tests.attacks.aftermath import Ended, nothing_else
from tests.attacks.asking import ADA, EVE, PERMITTED, TOOL, nosy
from tests.attacks.in_front import until
from tests.gateway.speaking import OTHER_TOKEN, TOKEN, guarded, two_callers
from tests.simulators.client import RawClient
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
SLOW = "web::slow"
ABLE: Json = {"elicitation": {"form": {}}}


def answering(client: RawClient, answer: Json) -> list[Json]:
    """Let a client answer so whatever it is asked. What it is asked is collected."""
    asked: list[Json] = []

    def answered(params: Json) -> Json:
        asked.append(params)
        return answer

    client.on["elicitation/create"] = answered
    return asked


@pytest.mark.parametrize("over", ["stdio", "sse"])
async def test_whoever_takes_calls_back_takes_the_server_from_nobody(over: str, tmp_path: Path) -> None:
    script = nosy("legacy")
    given = {"over": over, "callers": two_callers(), "may_ask": PERMITTED}
    async with (
        guarded(tmp_path, script, **given) as guard,  # type: ignore[arg-type]
        guard.stream(modern=False, token=TOKEN) as attacker,
        guard.stream(modern=False, token=OTHER_TOKEN) as other,
    ):
        of_attacker, of_other = answering(attacker, EVE), answering(other, ADA)
        await attacker.initialize()
        await other.initialize()
        began = len(script.called("initialize"))
        answered = [Ended("web", "ask", "answered", "yes")] * (2 * MOST)
        left = [Ended("web", "slow", "cancelled", "unknown")] * MOST
        refused = [Ended("web", tool, "refused", "no", "budget:connections") for tool in ("slow", "ask")]
        with nothing_else(guard, *answered, *left, *refused):
            for count in range(1, MOST + 1):
                async with anyio.create_task_group() as tasks:
                    heard: list[str] = []

                    async def call(of: RawClient, heard: list[str] = heard) -> None:
                        heard.append((await of.call(TOOL)).text)

                    tasks.start_soon(attacker.call, SLOW)
                    await script.until(lambda: script.held)
                    tasks.start_soon(call, other)
                    await attacker.cancel(attacker.last)
                    await script.until(lambda count=count: len(script.abandoned) == count)  # type: ignore[misc]
                    wanted = 2 if count < MOST else 1
                    if wanted == 2:
                        tasks.start_soon(call, attacker)
                    await until(lambda heard=heard, wanted=wanted: len(heard) == wanted)  # type: ignore[misc]
                    tasks.cancel_scope.cancel()
                assert sorted(heard) == [json.dumps(answer) for answer in (ADA, EVE)[:wanted]]
                assert (len(of_other), len(of_attacker)) == (count, min(count, MOST - 1))
            for tool in (SLOW, TOOL):
                said = (await attacker.call(tool)).result["structuredContent"]
                assert (said["status"], said["executed"], said["reason"]) == ("refused", "no", "budget:connections")
            assert "Ada" in (await other.call(TOOL)).text
        assert len(script.called("initialize")) == began + MOST
        await until(lambda: len(script.parties) == 1)
