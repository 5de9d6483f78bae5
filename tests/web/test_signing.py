"""The pages by which people sign in and out, and the link of the first start, over HTTP."""

import html
import re
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.people import Role, SetupOver
from mcpguard.guard.people.first_user import SECONDS
from mcpguard.web.gate.cookies import NAME
from tests.people import BY, NARROW, OURS, PASSWORD, cookie, shows, user
from tests.web.raw import app_of, ask
from tests.world import World, files, world

pytestmark = pytest.mark.anyio
START = Decision(Actor.with_full_rights("start", "start"), "")
WRONG = "seven brown cows"
FILLED = {"name": "ada", "password": PASSWORD, "again": PASSWORD}


def records(guard: World, *kinds: str) -> list[dict[str, Any]]:
    wanted = kinds or ("person", "signed_in", "signed_out", "sign_in_refused")
    return [record for record in guard.said() if record["kind"] in wanted]


async def key_of(guard: World) -> str:
    return await guard.now.guard.setting_up.offer(START)


async def post(guard: World, path: str, shown: str = "", **sent: str) -> httpx2.Response:
    guard.network.cookies.clear()
    return await guard.network.post(path, data=sent, headers=OURS | (shows(shown) if shown else {}))


async def get(guard: World, path: str, shown: str = "") -> httpx2.Response:
    guard.network.cookies.clear()
    return await guard.network.get(path, headers=shows(shown) if shown else {})


async def set_up(guard: World) -> str:
    """What the first admin's browser shows."""
    return shown_by(await post(guard, "/setup", key=await key_of(guard), **FILLED))


def shown_by(answer: httpx2.Response) -> str:
    """What a browser shows after this answer, which signs somebody in."""
    assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.text
    (said,) = answer.headers.get_list("set-cookie")
    name, _, rest = said.partition("=")
    value, *marks = rest.split("; ")
    assert name == NAME
    assert {mark.lower() for mark in marks} == {"httponly", "path=/", "samesite=strict"}
    assert len(value) == 43, "256 bits"
    return value


def alert(answer: httpx2.Response) -> str:
    """What the page says is wrong."""
    found = re.search(r'role="alert" id="problem">.*?<span>([^<]*)</span>', answer.text)
    assert found is not None, answer.text
    return html.unescape(found[1])


async def who(guard: World, shown: str) -> str:
    """Who the first page says is signed in; whoever is not is sent to sign in."""
    answer = await get(guard, "/", shown)
    if answer.status_code == 303:
        assert answer.headers["location"] == "/login"
        return "Sign in"
    found = re.search(r"<p><b>([^<]*)</b>(\w+)<br><a ", answer.text)
    assert found is not None, answer.text
    return f"{found[1]} ({found[2].lower()})"


async def test_the_link_of_the_first_start_makes_an_admin_who_is_signed_in(guard: World) -> None:
    key = await key_of(guard)
    form = await get(guard, f"/setup?key={key}")
    assert (form.status_code, form.headers["cache-control"]) == (200, "no-store")
    assert f'value="{key}"' in form.text
    shown = shown_by(await post(guard, "/setup", key=key, **FILLED))
    assert await who(guard, shown) == "ada (admin)"
    offered, added, signed_in = records(guard)
    assert (offered["change"], offered["by"]) == ("offered", "start")
    assert (added["change"], added["user_name"], added["role"], added["by"]) == ("added", "ada", "admin", "setup link")
    assert (signed_in["user"], signed_in["method"], signed_in["peer"]) == (added["user"], "setup link", "127.0.0.1")


async def test_a_link_is_good_once_and_then_there_is_no_such_page(guard: World) -> None:
    key = await key_of(guard)
    await post(guard, "/setup", key=key, **FILLED)
    before = records(guard)
    for answer in (
        await post(guard, "/setup", key=key, **FILLED | {"name": "eve"}),
        await post(guard, "/setup", key=key, **FILLED),
        await get(guard, f"/setup?key={key}"),
        await get(guard, "/setup"),
        await post(guard, "/setup"),
    ):
        assert answer.status_code == 404
        assert "<h1>Not found</h1>" in answer.text
        assert "set-cookie" not in answer.headers
    with pytest.raises(SetupOver):
        await key_of(guard)
    assert records(guard) == before, "and nothing happened"
    assert [each.name for each in guard.now.guard.people.users()] == ["ada"]


