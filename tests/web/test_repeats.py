"""What comes again under one key is done once, for a day, and for whoever sent it."""

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.people import Principal, Role
from mcpguard.web.api import repeats
from mcpguard.web.api.repeats import InProgress, KeyReused, KeyUnreadable, Repeats, TooManyAtOnce
from tests.clock import FakeClock
from tests.gateway.speaking import guarded
from tests.simulators.script import Script
from tests.web.desk import desk, granted
from tests.web.rest import API, program
from tests.web.reviewing import HONEST, problem, said
from tests.world import World

pytestmark = pytest.mark.anyio
ADDED = {"name": "notes", "config": HONEST}
KEY = {"idempotency-key": "k-1"}


async def added(guard: World, headers: dict[str, str], body: object = ADDED) -> httpx2.Response:
    return await guard.network.post(f"{API}/servers", json=body, headers=headers)


async def test_the_same_request_gets_the_same_answer_and_is_done_once(guard: World) -> None:
    by = await program(guard) | KEY
    first = await added(guard, by)
    again = await added(guard, by)
    assert (said(again, 201), again.headers["location"], again.headers["etag"]) == (
        said(first, 201),
        first.headers["location"],
        first.headers["etag"],
    )
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    problem(await added(guard, by | {"idempotency-key": "k-2"}), 409)
    assert sum(record["kind"] == "admitted" for record in guard.said()) == 1


async def test_another_request_under_the_same_key_is_refused(guard: World) -> None:
    by = await program(guard) | KEY
    said(await added(guard, by), 201)
    told = problem(await added(guard, by, ADDED | {"name": "more"}), 422)
    assert told["type"] == "urn:mcpguard:key-reused"
    problem(await guard.network.post(f"{API}/servers?x=1", json=ADDED, headers=by), 422)
    problem(await guard.network.post(f"{API}/callers", json=ADDED | {"name": "x"}, headers=by), 422)
    assert [known.name for known in guard.now.guard.servers.every()] == ["notes"]


async def test_a_key_is_its_senders_alone(guard: World) -> None:
    """Somebody else's key neither tells what was answered nor stands in the way."""
    one, other = await program(guard), await program(guard, name="other")
    first = said(await guard.network.post(f"{API}/callers", json={"name": "a"}, headers=one | KEY), 201)
    second = await guard.network.post(f"{API}/callers", json={"name": "b"}, headers=other | KEY)
    assert said(second, 201)["name"] == "b"
    assert first["token"] not in second.text
    viewer = await program(guard, Role.VIEWER, "viewer")
    problem(await guard.network.post(f"{API}/callers", json={"name": "a"}, headers=viewer | KEY), 403)


async def test_after_a_day_the_key_is_free() -> None:
    clock = FakeClock()
    kept = Repeats(clock)
    await kept.once(principal(), request("a"), answered)
    await clock.advance(86_399)
    assert "idempotency-replayed" in (await kept.once(principal(), request("a"), answered)).headers
    await clock.advance(2)
    assert "idempotency-replayed" not in (await kept.once(principal(), request("a"), answered)).headers


async def test_what_was_refused_may_be_tried_again_under_its_key(guard: World) -> None:
    by = await program(guard) | KEY
    problem(await added(guard, by, {"name": "notes"}), 422)
    problem(
        await guard.network.post(f"{API}/servers", content=b"{", headers=by | {"content-type": "application/json"}), 400
    )
    problem(await added(guard, by, {"name": "notes", "config": {}}), 422)
    said(await added(guard, by), 201)


