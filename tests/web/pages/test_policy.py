"""The rules in force, and trying a call: what is foreseen is what would be, and nothing comes of it."""

from pathlib import Path

import httpx2
import pytest

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.people import Role
from mcpguard.guard.callers.grants import CallerRequest
from mcpguard.guard.trust import rules_in_force
from mcpguard.policy.judge import RULES
from mcpguard.settings.fields import leaves
from mcpguard.settings.model import Settings
from tests.people import BY
from tests.review import taken_in
from tests.web.pages.console import browser, nothing_happens
from tests.web.pages.reading import alert, heading, text
from tests.web.reviewing import approved
from tests.world import World, world

pytestmark = pytest.mark.anyio
CALL = {"caller": "anonymous", "name": "notes:read_note", "kind": "tool", "operation": "", "arguments": '{"name": "x"}'}


async def there(guard: World) -> None:
    """A server that a person has approved, and that is connected."""
    await approved(guard)
    await taken_in(guard.now, ("notes",))


def outcomes(answer: httpx2.Response) -> dict[str, str]:
    """What each rule says, by its name."""
    found = dict[str, str]()
    for row in answer.text.split('<tr role="row" data-row id="')[1:]:
        said = [
            word for word in ("passes", "denies", "holds", "not reached") if f">{word}<" in row.replace("</svg>", ">")
        ]
        found[row.partition('"')[0]] = said[-1] if said else ""
    return found


def test_the_rules_shown_are_those_that_are_asked_in_their_order() -> None:
    shown = rules_in_force.request_rules(Settings(data_dir=Path("/")))
    assert [each.name for each in shown] == [rules_in_force.FIRST, *(name for name, _ in RULES)]
    for each in (*shown, *rules_in_force.response_rules(Settings(data_dir=Path("/")))):
        assert each.asks.endswith(".")
        assert {key for key, _ in each.settings} <= leaves(Settings).keys()


async def test_the_rules_stand_there_with_the_settings_in_force(tmp_path: Path) -> None:
    async with world(tmp_path, holds__calls=["destructive of prod-*"], budgets__caller_minute=77) as guard:
        page = await (await browser(guard, Role.AUDITOR)).get("/policy")
        assert heading(page) == "Policy"
        said = text(page.text)
        assert "holds.calls destructive of prod-*" in said
        assert "budgets.caller_minute 77" in said
        assert "not reached" not in said


async def test_a_call_that_would_be_sent_is_said_to_be(guard: World) -> None:
    at = await browser(guard, Role.AUDITOR)
    await there(guard)
    async with nothing_happens(guard):
        answer = await at.post("/policy", **CALL)
        assert answer.status_code == 200, answer.text
        assert alert(answer) == ""
        assert "This call would be sent." in text(answer.text)
        assert set(outcomes(answer).values()) == {"passes"}
        assert "&#34;name&#34;: " in answer.text, "what was typed is there still"


@pytest.mark.parametrize(
    ("more", "rule", "code"),
    [
        ({"name": "notes:nothing"}, "capability.known", "capability:unknown"),
        ({"name": "nowhere:read_note"}, "server.standing", "capability:unknown"),
        ({"caller": "reader"}, "scope.name", "capability:unknown"),
        ({"operation": "read", "name": "notes:delete_note"}, "intent", "intent:understated"),
        ({"arguments": '{"name": 1}'}, "arguments.schema", "arguments:invalid"),
        ({"caller": "gone"}, "caller.holds", "caller:revoked"),
    ],
    ids=str,
)
async def test_why_it_would_be_refused_is_said_rule_by_rule(
    guard: World, more: dict[str, str], rule: str, code: str
) -> None:
    at = await browser(guard, Role.AUDITOR)
    await there(guard)
    reading = Scope(("files",), ("*",), frozenset({Effect.READ}))
    await guard.now.guard.granting.add(CallerRequest("reader", reading), BY)
    await guard.now.guard.granting.add(CallerRequest("gone", reading, 1), BY)
    await guard.clock.advance(2)
    async with nothing_happens(guard):
        answer = await at.post("/policy", **CALL | more)
    assert code in text(answer.text)
    said = outcomes(answer)
    assert [each for each in said if said[each] == "denies"] == [rule]
    place = [*said].index(rule)
    assert {said[each] for each in [*said][:place]} <= {"passes"}
    assert {said[each] for each in [*said][place + 1 :]} <= {"not reached"}


