"""Callers in the console: a token is shown once, nothing widens by itself, and a revoked one is worth nothing."""

import html
import json
import re
from pathlib import Path

import httpx2
import pytest

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.domain.people import Role
from mcpguard.guard.callers.grants import CallerRequest
from tests.gateway.speaking import guarded
from tests.people import BY, PASSWORD
from tests.simulators.script import Script
from tests.web.pages.console import OLD, Browser, browser, nothing_happens, records
from tests.web.pages.reading import alert, heading, hidden, text, told
from tests.world import World, world

pytestmark = pytest.mark.anyio
FILLED: dict[str, str | list[str]] = {
    "name": "desk",
    "servers": "*",
    "tools": "*",
    "effects": "read",
    "expires": "never",
}


async def add(at: Browser, **more: str | list[str]) -> httpx2.Response:
    return await at.sent("/callers/add", "/callers/add", **FILLED | more)


def token(answer: httpx2.Response) -> str:
    found = re.search(r'id="token"[^>]*>(mcpg_[\w-]+)<', answer.text)
    assert found is not None, answer.text
    return found[1]


async def test_a_caller_is_let_in_and_its_token_shown_once_with_what_to_paste(guard: World) -> None:
    at = await browser(guard)
    answer = await add(
        at,
        servers="github\r\npostgres-*\r\n\r\n github ",
        tools="tool:get_*",
        effects=["read", "write"],
        expires="86400",
        must_declare="yes",
        manage="yes",
        why="the nightly report",
    )
    assert (answer.status_code, heading(answer)) == (200, "Token for desk")
    assert answer.headers["cache-control"] == "no-store"
    shown = token(answer)
    caller = guard.now.guard.callers.caller_of_token(shown)
    assert caller is not None
    assert caller.scope == Scope(("github", "postgres-*"), ("tool:get_*",), frozenset({Effect.READ, Effect.WRITE}))
    assert (caller.must_declare, caller.manage) == (True, True)
    (grant,) = guard.now.guard.callers
    assert grant.expires_at == grant.at + 86_400_000_000
    pasted = json.loads(html.unescape(re.search(r'id="http">(.*?)</div>', answer.text, re.DOTALL)[1]))  # type: ignore[index]
    entry = pasted["mcpServers"]["mcpguard"]
    assert entry == {
        "type": "http",
        "url": "http://127.0.0.1:8080/mcp",
        "headers": {"Authorization": f"Bearer {shown}"},
    }
    (record,) = records(guard, "granted")
    assert (record["caller_label"], record["why"], record["via"]) == ("desk", "the nightly report", "console")
    assert shown not in str(guard.said())
    for path in ("/callers", f"/callers/{caller.id}", "/callers/add", "/"):
        assert shown not in (await at.get(path)).text, "it is shown nowhere else"


async def test_a_reload_makes_no_second_one_and_shows_nothing_again(guard: World) -> None:
    at = await browser(guard)
    once = hidden(await at.get("/callers/add"), "once")
    first = await at.post("/callers/add", **FILLED, once=once)
    shown = token(first)
    async with nothing_happens(guard):
        again = await at.post("/callers/add", **FILLED, once=once)
        assert again.status_code == 409
        assert "was already sent" in alert(again)
        assert shown not in again.text
        assert "mcpg_" not in again.text
        caller = guard.now.guard.callers.find_by_label("desk")
        assert caller is not None
    await guard.now.guard.granting.revoke(caller.caller.id, BY)
    async with nothing_happens(guard):
        assert (await at.post("/callers/add", **FILLED, once=once)).status_code == 409, "also when the name is free"
    assert [*guard.now.guard.callers] == []