async def test_of_two_who_use_a_link_at_once_one_is_late(guard: World) -> None:
    key, answers = await key_of(guard), list[httpx2.Response]()

    async def use(name: str) -> None:
        answers.append(await post(guard, "/setup", key=key, **FILLED | {"name": name}))

    async with anyio.create_task_group() as tasks:
        for name in ("ada", "eve", "bob"):
            tasks.start_soon(use, name)
    made, *late = sorted(answer.status_code for answer in answers)
    assert (made, {*late} <= {403, 404}) == (303, True), "the link is used already, or is being used right now"
    assert len([*guard.now.guard.people.users()]) == 1
    assert [each["change"] for each in records(guard, "person")] == ["offered", "added"]


async def test_looking_at_a_link_uses_nothing_up(guard: World) -> None:
    key = await key_of(guard)
    for _ in range(3):
        assert (await get(guard, f"/setup?key={key}")).status_code == 200
        assert (await guard.network.head(f"/setup?key={key}")).status_code == 405
    shown_by(await post(guard, "/setup", key=key, **FILLED))


@pytest.mark.parametrize("wrong", ["", "x", "x" * 5000, "é", "\x00", "' OR 1=1 --"])
async def test_a_wrong_key_makes_nobody(guard: World, wrong: str) -> None:
    await key_of(guard)
    told = await get(guard, "/setup?key=" + wrong.replace("\x00", "%00"))
    assert told.status_code == 403
    assert "mcpguard user setup-link" in told.text
    assert (await post(guard, "/setup", key=wrong, **FILLED)).status_code == 403
    assert not [*guard.now.guard.people.users()]


async def test_a_link_is_good_for_half_an_hour_and_the_newest_only(guard: World) -> None:
    first = await key_of(guard)
    second = await key_of(guard)
    assert (await get(guard, f"/setup?key={first}")).status_code == 403
    await guard.clock.advance(SECONDS - 1)
    assert (await get(guard, f"/setup?key={second}")).status_code == 200
    await guard.clock.advance(2)
    assert (await post(guard, "/setup", key=second, **FILLED)).status_code == 403
    assert not [*guard.now.guard.people.users()]
    shown_by(await post(guard, "/setup", key=await key_of(guard), **FILLED))


