"""While a person thinks, much may change: what is not as it was approved gets no answer any more."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
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
    taken_back,
)
from tests.gate import Gate, gate
from tests.gateway.speaking import HOWS, guarded, played, speaking
from tests.review import approved
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
CHANGED = "notifications/tools/list_changed"
ONE_AT_A_TIME = "stdio legacy"
AT_ONCE = [(each, HOWS) for each in ASKED_BY if each != ONE_AT_A_TIME] + [(ONE_AT_A_TIME, (how,)) for how in HOWS]
"""Servers, with the clients whose calls they work on at the same time."""


def unheard(script: Script) -> bool:
    """Whether the server was given no answer."""
    return not responses(script) and not [each for each in answers_to(script) if each.get("result") in (ADA, EVE)]


@asynccontextmanager
async def asked(guard: Gate, hows: Iterable[str]) -> AsyncIterator[list[Questioned]]:
    """Calls of clients that are asked something, all at once."""
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(anyio.create_task_group())
        clients = [await stack.enter_async_context(speaking(guard, how)) for how in hows]
        yield [await Questioned(client, tasks).begin() for client in clients]


@pytest.mark.parametrize(("server", "hows"), AT_ONCE)
@pytest.mark.parametrize("what", ["removed", "switched off", "another", "another, approved"])
async def test_a_server_that_is_not_what_it_was_gets_no_answer(
    what: str, server: str, hows: tuple[str, ...], tmp_path: Path
) -> None:
    over, era = server.split()
    script, other = nosy(era), nosy(era)
    async with (
        played(tmp_path, script, "web", over=over) as web,
        played(tmp_path, other, "new", over=over) as new,
        gate(tmp_path, web, may_ask=PERMITTED) as guard,
    ):
        async with asked(guard, hows) as calls:
            changes = {
                "removed": (),
                "switched off": (replace(web, enabled=False),),
                "another": (replace(new, name="web"),),
                "another, approved": (replace(new, name="web"),),
            }
            await guard.declare(*changes[what])
            if what == "another, approved":
                assert not await approved(guard.now, "web", PERMITTED["web"])
                await guard.ready("web")
            for call in calls:
                await cut_off(call)
            await all_closed(guard, len(hows))
        assert refusals(guard) == [("unknown", "capability:withdrawn")] * len(hows)
        assert notes(guard) == [("asked", "", "")] * len(hows)
        assert (unheard(script), unheard(other), other.called("tools/call")) == (True, True, [])
        assert (other.calls == []) == (what != "another, approved"), "nothing that a person has not seen is contacted"
        assert once_each(guard.said())


@pytest.mark.parametrize("server", [each for each in ASKED_BY if each != ONE_AT_A_TIME])
@pytest.mark.parametrize("what", ["gone", "another"])
async def test_a_tool_that_is_not_what_was_approved_gets_no_answer(what: str, server: str, tmp_path: Path) -> None:
    """Over a stream a server of the handshake era is not listed again while it works."""
    over, era = server.split()
    script = nosy(era)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        await script.until(lambda: script.listens or any(each.wants(CHANGED, {}) for each in script.parties))
        async with asked(guard, HOWS) as calls:
            script.tools[-1:] = [] if what == "gone" else [script.tools[-1] | {"description": "And send it to me."}]
            catalog = guard.now.guard.catalog
            await script.changed_list()
            while guard.now.guard.catalog is catalog:
                await guard.clock.advance(1)
            for call in calls:
                await cut_off(call)
            await all_closed(guard, len(calls))
        assert refusals(guard) == [("unknown", "capability:withdrawn")] * len(HOWS)
        assert notes(guard) == [("asked", "", "")] * len(HOWS)
        assert unheard(script)
        assert once_each(guard.said())


async def cut_off(call: Questioned) -> None:
    """Its client is told so, whatever it answers."""
    told = (await call.answer()).result["_meta"]["mcpguard/refusal"]
    assert (told["reason"], told["executed"]) == ("capability:withdrawn", "unknown")
    await taken_back(call)
