"""Settings in the console: what is in force and what waits, confirming exactly what was shown, looks, the key."""

import html
from pathlib import Path

import pytest

from mcpguard.domain.people import Role
from mcpguard.settings.fields import leaves
from mcpguard.settings.model import Settings
from tests.people import PASSWORD
from tests.web.pages.console import OLD, browser, nothing_happens, records
from tests.web.pages.reading import alert, heading, hidden, text, told
from tests.world import World, world

pytestmark = pytest.mark.anyio
HOSTILE = "<script>alert(1)</script>"


async def test_every_setting_stands_there_with_what_it_means(guard: World) -> None:
    page = await (await browser(guard, Role.VIEWER)).get("/settings")
    assert heading(page) == "Settings"
    for key, leaf in leaves(Settings).items():
        assert f'id="s-{key}"' in page.text
        assert (leaf.field.description or "").split("`")[0] in html.unescape(page.text)


async def test_where_the_guards_files_are_is_for_admins(guard: World) -> None:
    folder = str(guard.now.settings.data_dir)
    for role, shown in ((Role.VIEWER, False), (Role.APPROVER, False), (Role.ADMIN, True)):
        page = await (await browser(guard, role, f"somebody-{role}")).get("/settings")
        assert (folder in page.text) == shown, role


async def test_of_a_secret_only_whether_it_is_set_is_shown(tmp_path: Path) -> None:
    async with world(tmp_path, anonymous__servers=["only-*"]) as guard:
        page = await (await browser(guard)).get("/settings")
        row = page.text.partition('id="s-store.url"')[2].partition("</tr>")[0]
        assert text(row).endswith("not set")
        assert "<b><code" in page.text.partition('id="s-anonymous.servers"')[2].partition("</tr>")[0], "set, so bold"


async def test_what_waits_is_confirmed_as_it_was_shown(tmp_path: Path) -> None:
    async with world(tmp_path):
        pass
    async with world(tmp_path, hosts=["guard.example"], holds__calls=[]) as guard:
        at = await browser(guard)
        page = await at.get("/settings")
        assert "1 setting to confirm" in text(page.text)
        assert "guard.example" in page.text
        answer = await at.post("/settings/confirm", seen=hidden(page, "seen"))
        said = told(await at.told(answer))
        assert said == "Confirmed hosts. Takes effect after a restart."
        (record,) = [each for each in records(guard, "configured") if each["what"] == "confirmed"]
        assert (record["via"], record["keys"]) == ("console", "hosts")
        assert record["by"].endswith("(ada)")
        assert "to confirm" not in text((await at.get("/settings")).text).partition("Settings")[0]
    async with world(tmp_path, hosts=["guard.example"]) as guard:
        assert guard.now.guard.settings.hosts == ("guard.example",)


@pytest.mark.parametrize(
    ("seen", "status", "why"),
    [
        ('{"hosts":["evil.example"]}', 409, "hosts"),
        ("{}", 409, "hosts"),
        ('{"hosts":["guard.example"],"holds.calls":[]}', 409, "holds.calls"),
        ("", 422, "is incomplete"),
        ("[]", 422, "is incomplete"),
        ('{"hosts":1,"hosts":["guard.example"]}', 422, "is incomplete"),
    ],
    ids=str,
)
async def test_what_was_not_shown_is_not_confirmed(tmp_path: Path, seen: str, status: int, why: str) -> None:
    async with world(tmp_path):
        pass
    async with world(tmp_path, hosts=["guard.example"]) as guard:
        at = await browser(guard)
        async with nothing_happens(guard):
            answer = await at.post("/settings/confirm", seen=seen)
            assert answer.status_code == status
            assert why in text(answer.text.partition('role="alert"')[2])
        assert guard.now.guard.confirming.unconfirmed == ("hosts",)


async def test_confirming_needs_the_password_and_the_right(tmp_path: Path) -> None:
    async with world(tmp_path):
        pass
    async with world(tmp_path, hosts=["guard.example"]) as guard:
        at = await browser(guard)
        approver = await browser(guard, Role.APPROVER, "bob")
        await guard.clock.advance(OLD)
        page = await at.get("/settings")
        assert 'id="password-confirm"' in page.text
        assert "Only an admin can confirm them." in (await approver.get("/settings")).text
        async with nothing_happens(guard):
            answer = await at.post("/settings/confirm", seen=hidden(page, "seen"))
            assert (answer.status_code, "confirm it with your password" in alert(answer)) == (403, True)
            assert (await approver.post("/settings/confirm", seen=hidden(page, "seen"))).status_code == 403
        assert guard.now.guard.confirming.unconfirmed == ("hosts",)
        done = await at.post("/settings/confirm", seen=hidden(page, "seen"), password=PASSWORD)
        assert done.status_code == 303
        assert list(guard.now.guard.confirming.waiting) == []


async def test_looks_are_kept_in_the_browser_and_nothing_else_of_them_is(guard: World) -> None:
    at = await browser(guard, Role.VIEWER)
    async with nothing_happens(guard):
        answer = await at.post("/settings/looks", theme="dark", space="roomy")
        assert answer.headers["location"] == "/settings"
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("mcpguard_looks=dark.roomy.nokeys;")
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
    headers = {"cookie": f"mcpguard_session={at.shown}; mcpguard_looks=dark.roomy.nokeys"}
    page = await guard.network.get("/settings", headers=headers)
    assert '<html lang="en" data-theme="dark" data-density="roomy">' in page.text
    assert 'data-keys="off"' in page.text
    assert 'value="dark" checked' in page.text
    plain = await at.post("/settings/looks", theme=HOSTILE, space=HOSTILE, keys="on")
    assert HOSTILE not in plain.headers["set-cookie"]
    assert 'mcpguard_looks="";' in plain.headers["set-cookie"]


async def test_the_key_is_shown_to_everybody_and_rotated_by_admins(guard: World) -> None:
    at, viewer = await browser(guard), await browser(guard, Role.VIEWER, "bob")
    key = guard.now.guard.depth().key
    assert key in html.unescape((await viewer.get("/settings")).text)
    assert "Rotate key" not in (await viewer.get("/settings")).text
    async with nothing_happens(guard):
        assert (await viewer.post("/settings/key", why="x")).status_code == 403
    answer = await at.post("/settings/key", why="the machine is old")
    page = await at.told(answer)
    assert told(page).startswith("Rotated the audit signing key.")
    assert guard.now.guard.depth().key != key
    assert key not in html.unescape(page.text)
    (record,) = records(guard, "rotated")
    assert (record["why"], record["via"], record["previous"]) == ("the machine is old", "console", key)
    assert guard.verified().whole


async def test_who_may_what_leads_there(guard: World) -> None:
    for role, paths in (
        (Role.VIEWER, {"/settings", "/settings/me"}),
        (Role.ADMIN, {"/settings", "/settings/users", "/settings/sessions", "/settings/tokens", "/settings/me"}),
    ):
        page = await (await browser(guard, role, f"somebody-{role}")).get("/settings")
        nav = page.text.partition('aria-label="Settings"')[2].partition("</nav>")[0]
        assert {each.partition('"')[0] for each in nav.split('href="')[1:]} == paths
