"""A request that stays open: what is said on its account is known to be its own, and casts no doubt on the others."""

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from mcpguard.codec.envelope import SUBSCRIPTION
from mcpguard.upstreams.exchange.conversation import StandingRequest
from mcpguard.upstreams.protocol.calls_in_flight import CallSlots
from mcpguard.upstreams.protocol.switchboard import Switchboard
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.upstreams.conversing import conversing
from tests.upstreams.flock import Somebody, flock, settled

pytestmark = pytest.mark.anyio


async def test_what_names_a_standing_request_is_put_to_it_and_to_no_other() -> None:
    async with conversing() as (talk, tasks):
        standing = StandingRequest()
        tasks.start_soon(talk.ask, "listen", standing)
        await wait_all_tasks_blocked()
        tasks.start_soon(talk.ask, "call", "a call")
        await wait_all_tasks_blocked()
        listen, call = [said["id"] for said in talk.server.heard]
        named: list[object] = [listen, call, str(listen), float(listen), True, None, [listen], {}, 99]
        for id_ in named:
            await talk.server.say(method="n", params={"_meta": {SUBSCRIPTION: id_}})
        odd: list[dict[str, object]] = [{}, {"_meta": None}, {"_meta": []}]
        for params in odd:
            await talk.server.say(method="n", params=params)
        assert [origin for _, _, origin in talk.news] == [standing, *["a call"] * 11]
        await talk.server.say(id=listen, result={})
        await talk.server.say(method="n", params={"_meta": {SUBSCRIPTION: listen}})
        assert talk.news[-1][2] == "a call", "it is over"


async def test_one_that_was_taken_back_casts_no_doubt() -> None:
    async with conversing() as (talk, tasks):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as callers:
                callers.start_soon(talk.ask, "listen", StandingRequest())
                await wait_all_tasks_blocked()
                scope.cancel()
        assert talk.server.heard[-1]["method"] == "notifications/cancelled"
        tasks.start_soon(talk.ask, "call", "a call")
        await wait_all_tasks_blocked()
        await talk.server.say(method="n")
        assert [origin for _, _, origin in talk.news] == ["a call"]


@pytest.mark.parametrize(
    ("params", "honoured"),
    [
        ({"notifications": {"resourceSubscriptions": ["a", "b"]}}, {"a", "b"}),
        ({"notifications": {"resourceSubscriptions": ["a", 1, None, ["b"], {}]}}, {"a"}),
        ({"notifications": {"resourceSubscriptions": "a"}}, set()),
        ({"notifications": {"toolsListChanged": True}}, set()),
        ({"notifications": ["a"]}, set()),
        ({}, set()),
        (None, set()),
    ],
)
async def test_an_acknowledgement_counts_once_and_only_for_what_it_acknowledges(
    params: dict[str, object] | None, honoured: set[str]
) -> None:
    board, standing, other = Switchboard("a", CallSlots(1, 0), lambda _: None), StandingRequest(), StandingRequest()
    said = "notifications/subscriptions/acknowledged"
    board.take_notification(said, params, None)
    board.take_notification(said, params, "a call")
    assert not standing.acknowledged.is_set()
    board.take_notification(said, params, standing)
    board.take_notification(said, {"notifications": {"resourceSubscriptions": ["later"]}}, standing)
    assert standing.acknowledged.is_set()
    assert standing.honoured == honoured
    assert not other.acknowledged.is_set()


async def test_what_has_changed_is_handed_on_as_it_was_said() -> None:
    said: list[object] = []
    board = Switchboard("a", CallSlots(1, 0), lambda _: None, said.append)
    for params in ({"uri": "a"}, {"uri": 1}, {}, None):
        board.take_notification("notifications/resources/updated", params, None)
    assert said == ["a", 1, None, None]


async def test_messages_are_put_to_their_call_while_subscriptions_come_and_go() -> None:
    script = Script("modern")

    async def speak(asked: Asked) -> str:
        await asked.log("info", "said")
        return "done"

    script.tool("speak", speak)
    somebody = Somebody(level="debug")
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        for uri in ("note://first", "note://2/text"):
            await kept.fleet._servers["a"].current.watching.add(uri, kept)
        kept.fleet._servers["a"].current.watching.drop("note://first", kept)
        await settled()
        await kept.call("a", "speak", {}, somebody)
        assert len(script.called("subscriptions/listen")) == 4, "the lists, one, both, and one again"
    assert [each["data"] for each in somebody.logged] == ["said"]
