"""A decision over the network names what it rests on, and rests on nothing else."""

from functools import partial

import anyio
import pytest

from mcpguard.domain.people import Role
from tests import people
from tests.web.rest import API, Json, browser, program, seen
from tests.web.reviewing import DECIDED, HONEST, WHY, add, inspected, problem, said, show
from tests.web.reviewing import seen as looked
from tests.world import World

pytestmark = pytest.mark.anyio
NOTES = f"{API}/servers/notes"
WHY_ONLY = {"why": WHY}


async def decided(guard: World) -> int:
    return sum(record["kind"] == "decided" for record in guard.said())


async def test_what_is_shown_has_a_tag_and_a_decision_rests_on_it(guard: World) -> None:
    await add(guard)
    by = await program(guard, Role.APPROVER)
    problem(await guard.network.post(f"{NOTES}/block", json=WHY_ONLY, headers=by), 428)
    assert (await show(guard))["standing"] == "quarantined"
    headers = await seen(guard, "/servers/notes", by)
    blocked = await guard.network.post(f"{NOTES}/block", json=WHY_ONLY, headers=headers)
    assert said(blocked)["standing"] == "blocked"
    assert blocked.headers["etag"] != headers["if-match"]
    assert blocked.headers["etag"] == (await seen(guard, "/servers/notes", by))["if-match"]
    told = problem(await guard.network.post(f"{NOTES}/quarantine", json=WHY_ONLY, headers=headers), 412)
    assert told["type"] == "urn:mcpguard:moved"
    assert (await show(guard))["standing"] == "blocked"
    assert await decided(guard) == 1, "and nothing happened"


@pytest.mark.parametrize("given", ["*", "", '"', "x", '"x", "y"', '"x"y', "W/*", '"\\x"', '"' + "x" * 201 + '"'])
async def test_what_names_nothing_that_was_seen_is_refused(guard: World, given: str) -> None:
    await add(guard)
    by = await program(guard) | {"if-match": given}
    answer = await guard.network.post(f"{NOTES}/block", json=WHY_ONLY, headers=by)
    assert problem(answer, answer.status_code)["status"] in ((412,) if given == '"\\x"' else (428,))
    assert (await show(guard))["standing"] == "quarantined"
    assert await decided(guard) == 0


async def test_a_weak_tag_and_one_of_something_else_are_not_the_tag(guard: World) -> None:
    server = await inspected(guard)
    by = await program(guard)
    (other,) = (each["name"] for each in server["capabilities"][:1])
    kind = server["capabilities"][0]["kind"]
    for headers in (
        by | {"if-match": "W/" + (await seen(guard, "/servers/notes", by))["if-match"]},
        await seen(guard, "/servers/notes/capability", by, kind=kind, name=other),
    ):
        problem(await guard.network.post(f"{NOTES}/block", json=WHY_ONLY, headers=headers), 412)
    whole = await seen(guard, "/servers/notes", by)
    body = WHY_ONLY | {"kind": kind, "name": other}
    problem(await guard.network.post(f"{NOTES}/capability/block", json=body, headers=whole), 412)
    twice = [*whole.items(), ("if-match", whole["if-match"])]
    problem(await guard.network.post(f"{NOTES}/block", json=WHY_ONLY, headers=twice), 428)
    assert await decided(guard) == 0


async def test_the_tag_is_another_as_soon_as_there_is_anything_else_to_decide(guard: World) -> None:
    await add(guard)
    by, tags = await program(guard), list[str]()

    async def tag() -> None:
        tags.append((await seen(guard, "/servers/notes", by))["if-match"])

    await tag()
    said(await guard.operator.patch(NOTES, json={"revision": 1, "patch": {"timeout": 7}}))
    await tag()
    said(await guard.operator.post(f"{NOTES}/inspect", json={"why": WHY, "consent": True}))
    await tag()
    said(await guard.operator.post(f"{NOTES}/approve", json={"why": WHY, "seen": looked(await show(guard))}))
    await tag()
    said(await guard.operator.post(f"{NOTES}/disable", json=WHY_ONLY))
    await tag()
    assert len({*tags}) == len(tags)
    assert tags[-1] == (await seen(guard, "/servers/notes", by))["if-match"], "looking moves nothing"


async def test_a_whole_review_over_the_network(guard: World) -> None:
    """By an approver who has signed in: add, inspect, look, approve; each with the tag of what was seen."""
    by = await browser(guard, Role.APPROVER)
    added = await guard.network.post(f"{API}/servers", json={"name": "notes", "config": HONEST}, headers=by)
    said(added, 201)
    assert added.headers["location"] == NOTES
    by |= {"if-match": added.headers["etag"]}
    said(await guard.network.post(f"{NOTES}/inspect", json={"why": WHY, "consent": True}, headers=by))
    stale: Json = {"why": WHY, "seen": looked(await show(guard))}
    problem(await guard.network.post(f"{NOTES}/approve", json=stale, headers=by), 412)
    by = await seen(guard, "/servers/notes", by)
    problem(
        await guard.network.post(
            f"{NOTES}/approve", json=stale | {"seen": stale["seen"] | {"capabilities": {}}}, headers=by
        ),
        409,
    )
    done = said(await guard.network.post(f"{NOTES}/approve", json=stale, headers=by))
    assert done["approved"]
    record = next(record for record in guard.said() if record["kind"] == "decided")
    (ada,) = guard.now.guard.people.users()
    assert (record["by"], record["via"]) == (f"user:{ada.id} (ada)", "api")