async def test_an_answer_with_a_token_in_it_is_not_kept_and_is_not_given_twice(guard: World) -> None:
    by = await program(guard)
    for number, (path, body) in enumerate(
        [("/callers", {"name": "agent"}), ("/operators", {"name": "more", "role": "viewer"})]
    ):
        headers = by | {"idempotency-key": f"k-{number}"}
        first = said(await guard.network.post(API + path, json=body, headers=headers), 201)
        told = problem(await guard.network.post(API + path, json=body, headers=headers), 409)
        assert told["type"] == "urn:mcpguard:answer-gone"
        assert first["token"] not in str(told)
        kept = repr(guard.network._transport.app.__dict__)  # type: ignore[attr-defined]
        assert first["token"] not in kept
    assert len(guard.now.guard.granting.every()) == 1


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "a\tb", "é"])
async def test_what_is_no_key_is_refused(guard: World, key: str) -> None:
    by = list((await program(guard)).items())
    headers = [*((name.encode(), value.encode()) for name, value in by), (b"idempotency-key", key.encode("latin-1"))]
    answer = await guard.network.post(f"{API}/servers", json=ADDED, headers=headers)
    if key == " ":
        assert answer.status_code in (201, 400)
        return
    problem(answer, 400)
    assert [*guard.now.guard.servers.every()] == []


async def test_two_keys_are_none(guard: World) -> None:
    by = [*(await program(guard)).items(), ("idempotency-key", "a"), ("idempotency-key", "b")]
    problem(await guard.network.post(f"{API}/servers", json=ADDED, headers=by), 400)


async def test_a_call_that_comes_again_is_not_made_again(tmp_path: Path) -> None:
    """Nor while the first is in progress."""
    script = Script()
    async with guarded(tmp_path, script) as guard, anyio.create_task_group() as tasks:
        await granted(guard)
        at, answers = await desk(guard), list[Any]()
        body = {"caller": "agent", "name": "web:slow", "arguments": {}}

        async def slowly() -> None:
            answers.append(said(await at.post("/call", body, **KEY)))

        tasks.start_soon(slowly)
        await script.until(lambda: script.held == 1)
        told = problem(await at.post("/call", body, **KEY), 409)
        assert told["type"] == "urn:mcpguard:in-progress"
        problem(await at.post("/call", body | {"name": "web:echo"}, **KEY), 422)
        script.go()
        while not answers:
            await anyio.lowlevel.checkpoint()
        assert said(await at.post("/call", body, **KEY)) == answers[0]
        assert len(guard.entries()) == 1


async def test_the_operators_socket_knows_no_keys(guard: World) -> None:
    for status in (201, 409):
        assert (await guard.operator.post(f"{API}/servers", json=ADDED, headers=KEY)).status_code == status


# What is kept, and how much.


def principal(name: str = "ci") -> Principal:
    return Principal(name, name, Role.ADMIN, "token")


def request(key: str, body: bytes = b"{}") -> Request:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"idempotency-key", key.encode()), (b"host", b"guard")]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": headers}
    return Request(scope, receive)


async def answered(response: Response | None = None) -> Response:
    return response or JSONResponse({"done": True})


async def test_what_ended_in_a_failure_is_not_done_again(guard: World) -> None:
    kept = Repeats(guard.clock)

    async def fails() -> Response:
        raise RuntimeError("of ours")

    async def refuses() -> Response:
        raise LedgerUnavailable("nothing was done")

    with pytest.raises(RuntimeError):
        await kept.once(principal(), request("a"), fails)
    with pytest.raises(repeats.AnswerGone, match="may have been done"):
        await kept.once(principal(), request("a"), answered)
    with pytest.raises(LedgerUnavailable):
        await kept.once(principal(), request("b"), refuses)
    assert (await kept.once(principal(), request("b"), answered)).status_code == 200


async def test_what_is_cut_off_is_not_done_again(guard: World) -> None:
    kept = Repeats(guard.clock)

    async def hangs() -> Response:
        await anyio.sleep_forever()
        raise AssertionError

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(kept.once, principal(), request("a"), hangs)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(InProgress):
                await kept.once(principal(), request("a"), answered)
            scope.cancel()
    with pytest.raises(repeats.AnswerGone):
        await kept.once(principal(), request("a"), answered)