async def test_a_call_that_a_person_must_allow_is_said_to_wait_and_nobody_is_asked(tmp_path: Path) -> None:
    async with world(tmp_path, holds__calls=["any of notes"]) as guard:
        at = await browser(guard, Role.AUDITOR)
        await there(guard)
        async with nothing_happens(guard):
            answer = await at.post("/policy", **CALL)
            assert "This call would be held for approval." in text(answer.text)
            assert outcomes(answer)["hold.person"] == "holds"
        assert guard.now.guard.held.waiting == 0


async def test_trying_uses_no_budget_up(tmp_path: Path) -> None:
    async with world(tmp_path, budgets__caller_minute=1) as guard:
        at = await browser(guard, Role.AUDITOR)
        await there(guard)
        for _ in range(3):
            assert "This call would be sent." in text((await at.post("/policy", **CALL)).text)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"caller": "nobody"}, "No agent has this name"),
        ({"caller": ""}, "There is no call"),
        ({"name": "read_note"}, "Name the tool as server:name"),
        ({"name": "notes:\0"}, "check its name"),
        ({"kind": "template"}, "check its kind"),
        ({"kind": "resource"}, "This call is not valid"),
        ({"operation": "destroy"}, "The declared effect is read, write or destructive"),
        ({"why": "because"}, "A reason needs a declared effect"),
        ({"operation": "read", "why": "x" * 1001}, "check its intent"),
        ({"arguments": "{"}, "not strict JSON"),
        ({"arguments": '{"a": 1, "a": 2}'}, "not strict JSON"),
        ({"arguments": '{"a": NaN}'}, "not strict JSON"),
        ({"arguments": "[" * 100 + "]" * 100}, "not strict JSON"),
        ({"arguments": "[]"}, "The arguments must be an object"),
        ({"arguments": "null"}, "The arguments must be an object"),
    ],
    ids=str,
)
async def test_what_is_no_call_is_told_in_a_sentence(guard: World, more: dict[str, str], why: str) -> None:
    at = await browser(guard, Role.AUDITOR)
    async with nothing_happens(guard):
        answer = await at.post("/policy", **CALL | more)
        assert answer.status_code in (404, 422)
        if more != {"caller": ""}:
            assert why in alert(answer)
        assert "This call would be" not in text(answer.text)


async def test_an_address_fills_the_form_in_and_tries_it(guard: World) -> None:
    at = await browser(guard, Role.AUDITOR)
    assert 'value="notes:read_note"' in (await at.get("/policy", name="notes:read_note")).text
    answer = await at.get("/policy", caller="anonymous", name="nowhere:x", arguments='{"secret": 1}')
    assert "This call would be denied." in text(answer.text)
    assert "secret" not in answer.text.partition("<aside>")[2], "arguments stand in no address"


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "\u202eevil", "a\u200bb", '"><img src=x>', "{{7*7}}"])
async def test_what_is_typed_is_inert_and_what_hides_in_it_is_seen(guard: World, hostile: str) -> None:
    at = await browser(guard, Role.AUDITOR)
    for more in ({"name": f"notes:{hostile}"}, {"arguments": f'{{"a": "{hostile}'}, {"caller": hostile}):
        answer = await at.post("/policy", **CALL | more)
        for bad in ("<script>alert", "<img", "49"):
            assert bad not in answer.text.replace("2026", "").replace("49:", "")
        main = answer.text.partition("<aside>")[0]
        assert "\u202e" not in main
        assert "\u200b" not in main
