"""Held calls on their page: seen within a moment, answered once, and whoever answers too late changes nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pytest

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.people import Role
from mcpguard.guard.calls.holds.allowances import AllowanceWish
from mcpguard.guard.calls.holds.held_calls import allowance_tag
from mcpguard.web.pages.base.console import PART
from tests.gate import Gate
from tests.gateway.allowing import TEXT
from tests.gateway.granting import granted
from tests.gateway.holding import HELD, LIFE, WAIT, Making, allowed, calls, denied, held, moves
from tests.gateway.speaking import guarded
from tests.review import DECISION
from tests.simulators.client import Reply
from tests.simulators.script import Script
from tests.web.pages.reading import Sends, alert, heading, hidden, somebody, text, told

pytestmark = pytest.mark.anyio
HOSTILE = "<script>alert(1)</script>\u202eevil\u200b"


@dataclass
class Desk:
    """A guard with one call that waits, and somebody who looks at it."""

    guard: Gate
    script: Script
    making: Making
    by: Sends
    ticket: str

    async def get(self, path: str, by: Sends | None = None) -> httpx2.Response:
        return await self.guard.http.get(self.guard.where.url + path, headers=self.by if by is None else by)

    async def post(self, path: str, by: Sends | None = None, **sent: str) -> httpx2.Response:
        self.guard.http.cookies.clear()
        return await self.guard.http.post(self.guard.where.url + path, data=sent, headers=self.by if by is None else by)

    async def answer(self, answer: str, **sent: str) -> httpx2.Response:
        seen = hidden(await self.get(f"/held/{self.ticket}"), "seen")
        sent = {"answer": answer, "why": "it is right", "seen": seen} | sent
        return await self.post(f"/held/{self.ticket}", None, **sent)

    async def reply(self) -> Reply:
        return await self.making.done()


@asynccontextmanager
async def desk(folder: Path, role: Role = Role.APPROVER, **arguments: str) -> AsyncIterator[Desk]:
    script = Script()
    async with guarded(folder, script, **HELD) as guard, anyio.create_task_group() as tasks:
        by = await somebody(guard, role)
        making = Making(guard.client(), arguments or {"text": "hello"})
        tasks.start_soon(making)
        yield Desk(guard, script, making, by, (await held(guard))["id"])
        tasks.cancel_scope.cancel()


async def test_what_was_done_is_told_to_the_reader_and_not_to_a_script_that_looks_first(tmp_path: Path) -> None:
    """A page that is still open hears that the call was answered, and asks for the cards, before the browser has left
    it for the next one."""
    async with desk(tmp_path) as at:
        await at.answer("deny")
        said = "Denied web:echo for anonymous."
        assert said not in text((await at.get("/held", {**at.by, PART: "1"})).text)
        assert said in told(await at.get("/held"))


async def test_a_call_is_allowed_in_the_browser_and_made_once(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        page = await at.get("/held")
        assert (page.status_code, heading(page)) == (200, "Held calls")
        assert "requests web:echo" in text(page.text)
        assert '"text": "hello"' in text(page.text).replace("&#34;", '"')
        answered = await at.answer("allow")
        assert (answered.status_code, answered.headers["location"]) == (303, "/held")
        assert "hello" in (await at.reply()).text
        assert calls(at.script) == 1
        assert told(await at.get("/held")) == "Allowed web:echo for anonymous, once. Show records"
        assert told(await at.get("/held")) == "", "it is told once"
        (record,) = [each for each in at.guard.said() if each.get("answer") == "allow"]
        assert (record["by"].rpartition(" ")[2], record["via"], record["why"]) == ("(ada)", "console", "it is right")


async def test_a_usual_reason_is_enough_and_is_recorded_in_words(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        assert (await at.answer("allow", reason="expected", why="")).status_code == 303
        await at.reply()
        (record,) = [each for each in at.guard.said() if each.get("answer") == "allow"]
        assert record["why"] == "Expected"


async def test_what_is_known_of_the_call_is_on_its_card(tmp_path: Path) -> None:
    async with desk(tmp_path, text="mail it to eve@evil.com") as at:
        page = text((await at.get("/held")).text)
        assert "High risk read · not allowed in the last 90 days · names eve@evil.com" in page
        assert "This caller, last 10 minutes No other calls." in page
        assert "Similar calls, 90 days None reviewed." in page
        assert '"name": "echo"' in page, "all that is sent is there"
        await at.answer("allow", reason="other", why=f"looked at {HOSTILE}")
        await at.reply()
        making = Making(at.guard.client(), {"text": "mail it to bob@evil.com"})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(making)
            at.ticket = (await held(at.guard))["id"]
            again = await at.get(f"/held/{at.ticket}")
            page = text(again.text)
            assert "Low risk read · allowed once in 90 days, always for this caller · names bob@evil.com" in page
            assert "1 answer , 1 allowed in this version" in page
            assert "Compared with the last one allowed" in page
            assert "[removed: eve ] [added: bob ] @evil.com" in page
            assert not any(each in again.text for each in ("<script>alert", "\u202e", "\u200b"))
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize(("words", "look"), [("mail it to eve@evil.com", "btn main"), ("hello", "btn")])
async def test_deny_comes_first_and_is_filled_where_the_risk_is_high(words: str, look: str, tmp_path: Path) -> None:
    button = '<button type="submit" class="{}" name="answer" value="{}">'
    async with desk(tmp_path, text=words) as at:
        page = (await at.get("/held")).text
        assert 0 < page.index(button.format(look, "deny")) < page.index(button.format("btn", "allow"))


async def test_what_would_be_sent_beside_the_arguments_is_shown(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard, anyio.create_task_group() as tasks:
        by = await somebody(guard, Role.APPROVER)
        tasks.start_soon(Making(guard.client(), mode=f"every copy {HOSTILE}"))
        await held(guard)
        page = await guard.http.get(f"{guard.where.url}/held", headers=by)
        assert "Metadata" in text(page.text)
        assert "every copy" in text(page.text)
        assert not any(each in page.text for each in ("<script>alert", "\u202e", "\u200b")), "and does nothing"
        tasks.cancel_scope.cancel()


async def test_a_call_is_denied_and_its_agent_told_why(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        assert (await at.answer("deny", why="not on a Friday")).status_code == 303
        assert "not on a Friday" in (await at.reply()).text
        assert calls(at.script) == 0


@pytest.mark.parametrize(
    ("sent", "status", "why"),
    [
        ({"why": ""}, 422, "A decision needs a reason."),
        ({"why": "", "reason": "other"}, 422, "“Other” needs a note."),
        ({"reason": "injected"}, 422, "is no reason to allow"),
        ({"reason": "whatever"}, 422, "The usual reasons are expected"),
        ({"why": "x" * 2001}, 422, "The reason is longer than 2000 characters."),
        ({"seen": ""}, 428, "reload the page"),
        ({"seen": "waiting-1"}, 409, "changed while you were reading"),
        ({"seen": "allowed-1"}, 409, "changed while you were reading"),
    ],
)
async def test_what_cannot_be_is_told_and_nothing_typed_is_lost(
    tmp_path: Path, sent: dict[str, str], status: int, why: str
) -> None:
    async with desk(tmp_path) as at:
        before = moves(at.guard)
        answered = await at.answer("allow", **{"why": "it is <right>"} | sent)
        assert (answered.status_code, why in alert(answered)) == (status, True), alert(answered)
        if "why" not in sent:
            assert "it is &lt;right&gt;</textarea>" in answered.text
        assert (moves(at.guard), calls(at.script), at.guard.now.guard.held.waiting) == (before, 0, 1), (
            "nothing happened"
        )


async def test_whoever_answers_second_is_told_that_it_is_not_used(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        seen = hidden(await at.get("/held"), "seen")
        await denied(at.guard, at.ticket)
        before = moves(at.guard)
        late = await at.post(f"/held/{at.ticket}", answer="allow", why="too late", seen=seen)
        assert late.status_code == 409
        assert (moves(at.guard), calls(at.script)) == (before, 0), "and nothing happened"
        assert ("Not saved" in alert(late), "<textarea" in late.text) == (True, False)


async def test_a_call_whose_time_is_over_is_gone(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        seen = hidden(await at.get("/held"), "seen")
        await at.guard.clock.advance(LIFE + 1)
        await at.reply()
        late = await at.post(f"/held/{at.ticket}", answer="allow", why="too late", seen=seen)
        assert (late.status_code, heading(late)) == (404, "This call is no longer held")
        assert "expired without an answer" in late.text
        assert calls(at.script) == 0
        assert "There are no records of a call with this id" in (await at.get("/held/nothing")).text
        assert heading(await at.get("/held")) == "Held calls"


async def test_what_was_allowed_can_be_taken_back(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.guard.clock.advance(WAIT + 1)
        await at.reply()
        await allowed(at.guard, at.ticket)
        assert "Revoke" in (await at.get("/held")).text
        assert (await at.answer("deny", why="better not")).status_code == 303
        assert [each["state"] for each in await at.guard.now.guard.held.every()] == ["denied"]
        assert calls(at.script) == 0


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AUDITOR])
async def test_who_may_not_decide_cannot(tmp_path: Path, role: Role) -> None:
    async with desk(tmp_path) as at:
        by = await somebody(at.guard, role, "eve")
        before = moves(at.guard)
        seen = hidden(await at.get("/held"), "seen")
        page = await at.get("/held", by)
        assert page.status_code == (403 if role is Role.VIEWER else 200)
        assert "<textarea" not in page.text
        answered = await at.post(f"/held/{at.ticket}", by, answer="allow", why="please", seen=seen)
        assert (answered.status_code, heading(answered)) == (403, "Not permitted")
        assert (moves(at.guard), calls(at.script)) == (before, 0), "and nothing happened"
        assert ("Held calls" in (await at.get("/", by)).text) == (role is Role.AUDITOR)


async def test_who_signed_in_long_ago_gives_the_password_with_the_form(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        await at.guard.clock.advance(at.guard.now.settings.people.recent_seconds + 1)
        making = Making(at.guard.client(), {"text": "again"})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(making)
            at.ticket = (await held(at.guard))["id"]
            assert "Your password" in (await at.get("/held")).text
            refused = await at.answer("allow", why="kept")
            assert (refused.status_code, "confirm it with your password" in alert(refused)) == (403, True)
            assert ">kept</textarea>" in refused.text
            wrong = await at.answer("allow", password="seven brown cows")  # noqa: S106 - nobody's
            assert wrong.status_code == 401
            assert calls(at.script) == 0
            answered = await at.answer("allow", password="seven brown horses")  # noqa: S106 - nobody's
            assert answered.status_code == 303
            assert "mcpguard_session=" in answered.headers["set-cookie"], "another session, and the one before is over"
            assert "again" in (await making.done()).text
            assert (await at.get("/held")).headers["location"].startswith("/login?back=")


async def test_what_an_agent_says_is_shown_and_inert(tmp_path: Path) -> None:
    async with desk(tmp_path, text=HOSTILE) as at:
        page = await at.get("/held")
        assert "<script>alert" not in page.text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
        assert "\u202e" not in page.text
        assert "\u200b" not in page.text
        assert 'class="cp" title="RIGHT-TO-LEFT OVERRIDE, U+202E">RLO</span>' in page.text


async def test_a_page_of_another_site_answers_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        before = moves(at.guard)
        seen = hidden(await at.get("/held"), "seen")
        for wrong in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
            answered = await at.post(f"/held/{at.ticket}", at.by | wrong, answer="allow", why="x", seen=seen)
            assert answered.status_code == 403
        bare = {"cookie": at.by["cookie"]}
        assert (await at.post(f"/held/{at.ticket}", bare, answer="allow", why="x", seen=seen)).status_code == 403
        assert (moves(at.guard), calls(at.script)) == (before, 0), "and nothing happened"


@asynccontextmanager
async def allowing_desk(folder: Path) -> AsyncIterator[Desk]:
    """A desk with a call of a caller that has a token."""
    script = Script()
    async with guarded(folder, script, **HELD) as guard, anyio.create_task_group() as tasks:
        by = await somebody(guard, Role.APPROVER)
        caller = await granted(guard, "desk", "*", "*", *Effect)
        making = Making(guard.client(token=caller.token), {"channel": "#releases", HOSTILE: 1, "text": TEXT})
        tasks.start_soon(making)
        yield Desk(guard, script, making, by, (await held(guard))["id"])
        tasks.cancel_scope.cancel()


async def test_its_like_is_allowed_for_some_minutes_and_revoked_in_the_same_place(tmp_path: Path) -> None:
    async with allowing_desk(tmp_path) as at:
        page = await at.get("/held")
        assert 'name="same" value="channel" checked' in page.text
        assert 'name="same" value="text">' in page.text, "free text is left open"
        assert not any(each in page.text for each in ("<script>alert", "\u202e</code>"))
        seen = hidden(page, "seen")
        fields = {"answer": "allow-for", "reason": "expected", "seen": seen, "same": "channel"}
        assert (await at.post(f"/held/{at.ticket}", None, **fields)).status_code == 303
        await at.reply()
        told_ = told(await at.get("/held"))
        assert told_.startswith("Allowed web:echo for desk, and at most 19 calls like it")
        (allowance,) = at.guard.now.guard.held.allowances()
        assert allowance["same"] == ["channel"]
        page = await at.get("/held")
        assert "desk may run web:echo" in text(page.text)
        assert "19 calls left" in text(page.text)
        seen = hidden(page, "seen")
        wrong = await at.post(f"/allowances/{allowance['id']}", why="", seen=seen)
        assert (wrong.status_code, alert(wrong)) == (422, "A decision needs a reason.")
        assert len(at.guard.now.guard.held.allowances()) == 1
        done = await at.post(f"/allowances/{allowance['id']}", why="the release is out", seen=seen)
        assert done.status_code == 303
        assert told(await at.get("/held")) == "Revoked. Calls of web:echo for desk are held again."
        assert at.guard.now.guard.held.allowances() == []
        (ended,) = [each for each in at.guard.said() if each.get("cause") == "revoked"]
        assert (ended["why"], ended["via"]) == ("the release is out", "console")
        late = await at.post(f"/allowances/{allowance['id']}", why="again", seen=seen)
        assert (late.status_code, alert(late)) == (404, "There is no such allowance; it may have ended.")


@pytest.mark.parametrize(
    "forged",
    [{"same": "nothing"}, {"same": "channel,text"}, {"answer": "allow-for ", "same": "channel"}, {"seen": "waiting-1"}],
)
async def test_forged_fields_allow_nothing_for_a_time(forged: dict[str, str], tmp_path: Path) -> None:
    async with allowing_desk(tmp_path) as at:
        seen = hidden(await at.get("/held"), "seen")
        fields = {"answer": "allow-for", "reason": "other", "why": "please", "seen": seen} | forged
        answered = await at.post(f"/held/{at.ticket}", None, **fields)
        assert at.guard.now.guard.held.allowances() == []
        assert (calls(at.script), [each for each in at.guard.said() if each["kind"] == "allowance"]) == (0, [])
        denies = forged.get("answer") == "allow-for "
        assert answered.status_code == (303 if denies else 409 if "seen" in forged else 422)
        assert at.guard.now.guard.held.waiting == (0 if denies else 1)


async def test_ten_minutes_are_not_offered_without_a_token(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        page = await at.get("/held")
        assert "10 min is not offered: the caller has no token" in text(page.text)
        assert 'value="allow-for"' not in page.text
        assert (await at.answer("allow-for", same="text")).status_code == 422
        assert (calls(at.script), at.guard.now.guard.held.allowances(), moves(at.guard)) == (0, [], [])


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AUDITOR])
async def test_who_may_not_decide_revokes_nothing(role: Role, tmp_path: Path) -> None:
    async with allowing_desk(tmp_path) as at:
        allowance = await at.guard.now.guard.held.allow_for(at.ticket, DECISION, AllowanceWish())
        by = await somebody(at.guard, role, "eve")
        sent = {"why": "x", "seen": allowance_tag(allowance)}
        assert (await at.post(f"/allowances/{allowance['id']}", by, **sent)).status_code == 403
        assert len(at.guard.now.guard.held.allowances()) == 1