async def test_whoever_was_let_in_otherwise_ends_the_link_for_ever(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        key = await key_of(guard)
        await user(guard)
        assert (await get(guard, f"/setup?key={key}")).status_code == 404
    async with world(tmp_path) as guard:
        assert not guard.now.guard.setting_up.is_needed
        assert (await get(guard, f"/setup?key={key}")).status_code == 404
        await guard.now.store.writer.submit(lambda connection: connection.exec_driver_sql("DELETE FROM users"))
    async with world(tmp_path) as guard:
        assert not [*guard.now.guard.people.users()]
        with pytest.raises(SetupOver):
            await key_of(guard)
        assert (await get(guard, f"/setup?key={key}")).status_code == 404, "not: while there is nobody"


async def test_a_shell_that_may_only_tighten_gets_no_link(guard: World) -> None:
    with pytest.raises(Exception, match=r"authority\.shell is `tighten`"):
        await guard.now.guard.setting_up.offer(NARROW)
    assert records(guard) == []


@pytest.mark.parametrize(
    ("filled", "told"),
    [
        ({"password": "short", "again": "short"}, "at least 12 characters"),
        ({"again": PASSWORD + "!"}, "The two passwords do not match."),
        ({"name": "Ada"}, "a to z"),
        ({"name": ""}, "a to z"),
        ({"name": "a\x00b"}, "a to z"),
        ({"name": "\u0430da"}, "a to z"),
        ({"name": "a" * 64}, "a to z"),
        ({"name": "<script>"}, "a to z"),
        ({"password": "password1234", "again": "password1234"}, "too common"),
        ({"password": "é" * 600, "again": "é" * 600}, "at most 1024 bytes"),
        ({"name": "ada.lovelace.1", "password": "Ada.Lovelace.1", "again": "Ada.Lovelace.1"}, "too common"),
    ],
)
async def test_what_cannot_be_is_told_and_the_link_stays_good(guard: World, filled: dict[str, str], told: str) -> None:
    key = await key_of(guard)
    answer = await post(guard, "/setup", key=key, **FILLED | filled)
    assert answer.status_code == 422
    assert told in alert(answer)
    assert "<script>" not in answer.text
    for password in {PASSWORD, filled.get("password", PASSWORD)}:
        assert password not in answer.text
    assert not [*guard.now.guard.people.users()]
    shown_by(await post(guard, "/setup", key=key, **FILLED))


async def test_who_signs_in_is_told_nothing_of_what_was_wrong(guard: World) -> None:
    await user(guard)
    await user(guard, "bob", Role.VIEWER)
    await guard.now.guard.users.disable("bob", BY)
    wrong = [
        await post(guard, "/login", name="ada", password=WRONG),
        await post(guard, "/login", name="nobody", password=PASSWORD),
        await post(guard, "/login", name="bob", password=PASSWORD),
        await post(guard, "/login", name="bob", password=WRONG),
        await post(guard, "/login", name="ADA", password=PASSWORD),
        await post(guard, "/login", name="ada\x00", password=PASSWORD),
        await post(guard, "/login", name="", password=""),
        await post(guard, "/login", name="ada", password="x" * 2000),
    ]
    assert {answer.status_code for answer in wrong} == {401}
    assert len({answer.text for answer in wrong}) == 1
    assert all("set-cookie" not in answer.headers for answer in wrong)
    assert records(guard, "signed_in") == []
    shown = shown_by(await post(guard, "/login", name="ada", password=PASSWORD))
    assert await who(guard, shown) == "ada (admin)"


async def test_failures_are_counted_and_what_was_typed_is_kept_nowhere(guard: World) -> None:
    ada = await user(guard)
    for _ in range(2):
        await post(guard, "/login", name="ada", password=WRONG)
    await post(guard, "/login", name="my-real-password", password=WRONG)
    await guard.now.guard.tallies.flush()
    one, two = records(guard, "sign_in_refused")
    assert {key: one[key] for key in ("peer", "why", "user", "user_name", "count")} == {
        "peer": "127.0.0.1",
        "why": "password",
        "user": ada.id,
        "user_name": "ada",
        "count": 2,
    }
    assert (two["why"], two["count"], "user" in two) == ("password", 1, False)
    assert "my-real-password" not in str(guard.said())


async def test_signing_in_gives_a_session_that_nobody_chose_and_ends_the_one_before(guard: World) -> None:
    await user(guard)
    chosen = "a" * 43
    first = shown_by(await post(guard, "/login", chosen, name="ada", password=PASSWORD))
    assert first != chosen
    assert await who(guard, chosen) == "Sign in"
    second = shown_by(await post(guard, "/login", first, name="ada", password=PASSWORD))
    assert second != first
    assert (await who(guard, first), await who(guard, second)) == ("Sign in", "ada (admin)")
    one, two = records(guard, "signed_in")
    (out,) = records(guard, "signed_out")
    assert (out["session"], out["why"]) == (one["session"], "signed in again")
    assert two["session"] != one["session"]


async def test_whoever_signs_in_as_somebody_else_is_that_one_only(guard: World) -> None:
    await user(guard)
    await user(guard, "bob", Role.VIEWER)
    ada = shown_by(await post(guard, "/login", name="ada", password=PASSWORD))
    bob = shown_by(await post(guard, "/login", ada, name="bob", password=PASSWORD))
    assert (await who(guard, ada), await who(guard, bob)) == ("Sign in", "bob (viewer)")


async def test_a_failed_try_leaves_the_session_that_was(guard: World) -> None:
    await user(guard)
    shown = await cookie(guard)
    assert (await post(guard, "/login", shown, name="ada", password=WRONG)).status_code == 401
    assert await who(guard, shown) == "ada (admin)"


async def test_signing_out_ends_this_session_or_all_of_them(guard: World) -> None:
    await user(guard)
    await user(guard, "bob", Role.VIEWER)
    one, two, three, bob = [await cookie(guard) for _ in range(3)] + [await cookie(guard, "bob")]
    out = await post(guard, "/logout", one, where="here")
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert f'{NAME}=""' in out.headers["set-cookie"]
    assert [await who(guard, each) for each in (one, two)] == ["Sign in", "ada (admin)"]
    await post(guard, "/logout", two, where="everywhere")
    assert [await who(guard, each) for each in (two, three, bob)] == ["Sign in", "Sign in", "bob (viewer)"]
    ended = records(guard, "signed_out")
    assert [each["why"] for each in ended] == ["asked", "everywhere", "everywhere"]
    assert all(each["by"].endswith("(ada)") and each["via"] == "console" for each in ended)
    assert (await post(guard, "/logout", one)).status_code == 303, "once more does no harm"
    assert len(records(guard, "signed_out")) == 3


@pytest.mark.parametrize("path", ["/login", "/logout", "/setup"])
async def test_a_page_elsewhere_can_neither_sign_anybody_in_nor_out(guard: World, path: str) -> None:
    key = await key_of(guard)
    if path != "/setup":
        await user(guard)
    shown = await cookie(guard) if path == "/logout" else ""
    before = records(guard)
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"origin": OURS["origin"], "sec-fetch-site": "same-site"},
    ):
        sent = headers | (shows(shown) if shown else {})
        answer = await guard.network.post(path, data={"key": key, **FILLED}, headers=sent)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert records(guard) == before, "and nothing happened"


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b'{"name": "ada"}', 415),
        ("", b"name=ada", 415),
        ("multipart/form-data; boundary=x", b"--x--", 415),
        ("application/x-www-form-urlencoded", b"name=ada&name=bob", 400),
        ("application/x-www-form-urlencoded", b"name", 400),
        ("application/x-www-form-urlencoded", b"name=\xff", 400),
        ("application/x-www-form-urlencoded", b"name=%ff", 400),
        ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % at for at in range(21)), 400),
        ("application/x-www-form-urlencoded", b"name=" + b"x" * 20_000, 413),
        ("application/x-www-form-urlencoded; charset=utf-8", b"name=x&password=y", 401),
    ],
)
async def test_what_is_no_form_is_refused_before_it_is_looked_at(
    guard: World, kind: str, body: bytes, status: int
) -> None:
    await user(guard)
    headers = OURS | ({"content-type": kind} if kind else {})
    answer = await guard.network.post("/login", content=body, headers=headers)
    assert answer.status_code == status
    assert alert(answer)