@pytest.mark.parametrize(
    ("sent", "status", "why"),
    [
        ({"name": ""}, 422, "The name must have 1 to 63"),
        ({"name": "<script>alert(1)</script>"}, 422, "The name must have 1 to 63"),
        ({"name": "anonymous"}, 422, "The name must have 1 to 63"),
        ({"name": "taken"}, 409, "A caller named taken exists already"),
        ({"servers": ""}, 422, "Name at least one of"),
        ({"servers": " \r\n "}, 422, "Name at least one of"),
        ({"tools": "\r\n".join(f"t{number}" for number in range(101))}, 422, "At most"),
        ({"tools": "a\u202eb*\0"}, 422, ""),
        ({"effects": []}, 422, "Name at least one of"),
        ({"effects": "everything"}, 422, "An effect is read, write or destructive"),
        ({"expires": "1"}, 422, "Choose an expiry"),
        ({"expires": ""}, 422, "Choose an expiry"),
        ({"expires": "999999999999"}, 422, "Choose an expiry"),
        ({"why": "x" * 2001}, 422, "The reason is longer"),
        ({"once": ""}, 422, "The form is incomplete"),
    ],
    ids=str,
)
async def test_what_is_no_caller_is_refused_and_nothing_typed_is_lost(
    guard: World, sent: dict[str, str | list[str]], status: int, why: str
) -> None:
    at = await browser(guard)
    await guard.now.guard.granting.add(CallerRequest("taken", Scope(("*",), ("*",), frozenset({Effect.READ}))), BY)
    async with nothing_happens(guard):
        once = hidden(await at.get("/callers/add"), "once")
        answer = await at.post("/callers/add", **{"once": once} | FILLED | {"why": "for the desk"} | sent)
        assert (answer.status_code, heading(answer)) == (status, "Create token")
        assert why in alert(answer)
        assert "mcpg_" not in answer.text
        assert "<script>alert" not in answer.text
        if "why" not in sent:
            assert ">for the desk</textarea>" in answer.text
    assert hidden(answer, "once") != once, "it can be sent again, put right"


async def test_a_form_that_says_something_twice_is_refused(guard: World) -> None:
    at = await browser(guard)
    async with nothing_happens(guard):
        assert (await add(at, name=["desk", "other"])).status_code == 400


async def test_a_password_that_was_given_long_ago_is_asked_for_and_nothing_typed_is_lost(guard: World) -> None:
    at = await browser(guard)
    await guard.clock.advance(OLD)
    page = await at.get("/callers/add")
    assert 'name="password"' in page.text
    async with nothing_happens(guard):
        answer = await add(at, name="desk", why="for the desk")
        assert (answer.status_code, 'value="desk"' in answer.text) == (403, True)
        assert "confirm it with your password" in alert(answer)
        wrong = await add(at, password="wrong")  # noqa: S106
        assert (wrong.status_code, 'value="wrong"' in wrong.text) == (401, False)
    before = at.shown
    answer = await add(at, password=PASSWORD)
    assert token(answer)
    assert at.shown != before, "they are known anew"
    assert guard.now.guard.people.by_session(before) is None


async def test_while_nothing_can_be_recorded_nobody_is_let_in_and_nothing_typed_is_lost(guard: World) -> None:
    at = await browser(guard)
    aside = guard.database.with_name("aside.db")
    guard.database.rename(aside)
    answer = await add(at, why="for the desk")
    assert (answer.status_code, "the audit log cannot be written" in text(answer.text)) == (503, True)
    assert ">for the desk</textarea>" in answer.text
    assert "mcpg_" not in answer.text
    assert [*guard.now.guard.callers] == []
    aside.rename(guard.database)
    await guard.recovered()
    done = await at.post("/callers/add", **FILLED, once=hidden(answer, "once"))
    assert token(done), "the same page can be sent once more"


async def test_an_auditor_sees_them_and_changes_nothing(guard: World) -> None:
    grant, _ = await guard.now.guard.granting.add(CallerRequest("desk", Scope(("*",), ("*",), frozenset(Effect))), BY)
    at = await browser(guard, Role.AUDITOR)
    page = await at.get("/callers")
    assert "desk" in page.text
    assert "/callers/add" not in page.text
    one = await at.get(f"/callers/{grant.caller.id}")
    assert "Only an admin can revoke this token." in one.text
    assert "<form" not in one.text
    async with nothing_happens(guard):
        assert (await at.post(f"/callers/{grant.caller.id}", why="x")).status_code == 403
    assert guard.now.guard.callers.holds(grant.caller)


