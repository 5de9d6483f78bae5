"""What a server sends of its own accord reaches the call that it belongs to, or nobody."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
import pytest

from mcpguard.domain.asks import QuestionDeclined
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.reasons import Reason
from mcpguard.upstreams.exchange.conversation import DENIED, METHOD_NOT_FOUND, Origin, RefusedRequest
from mcpguard.upstreams.protocol.calls_in_flight import CallSlots, InFlight
from mcpguard.upstreams.protocol.switchboard import Switchboard
from tests.simulators.asked import Asked
from tests.simulators.hostile import on, reverse_requests
from tests.simulators.script import Script
from tests.simulators.words import Json, notification
from tests.upstreams.flock import Flock, Somebody, flock, settled

pytestmark = pytest.mark.anyio


class Noted:
    """A switchboard, and how often it was told that lists have changed."""

    def __init__(self) -> None:
        self.changes = 0
        self.kinds = frozenset[CapabilityKind]()
        self.board = Switchboard("a", CallSlots(8, 8), self._changed)

    @contextmanager
    def under_way(self, *callers: Somebody) -> Iterator[list[InFlight]]:
        """Calls of theirs."""
        with ExitStack() as stack:
            yield [stack.enter_context(InFlight(caller, 60, self.board.turns, self.board.calls)) for caller in callers]

    def _changed(self, kinds: frozenset[CapabilityKind]) -> None:
        self.changes += 1
        self.kinds = kinds

    def told(self, method: str, params: Json | None = None, origin: Origin | None = None) -> None:
        self.board.take_notification(f"notifications/{method}", params, origin)


async def test_progress_reaches_the_call_whose_token_it_names_and_no_other() -> None:
    noted, first, second = Noted(), Somebody(progress=True), Somebody(progress=True)
    with noted.under_way(first, second) as (a, b):
        noted.told("progress", {"progressToken": a.token, "progress": 1, "odd": [None]}, b)
    assert (first.progressed, second.progressed) == ([{"progress": 1, "odd": [None]}], []), "without our token"


async def test_progress_comes_to_an_end_with_the_call() -> None:
    noted, somebody = Noted(), Somebody(progress=True)
    with noted.under_way(somebody) as (call,):
        pass
    noted.told("progress", {"progressToken": call.token, "progress": 1}, call)
    assert somebody.progressed == []


@pytest.mark.parametrize("token", [None, 1, 0, "", "1", ["x"], {"x": 1}, True, 1.5])
async def test_a_token_that_is_not_ours_names_nobody(token: Any) -> None:  # noqa: ANN401 - JSON
    noted, somebody = Noted(), Somebody(progress=True)
    with noted.under_way(somebody) as (call,):
        noted.told("progress", {"progressToken": token, "progress": 1}, call)
        noted.told("progress", {"progress": 1}, call)
        noted.told("progress", None, call)
    assert somebody.progressed == []


async def test_tokens_cannot_be_guessed_from_each_other() -> None:
    with Noted().under_way(*(Somebody(progress=True) for _ in range(1000))) as calls:
        tokens = [call.token for call in calls]
    assert len({token[:8] for token in tokens}) == len(tokens), "nothing of them counts"
    assert all(len(token) >= 16 for token in tokens)


async def test_a_message_reaches_the_call_on_whose_account_it_came() -> None:
    noted, somebody, other = Noted(), Somebody(), Somebody()
    with noted.under_way(somebody, other) as (call, _):
        noted.told("message", {"level": "info", "data": "said"}, call)
        noted.told("message", {"level": "info", "data": "whose?"}, None)
        noted.told("message", {"level": "info", "data": "whose?"}, "not a call")
    noted.told("message", {"level": "info", "data": "too late"}, call)
    assert somebody.logged == [{"level": "info", "data": "said"}]
    assert other.logged == []


async def test_a_call_of_another_connection_is_nobody_here() -> None:
    noted, other, somebody = Noted(), Noted(), Somebody(progress=True)
    with other.under_way(somebody) as (call,):
        noted.told("message", {"data": "x"}, call)
        noted.told("progress", {"progressToken": call.token}, call)
    assert (somebody.logged, somebody.progressed) == ([], [])


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("tools", {CapabilityKind.TOOL}),
        ("resources", {CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE}),
        ("prompts", {CapabilityKind.PROMPT}),
    ],
)
def test_that_a_list_has_changed_is_noted(word: str, kinds: set[CapabilityKind]) -> None:
    noted = Noted()
    noted.told(f"{word}/list_changed", {"odd": 1})
    assert (noted.changes, {*noted.kinds}) == (1, kinds)


@pytest.mark.parametrize(
    "method", ["roots/list_changed", "list_changed", "resources/updated", "cancelled", "initialized", "unknown", ""]
)
async def test_everything_else_is_dropped(method: str) -> None:
    noted, somebody = Noted(), Somebody(progress=True)
    with noted.under_way(somebody) as (call,):
        noted.told(method, {"progressToken": call.token, "requestId": 1}, call)
    assert (noted.changes, somebody.logged, somebody.progressed) == (0, [], [])


async def test_a_server_may_ask_whether_we_are_there_and_nothing_else() -> None:
    board = Noted().board
    assert await board.answer_request("ping", None, None) == {}
    for method in ("roots/list", "sampling/createMessage", "elicitation/create"):
        with pytest.raises(RefusedRequest) as refused:
            await board.answer_request(method, {}, None)
        assert (refused.value.error["code"], DENIED) == (DENIED, -31010)
    with pytest.raises(RefusedRequest) as refused:
        await board.answer_request("tools/call", {"name": "x"}, None)
    assert refused.value.error["code"] == METHOD_NOT_FOUND


# The same with a server at the other end.


def answers(kept: Flock) -> list[Json]:
    """What the server was answered."""
    return [message for message in kept.wires.scripts["a"].calls if "method" not in message]  # type: ignore[union-attr]


async def test_a_question_in_the_middle_of_a_call_is_refused_and_the_call_goes_on() -> None:
    script = Script("legacy")
    for method in ("sampling/createMessage", "roots/list", "elicitation/create"):
        script.hooks.append(on("tools/call", reverse_requests(1, method, {})))
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        assert await kept.call("a")
        await settled()
        assert [each["error"]["code"] for each in answers(kept)] == [DENIED] * 3


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_flood_of_questions_is_refused_and_other_calls_are_answered(era: str) -> None:
    script = Script(era)
    script.tool("flood", "done")
    script.hooks.append(on("tools/call", reverse_requests(3000, "sampling/createMessage", {}), "flood"))
    async with flock({"a": script}) as kept, anyio.create_task_group() as tasks:
        await kept.ready("a")
        tasks.start_soon(kept.call, "a", "flood")
        for number in range(20):
            assert (await kept.call("a", "echo", {"n": number}))["structuredContent"] == {"n": number}
    assert not [each for each in answers(kept) if "result" in each]


async def test_a_modern_server_whose_question_is_refused_is_not_asked_again() -> None:
    script = Script("modern")
    said = {"resultType": "input_required", "inputRequests": {"who": {"method": "elicitation/create", "params": {}}}}
    script.tool("nosy", {**said, "content": [{"type": "text", "text": "and a result"}]})
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        with pytest.raises(QuestionDeclined) as declined:
            await kept.call("a", "nosy")
        assert declined.value.reason is Reason.UPSTREAM_REQUEST_DENIED
        assert len(script.called("tools/call")) == 1


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_each_of_many_hears_of_the_progress_of_their_own_call(era: str) -> None:
    script = Script(era)

    async def step(asked: Asked) -> str:
        await asked.script.hold()
        await asked.progress(asked.arguments["n"])
        return "done"

    script.tool("step", step)
    crowd = [Somebody(f"agent {number}", progress=number % 2 == 0) for number in range(10)]
    async with flock({"a": script}) as kept, anyio.create_task_group() as tasks:
        await kept.ready("a")
        for number, somebody in enumerate(crowd):
            tasks.start_soon(kept.call, "a", "step", {"n": number}, somebody)
        await script.until(lambda: script.held == len(crowd))
        script.go()
    assert [somebody.progressed for somebody in crowd] == [
        [{"progress": number}] if number % 2 == 0 else [] for number in range(10)
    ]


async def test_progress_for_somebody_elses_call_cannot_be_made_up() -> None:
    """A server that is called by two does not know under which token a client expects to hear of progress."""
    script = Script("legacy")

    async def spy(asked: Asked) -> str:
        for token in ("1", 1, asked.meta["progressToken"][::-1], asked.meta["progressToken"] + "x"):
            await asked.say(notification("notifications/progress", {"progressToken": token, "progress": 1}))
        return "done"

    script.tool("spy", spy)
    victim, caller = Somebody("victim", progress=True), Somebody("caller", progress=True)
    async with flock({"a": script}) as kept, anyio.create_task_group() as tasks:
        await kept.ready("a")
        tasks.start_soon(kept.call, "a", "slow", {}, victim)
        await script.until(lambda: script.held)
        await kept.call("a", "spy", {}, caller)
        script.go()
    assert (victim.progressed, caller.progressed) == ([], [])


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_what_comes_after_the_answer_is_heard_by_nobody(era: str) -> None:
    script = Script(era)
    somebody, next_one = Somebody(progress=True, level="debug"), Somebody(level="debug")
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        await kept.call("a", "echo", {}, somebody)
        token = script.called("tools/call")[0]["params"]["_meta"]["progressToken"]
        late = notification("notifications/progress", {"progressToken": token, "progress": 1})
        await kept.wires.open["a"].say(json.dumps(late).encode())
        await kept.call("a", "echo", {}, next_one)
    assert (somebody.progressed, next_one.progressed) == ([], [])


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_messages_are_heard_only_where_it_is_known_whose_they_are(era: str) -> None:
    """That a modern server tells of changes all the time is no reason to doubt whose they are."""
    script = Script(era)

    async def speak(asked: Asked) -> str:
        await asked.log("info", asked.name)
        return "done"

    script.tool("one", speak)
    script.tool("two", speak)
    alone, first, second = (Somebody(level="debug") for _ in range(3))
    async with flock({"a": script}) as kept, anyio.create_task_group() as tasks:
        await kept.ready("a")
        await kept.call("a", "one", {}, alone)
        tasks.start_soon(kept.call, "a", "slow", {}, first)
        await script.until(lambda: script.held)
        await kept.call("a", "two", {}, second)
        script.go()
    assert [each["data"] for each in alone.logged] == ["one"]
    assert (first.logged, second.logged) == ([], []), "two were under way"