async def test_who_signed_in_too_long_ago_tightens_and_gives_the_password_again_to_widen(guard: World) -> None:
    by = await browser(guard, Role.ADMIN)
    server = await inspected(guard)
    await guard.clock.advance(901)
    by = await seen(guard, "/servers/notes", by)
    body = {"why": WHY, "seen": looked(server)}
    told = problem(await guard.network.post(f"{NOTES}/approve", json=body, headers=by), 403)
    assert told["type"] == "urn:mcpguard:password-needed"
    problem(await guard.network.post(f"{API}/callers", json={"name": "agent"}, headers=by), 403)
    problem(await guard.network.post(f"{API}/operators", json={"name": "x", "role": "viewer"}, headers=by), 403)
    assert {key: (await show(guard))[key] for key in DECIDED} == {key: server[key] for key in DECIDED}
    assert await decided(guard) == 0
    assert guard.now.guard.granting.callers_json() == []
    shown = await people.cookie(guard, before=by["cookie"].partition("=")[2])
    fresh = by | people.shows(shown)
    said(await guard.network.post(f"{NOTES}/approve", json=body, headers=fresh))
    by = await seen(guard, "/servers/notes", {**people.OURS, **people.shows(shown)})
    said(await guard.network.post(f"{NOTES}/block", json=WHY_ONLY, headers=by))


async def test_of_two_decisions_that_rest_on_the_same_one_is_taken(guard: World) -> None:
    """Both were compared when they came; the one whose turn is later is compared once more."""
    await add(guard)
    by = await seen(guard, "/servers/notes", await program(guard))
    known = next(iter(guard.now.guard.servers.every()))
    statuses = list[int]()

    async def post(answer: str) -> None:
        statuses.append((await guard.network.post(f"{NOTES}/{answer}", json=WHY_ONLY, headers=by)).status_code)

    async with known.lock, anyio.create_task_group() as tasks:
        for answer in ("block", "disable"):
            tasks.start_soon(post, answer)
        await anyio.wait_all_tasks_blocked()
        assert statuses == []
        known.lock.release()
        await anyio.wait_all_tasks_blocked()
        await guard.settle()
        await known.lock.acquire()
    assert sorted(statuses) == [200, 412]
    assert await decided(guard) == 1


@pytest.mark.parametrize("how", ["revoke", "expire"])
async def test_who_is_revoked_while_a_decision_waits_for_its_turn_decides_nothing(guard: World, how: str) -> None:
    await add(guard)
    shown = await people.token(guard, seconds=60)
    by = await seen(guard, "/servers/notes", people.bears(shown))
    (token,) = guard.now.guard.people.tokens()
    known = next(iter(guard.now.guard.servers.every()))
    answers = list[int]()

    async def post(path: str, body: dict[str, object]) -> None:
        answers.append((await guard.network.post(path, json=body, headers=by)).status_code)

    async with known.lock, anyio.create_task_group() as tasks:
        tasks.start_soon(partial(post, f"{NOTES}/block", {"why": WHY}))
        await anyio.wait_all_tasks_blocked()
        if how == "revoke":
            await guard.now.guard.operators.revoke(token.id, people.BY)
        else:
            await guard.clock.advance(61)
        known.lock.release()
        await anyio.wait_all_tasks_blocked()
        await guard.settle()
        await known.lock.acquire()
    assert answers == [403]
    assert (await show(guard))["standing"] == "quarantined"
    assert await decided(guard) == 0
    assert (await guard.network.get(NOTES, headers=by)).status_code == 401


async def test_the_operators_socket_may_do_without_and_is_held_to_what_it_names(guard: World) -> None:
    await add(guard)
    problem(await guard.operator.post(f"{NOTES}/block", json=WHY_ONLY, headers={"if-match": '"x"'}), 412)
    problem(await guard.operator.post(f"{NOTES}/block", json=WHY_ONLY, headers={"if-match": "*"}), 428)
    said(await guard.operator.post(f"{NOTES}/block", json=WHY_ONLY))
    assert await decided(guard) == 1


async def test_an_entry_is_changed_and_removed_by_its_tag_and_its_revision(guard: World) -> None:
    await add(guard)
    by = await program(guard)
    body = {"revision": 1, "patch": {"timeout": 7}}
    problem(await guard.network.patch(NOTES, json=body, headers=by), 428)
    problem(await guard.network.delete(NOTES, params={"revision": 1}, headers=by), 428)
    headers = await seen(guard, "/servers/notes", by)
    said(await guard.network.patch(NOTES, json=body, headers=headers))
    problem(await guard.network.patch(NOTES, json=body | {"revision": 2}, headers=headers), 412)
    headers = await seen(guard, "/servers/notes", by)
    problem(await guard.network.patch(NOTES, json=body, headers=headers), 409)
    problem(await guard.network.delete(NOTES, params={"revision": 1}, headers=headers), 409)
    gone = await guard.network.delete(NOTES, params={"revision": 2}, headers=headers)
    assert (gone.status_code, gone.content) == (204, b"")
    told = problem(await guard.network.get(NOTES, headers=by), 404)
    assert "notes" not in str(told), "what was asked for is not repeated"