async def test_one_principal_crowds_out_nobody_and_nothing_in_progress_is_forgotten(guard: World) -> None:
    kept = Repeats(guard.clock)
    await kept.once(principal("other"), request("mine"), answered)
    async with anyio.create_task_group() as tasks:

        async def hangs() -> Response:
            await anyio.sleep_forever()
            raise AssertionError

        tasks.start_soon(kept.once, principal(), request("open"), hangs)
        await anyio.wait_all_tasks_blocked()
        for number in range(2 * repeats.MOST_OF_ONE):
            await kept.once(principal(), request(f"k-{number}"), answered)
        with pytest.raises(InProgress):
            await kept.once(principal(), request("open"), answered)
        assert len(kept._of["token", "ci"]) == repeats.MOST_OF_ONE
        newest = await kept.once(principal(), request(f"k-{2 * repeats.MOST_OF_ONE - 1}"), answered)
        assert newest.headers["idempotency-replayed"] == "true"
        oldest = await kept.once(principal(), request("k-0"), answered)
        assert "idempotency-replayed" not in oldest.headers
        tasks.cancel_scope.cancel()
    assert (await kept.once(principal("other"), request("mine"), answered)).headers["idempotency-replayed"] == "true"


async def test_so_many_at_once_and_no_more(guard: World) -> None:
    kept = Repeats(guard.clock)

    async def hangs() -> Response:
        await anyio.sleep_forever()
        raise AssertionError

    async with anyio.create_task_group() as tasks:
        for number in range(repeats.MOST_OF_ONE):
            tasks.start_soon(kept.once, principal(), request(f"k-{number}"), hangs)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(TooManyAtOnce):
            await kept.once(principal(), request("more"), answered)
        assert (await kept.once(principal("other"), request("more"), answered)).status_code == 200
        tasks.cancel_scope.cancel()


async def test_what_is_kept_has_a_size_in_all(guard: World) -> None:
    kept, long = Repeats(guard.clock), JSONResponse("x" * (repeats.LARGEST - 2))
    for number in range(50):
        await kept.once(principal(str(number)), request("k"), lambda: answered(long))
        await guard.clock.advance(1)
    assert sum(one.size for mine in kept._of.values() for one in mine.values()) <= repeats.MOST_BYTES + repeats.LARGEST
    longer = JSONResponse("x" * repeats.LARGEST)
    await kept.once(principal("x"), request("longer"), lambda: answered(longer))
    with pytest.raises(repeats.AnswerGone):
        await kept.once(principal("x"), request("longer"), answered)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from([b"1", b"2"])), max_size=30))
async def test_however_requests_come_each_is_done_once(comes: list[tuple[str, str, bytes]]) -> None:
    """Of all requests of one principal under one key exactly the first is done, and the same ones get its answer."""
    kept, done, first = Repeats(FakeClock()), list[tuple[str, str, bytes]](), dict[tuple[str, str], bytes]()
    for who, key, body in comes:

        async def work(case: tuple[str, str, bytes] = (who, key, body)) -> Response:
            done.append(case)
            return JSONResponse(list(map(str, case)))

        same = first.setdefault((who, key), body) == body
        if not same:
            with pytest.raises(KeyReused):
                await kept.once(principal(who), request(key, body), work)
        else:
            answer = await kept.once(principal(who), request(key, body), work)
            assert bytes(answer.body) == JSONResponse([who, key, str(body)]).body
    assert len(done) == len({(who, key) for who, key, _ in comes})


async def test_no_key_is_no_matter(guard: World) -> None:
    bare = request("x")
    bare.scope["headers"] = []
    kept = Repeats(guard.clock)
    for _ in range(2):
        assert "idempotency-replayed" not in (await kept.once(principal(), Request(bare.scope), answered)).headers
    assert kept._of == {}
    with pytest.raises(KeyUnreadable):
        await kept.once(principal(), request("\x7f"), answered)
