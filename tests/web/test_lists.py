"""Lists in pages: everything once, in one order, whatever comes and goes; and the audit log, record after record."""

import base64
import json
from typing import Any

import pytest
from fastapi import HTTPException
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.cursors import BadCursor, decode_after, encode, encode_after
from mcpguard.domain.people import Role
from mcpguard.web.api.pages import page
from tests import people
from tests.web.rest import API, Json, program
from tests.web.reviewing import add, problem, said
from tests.world import World

pytestmark = pytest.mark.anyio
LISTS = {
    "/servers": "servers",
    "/callers": "callers",
    "/users": "users",
    "/operators": "operators",
    "/sessions": "sessions",
}
FORGED = [
    "",
    "x",
    "====",
    encode(3),
    base64.b64encode(b"{}").decode(),
    base64.b64encode(b'{"after": 1}').decode(),
    base64.b64encode(b'{"after": "a", "more": 1}').decode(),
    base64.b64encode(b'{"after": "a", "after": "b"}').decode(),
    base64.b64encode(b'{"after": ""}').decode(),
    base64.b64encode(b'{"after": "\\ud800"}').decode(),
    "A" * 512,
]


async def pages(guard: World, path: str, headers: dict[str, str], limit: int) -> list[list[Json]]:
    found, cursor = list[list[Json]](), None
    while True:
        query: dict[str, Any] = {"limit": limit} | ({} if cursor is None else {"cursor": cursor})
        answer = said(await guard.network.get(API + path, params=query, headers=headers))
        found.append(answer[LISTS[path]])
        cursor = answer["next"]
        if cursor is None:
            return found


async def full(guard: World) -> dict[str, str]:
    """Five of everything."""
    by = await program(guard, name="ci-0")
    for number in range(5):
        await add(guard, f"server-{number}")
        said(await guard.operator.post(f"{API}/callers", json={"name": f"agent-{number}"}), 201)
    for number in range(1, 5):
        await people.token(guard, Role.VIEWER, f"ci-{number}")
    await people.user(guard)
    for _ in range(5):
        await people.cookie(guard)
    for number in range(4):
        await people.user(guard, f"user-{number}", Role.VIEWER)
    return by


async def test_every_list_is_given_in_pages_and_each_entry_once(guard: World) -> None:
    by = await full(guard)
    for path in LISTS:
        (whole,) = await pages(guard, path, by, 1000)
        assert len(whole) == 5, path
        for limit in (1, 2, 4, 5):
            found = await pages(guard, path, by, limit)
            assert [len(each) for each in found[:-1]] == [limit] * (len(found) - 1)
            assert [one for each in found for one in each] == whole, (path, limit)
        if path != "/sessions":
            assert whole == sorted(whole, key=lambda one: str(one["name"]))


async def test_what_is_no_cursor_is_refused(guard: World) -> None:
    by = await program(guard)
    for path in LISTS:
        for cursor in FORGED:
            problem(await guard.network.get(API + path, params={"cursor": cursor}, headers=by), 400)


async def test_a_forged_cursor_begins_elsewhere_in_what_its_sender_may_read(guard: World) -> None:
    by = await program(guard)
    for number in range(5):
        await add(guard, f"server-{number}")
    query = {"cursor": encode_after("server-2\0'; --")}
    answer = said(await guard.network.get(f"{API}/servers", params=query, headers=by))
    assert [each["name"] for each in answer["servers"]] == ["server-3", "server-4"]


async def test_what_is_too_many_or_too_few_is_refused(guard: World) -> None:
    by = await program(guard)
    for path in (*LISTS, "/records"):
        for limit in (0, -1, 1001, "x", "1.5", ""):
            problem(await guard.network.get(API + path, params={"limit": limit}, headers=by), 422)


@given(st.sets(st.text(max_size=20, alphabet=st.characters(codec="utf-8")).filter(bool)), st.integers(1, 5), st.data())
def test_whatever_comes_and_goes_no_other_entry_is_left_out_or_given_twice(
    names: set[str], limit: int, data: st.DataObject
) -> None:
    stays, found, cursor = {*names}, list[str](), None
    while True:
        some, cursor = page(sorted(names), str, limit, cursor)
        found.extend(some)
        if cursor is None:
            break
        assert len(some) == limit
        gone = data.draw(st.sets(st.sampled_from(sorted(names))))
        names, stays = (names - gone) | data.draw(st.sets(st.text(min_size=1, max_size=20), max_size=3)), stays - gone
    assert found == sorted({*found})
    assert stays <= {*found}


@given(st.text(min_size=1, max_size=60, alphabet=st.characters(codec="utf-8")))
def test_a_cursor_names_what_it_was_made_of(key: str) -> None:
    assert decode_after(encode_after(key)) == key


@given(st.text(max_size=100))
def test_any_other_text_is_no_cursor(text: str) -> None:
    with pytest.raises((BadCursor, HTTPException)):
        page([], str, 1, "x" + text)


# The audit log.


async def records(guard: World, by: dict[str, str], **query: Any) -> Json:  # noqa: ANN401 - of the client
    found: Json = said(await guard.network.get(f"{API}/records", params=query, headers=by))
    return found


async def test_the_log_is_read_record_after_record_and_goes_on_where_it_ended(guard: World) -> None:
    await add(guard)
    by = await program(guard, Role.AUDITOR)
    whole = await records(guard, by, limit=1000)
    assert [each["content"] for each in whole["records"]] == guard.said()
    assert [each["seq"] for each in whole["records"]] == list(range(1, len(guard.said()) + 1))
    assert whole["more"] is False
    found, after = list[Json](), None
    while True:
        some = await records(guard, by, limit=2, **({} if after is None else {"after": after}))
        found.extend(some["records"])
        after = some["next"]
        if not some["more"]:
            break
    assert found == whole["records"]
    assert (await records(guard, by, after=after))["records"] == []
    await guard.call()
    kinds = [each["content"]["kind"] for each in (await records(guard, by, after=after))["records"]]
    assert kinds == ["opened", "closed"]


async def test_what_was_pruned_is_told_as_that(guard: World) -> None:
    by = await program(guard)
    await guard.now.store.writer.submit(
        lambda connection: connection.exec_driver_sql("UPDATE records SET content = NULL WHERE seq = 2").close()
    )
    found = (await records(guard, by))["records"]
    assert (found[1]["seq"], found[1]["pruned"], found[1]["content"]) == (2, True, None)


async def test_what_is_no_cursor_of_the_log_is_refused(guard: World) -> None:
    by = await program(guard)
    for after in ("x", encode_after("x"), "A" * 65, base64.b64encode(b'{"offset": -1}').decode(), ""):
        answer = await guard.network.get(f"{API}/records", params={"after": after}, headers=by)
        assert problem(answer, answer.status_code)["status"] in (400, 422)


async def test_no_secret_of_ours_is_in_what_is_listed(guard: World) -> None:
    """Tokens, passwords and what browsers show are told once, and lie nowhere."""
    by = await program(guard)
    told = said(await guard.network.post(f"{API}/callers", json={"name": "agent"}, headers=by), 201)["token"]
    await people.user(guard, password=people.PASSWORD)
    shown = await people.cookie(guard)
    for path in (*LISTS, "/records", "/status", "/settings/unconfirmed"):
        text = json.dumps((await guard.network.get(API + path, headers=by)).json())
        for secret in (told, by["authorization"].split()[1], people.PASSWORD, shown):
            assert secret not in text, path