async def test_an_endless_form_is_not_read_to_its_end(guard: World) -> None:
    def pieces() -> Any:  # noqa: ANN401 - a generator
        while True:
            yield b"x" * 4096

    headers = [("host", "127.0.0.1:8080"), *OURS.items(), ("content-type", "application/x-www-form-urlencoded")]
    answer = await ask(app_of(guard.network), headers, "/login", "POST", pieces())
    assert answer.status == 413
    assert answer.taken <= 5 * 4096


async def test_an_operators_token_signs_nobody_out(guard: World) -> None:
    await user(guard)
    shown = await cookie(guard)
    _, token = await guard.now.guard.operators.add("ci", Role.ADMIN, None, BY)
    guard.network.cookies.clear()
    answer = await guard.network.post(
        "/logout", data={"where": "everywhere"}, headers={"authorization": f"Bearer {token}"}
    )
    assert answer.headers["location"] == "/login"
    assert await who(guard, shown) == "ada (admin)"


async def test_while_nothing_can_be_recorded_nobody_signs_in_or_out(guard: World) -> None:
    await user(guard)
    shown = await cookie(guard)
    before = records(guard)
    aside = guard.database.with_name("aside.db")
    guard.database.rename(aside)
    for path in ("/login", "/logout"):
        answer = await post(guard, path, shown, name="ada", password=PASSWORD)
        assert (answer.status_code, "set-cookie" in answer.headers) == (503, False)
        assert "the audit log cannot be written" in alert(answer)
    assert await who(guard, shown) == "ada (admin)", "and reading works"
    aside.rename(guard.database)
    await guard.recovered()
    assert records(guard) == before
    assert await who(guard, shown) == "ada (admin)"
    await post(guard, "/logout", shown, where="here")
    assert await who(guard, shown) == "Sign in"


async def test_before_there_is_anybody_the_page_says_how_the_first_is_made(guard: World) -> None:
    page = await get(guard, "/login")
    assert page.status_code == 200
    assert "mcpguard user setup-link" in page.text
    assert "<form" not in page.text
    await user(guard)
    assert '<form method="post" action="/login"' in (await get(guard, "/login")).text


async def test_who_is_not_signed_in_has_nothing_to_sign_out_of(guard: World) -> None:
    answer = await get(guard, "/logout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")


async def test_nothing_that_lets_anybody_in_lies_anywhere(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Not in the database, its WAL, a copy of it, a record, a log or any other file, whole or in part."""
    async with world(tmp_path) as guard:
        key = await key_of(guard)
        await get(guard, f"/setup?key={key}")
        shown = shown_by(await post(guard, "/setup", key=key, **FILLED))
        _, token = await guard.now.guard.operators.add("ci", Role.ADMIN, None, BY)
        await post(guard, "/login", name="ada", password=PASSWORD + " or not")
        await who(guard, shown)
        await guard.clock.advance(61)
        await guard.settle()
        places = files(tmp_path)
        assert any(path.name.endswith("-wal") for path in places)
        printed = "".join(capfd.readouterr())
        for secret in (key, shown, token.removeprefix("mcpo_"), PASSWORD):
            for path in places:
                assert secret[:16].encode() not in path.read_bytes(), path
            assert secret[:16] not in printed