async def test_it_is_revoked_with_its_reason(guard: World) -> None:
    grant, shown = await guard.now.guard.granting.add(
        CallerRequest("desk", Scope(("*",), ("*",), frozenset(Effect))), BY
    )
    at = await browser(guard)
    await guard.clock.advance(OLD)
    answer = await at.post(f"/callers/{grant.caller.id}", why="the laptop is lost")
    assert answer.headers["location"] == "/callers"
    page = await at.told(answer)
    assert told(page).startswith("Revoked desk.")
    assert "No tokens." in page.text
    assert guard.now.guard.callers.caller_of_token(shown) is None
    (record,) = records(guard, "revoked")
    assert (record["caller_label"], record["why"], record["via"]) == ("desk", "the laptop is lost", "console")
    async with nothing_happens(guard):
        gone = await at.post(f"/callers/{grant.caller.id}", why="again")
        assert (gone.status_code, heading(gone)) == (404, "Not found")


async def test_when_it_was_here_last_is_known_since_the_start(guard: World) -> None:
    _, shown = await guard.now.guard.granting.add(CallerRequest("desk", Scope(("*",), ("*",), frozenset(Effect))), BY)
    at = await browser(guard)
    assert text((await at.get("/callers")).text).count("not yet") == 2
    assert guard.now.guard.callers.caller_of_token(shown + "x") is None
    assert text((await at.get("/callers")).text).count("not yet") == 2, "another's token is none of it"
    await guard.clock.advance(60)
    assert guard.now.guard.callers.caller_of_token(shown) is not None
    await guard.clock.advance(120)
    assert "2 min ago" in text((await at.get("/callers")).text)
    (caller,) = (await guard.operator.get("/api/v1/callers")).json()["callers"]
    assert (guard.clock.now() - caller["used_at"]) // 1_000_000 == 120


async def test_whoever_calls_without_a_token_or_on_a_stream_was_here_too(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        callers = guard.now.guard.callers
        grant, shown = await guard.now.guard.granting.add(
            CallerRequest("desk", Scope(("*",), ("*",), frozenset(Effect))), BY
        )
        assert callers.last_seen(ANONYMOUS) is None
        await guard.client().request("tools/call", {"name": "web::echo", "arguments": {"text": "x"}})
        first = callers.last_seen(ANONYMOUS)
        assert first is not None
        async with guard.stream(token=shown) as client:
            hello = callers.last_seen(grant.caller.id)
            assert hello is not None
            await guard.clock.advance(5)
            await client.request("tools/call", {"name": "web::echo", "arguments": {"text": "x"}})
            called = callers.last_seen(grant.caller.id)
            assert called is not None
            assert called > hello
        assert callers.last_seen(ANONYMOUS) == first
        await guard.now.guard.granting.revoke(grant.caller.id, BY)
        assert callers.last_seen(grant.caller.id) is None


async def test_of_one_whose_time_is_over_that_is_said(guard: World) -> None:
    scope = Scope(("*",), ("*",), frozenset(Effect))
    grant, _ = await guard.now.guard.granting.add(CallerRequest("desk", scope, 60), BY)
    at = await browser(guard)
    await guard.clock.advance(61)
    assert "expired" in text((await at.get("/callers")).text)
    assert "rejected with 401" in text((await at.get(f"/callers/{grant.caller.id}")).text)


async def test_where_everybody_needs_a_token_that_is_said(tmp_path: Path) -> None:
    async with world(tmp_path, anonymous__enabled=False) as guard:
        at = await browser(guard)
        assert "Tokens are required" in text((await at.get("/callers")).text)
