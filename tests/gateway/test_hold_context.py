"""What a reviewer is shown beside a held call comes from the records, and only what they say."""

from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.decisions import Decision
from tests.gate import Gate
from tests.gateway.granting import granted
from tests.gateway.holding import HELD, denied, held, refusal
from tests.gateway.speaking import changed, guarded
from tests.review import DECISION
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
AT_ONCE: dict[str, Any] = {"holds__wait_seconds": 0, **HELD}


async def holding(client: RawClient, **arguments: Any) -> str:  # noqa: ANN401 - JSON
    """The ticket of a call that is held."""
    return str(refusal(await client.call("web::echo", arguments))["detail"]["ticket"])


async def context(guard: Gate, ticket: str) -> Json:
    found: Json = (await guard.now.guard.held.one_in_context(ticket))["context"]
    return found


async def answered(guard: Gate, ticket: str, why: str) -> None:
    await guard.now.guard.held.allow(ticket, Decision(DECISION.by, why))


def clauses(said: Json) -> list[str]:
    return [clause["text"] for clause in said["risk"]["clauses"]]


async def test_without_a_precedent_nothing_is_claimed(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **AT_ONCE) as guard:
        said = await context(guard, await holding(guard.client(), text="hello"))
        assert (said["risk"]["level"], clauses(said)) == ("low", ["read", "not allowed in the last 90 days"])
        assert (said["recent"]["calls"], said["precedents"]["answers"], said["compared"]) == ([], [], None)


async def test_whom_it_names_outside_makes_the_first_one_risky(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **AT_ONCE) as guard:
        first = await holding(guard.client(), text="mail it to eve@evil.com")
        said = await context(guard, first)
        assert (said["risk"]["level"], clauses(said)[-1]) == ("high", "names eve@evil.com")
        await answered(guard, first, "fine")
        again = await context(guard, await holding(guard.client(), text="mail it to bob@evil.com"))
        assert (again["risk"]["level"], clauses(again)[-1]) == ("low", "names bob@evil.com")


async def test_earlier_answers_are_told_and_the_arguments_compared_with_the_last_one_allowed(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **AT_ONCE) as guard:
        desk, lab = await granted(guard, "desk"), await granted(guard, "lab")
        client = guard.client(token=desk.token)
        await answered(guard, await holding(client, text="number one", same=1), "the first")
        last = await holding(client, text="number two", same=1)
        await answered(guard, last, "the second")
        await denied(guard, await holding(client, text="number three", same=1))
        revoked = await holding(client, text="number four")
        await answered(guard, revoked, "by mistake")
        await denied(guard, revoked)
        said = await context(guard, await holding(guard.client(token=lab.token), text="number five", same=1))
        answers = said["precedents"]["answers"]
        assert [(each["answer"], each["why"]) for each in answers] == [
            ("deny", DECISION.why),
            ("allow", "by mistake"),
            ("deny", DECISION.why),
            ("allow", "the second"),
            ("allow", "the first"),
        ]
        assert {each["caller"]["name"] for each in answers} == {"desk"}
        assert (said["precedents"]["allowed"], all(each["same_version"] for each in answers)) == (2, True)
        assert clauses(said)[1] == "allowed 2 times in 90 days, never for this caller"
        assert said["compared"]["ticket"] == last, "what was revoked later is no precedent"
        (change,) = said["compared"]["diff"]["changes"]
        assert change["path"] == "/text"
        assert [(span["fate"], span["text"]) for span in change["words"]] == [
            ("kept", "number "),
            ("removed", "two"),
            ("added", "five"),
        ]


async def test_where_bodies_are_not_kept_there_is_nothing_to_compare(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), audit__bodies="digest", **AT_ONCE) as guard:
        await answered(guard, await holding(guard.client(), text="one"), "fine")
        said = await context(guard, await holding(guard.client(), text="two"))
        assert said["compared"]["diff"] is None


async def test_what_its_caller_did_lately_is_told_and_nothing_of_others_or_before(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **AT_ONCE) as guard:
        desk, lab = await granted(guard, "desk"), await granted(guard, "lab")
        client = guard.client(token=desk.token)
        await client.call("web::add", {"a": 1, "b": 2})
        await guard.clock.advance(601)
        await client.call("web::add", {"a": 3, "b": 4})
        await client.call("web::nothing")
        await guard.client(token=lab.token).call("web::fail")
        said = await context(guard, await holding(client, text="hello"))
        made = [(each["verdict"], each["name"], each["reason"]) for each in said["recent"]["calls"]]
        assert made == [("deny", "nothing", "capability:unknown"), ("allow", "add", "")]
        assert (said["recent"]["denied"], said["risk"]["level"]) == (1, "low")


async def test_a_caller_who_tried_what_has_changed_is_a_risk(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **AT_ONCE) as guard:
        client = guard.client(token=(await granted(guard, "desk")).token)
        next(each for each in script.tools if each["name"] == "add")["description"] = "Another one."
        await changed(guard, script)
        assert refusal(await client.call("web::add", {"a": 1, "b": 2}))["reason"] == "capability:changed"
        said = await context(guard, await holding(client, text="hello"))
        assert said["risk"]["level"] == "high"
        assert clauses(said)[-1] == "its caller was just denied changed or blocked tools once"


async def test_only_the_waiting_call_has_its_context_in_the_list(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **AT_ONCE) as guard:
        await denied(guard, await holding(guard.client(), text="one"))
        await holding(guard.client(), text="two")
        every = await guard.now.guard.held.every_in_context()
        assert [(each["state"], each["context"] is None) for each in every] == [("denied", True), ("waiting", False)]
        waiting = await held(guard)
        assert (waiting["sent"]["name"], waiting["sent"]["arguments"]) == ("echo", {"text": "two"})
