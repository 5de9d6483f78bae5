"""Nothing with grave findings becomes callable before a person has said to have read them, whichever way they come."""

from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import Answer, Approval, Forbidden, Unread
from mcpguard.guard.review.confirmations import findings_to_confirm
from tests import review
from tests.attacks.unread import FORECAST, approve, one, rules
from tests.people import NARROW
from tests.web.reviewing import (
    POISONED,
    SERVERS,
    WHY,
    approved,
    decisions,
    inspected,
    said,
    seen,
    show,
    unchanged,
)
from tests.world import World, world

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
TOOL = CapabilityKind.TOOL


async def test_an_approval_of_everything_leaves_out_what_nobody_said_to_have_read(guard: World) -> None:
    server = await inspected(guard, "weather", **POISONED)
    done = await approve(guard)
    assert done["unread"]["tool:forecast"] == rules(server, "forecast")
    now = await show(guard, "weather")
    left = [each for each in now["capabilities"] if rules(now, each["name"])]
    assert len(left) == len(done["unread"]) > 3
    assert {(each["standing"], each["waits"], each["callable"]) for each in left} == {("pending", True, False)}
    (waiting,) = guard.now.guard.inbox.every()
    assert FORECAST in {(pin.kind, pin.name) for pin in waiting.pins}, "and it stays in the inbox"
    assert not [each for each in decisions(guard) if each.get("name") == "forecast"]


@pytest.mark.parametrize("stated", [[], ["secrecy.order"], ["no.such.rule"]])
async def test_other_findings_than_those_that_stand_are_not_enough(guard: World, stated: list[str]) -> None:
    await inspected(guard, "weather", **POISONED)
    done = await approve(guard, only=["tool:forecast"], findings_read={"tool:forecast": stated})
    assert done["approved"] == []
    assert "tool:forecast" in done["unread"]
    assert one(await show(guard, "weather"), "forecast")["waits"]


async def test_what_was_read_of_one_is_not_read_of_another(guard: World) -> None:
    server = await inspected(guard, "weather", **POISONED)
    every = sorted({rule for each in server["capabilities"] for rule in rules(server, each["name"])})
    done = await approve(guard, findings_read={"tool:forecast": every, "tool:nothing": every, "server": every})
    assert "tool:set_units" in done["unread"]
    assert "tool:forecast" in {f"{each['kind']}:{each['name']}" for each in done["approved"]}
    (record,) = (each for each in decisions(guard) if each.get("name") == "forecast")
    assert record["read"].split() == rules(server, "forecast"), "and the record names those alone that were there"


async def test_a_single_one_is_refused_unread_and_approved_when_read(guard: World) -> None:
    server = await inspected(guard, "weather", **POISONED)
    about = one(server, "forecast")
    body = {"why": WHY, "kind": "tool", "name": "forecast", "seen": about["fingerprint"]}
    url = f"{SERVERS}/weather/capability/approve"
    refused = await guard.operator.post(url, json=body)
    assert (refused.status_code, "grave findings" in refused.json()["detail"]) == (422, True)
    await unchanged(guard, server, 0)
    now = said(await guard.operator.post(url, json=body | {"findings_read": rules(server, "forecast")}))
    assert now["standing"] == "approved"


async def test_no_less_careful_effect_is_assigned_unread(guard: World) -> None:
    await inspected(guard, "weather", **POISONED)
    known = guard.now.guard.servers.find("weather")
    assert known is not None
    shown = await review.seen(guard.now, "weather")
    decide = guard.now.guard.decisions
    first = Approval(shown, frozenset({FORECAST}), {"forecast": Effect.WRITE}, read=findings_to_confirm(known).rules)
    await decide.approve("weather", first, review.DECISION)
    print_ = shown.capabilities[FORECAST]
    with pytest.raises(Unread):
        await decide.decide("weather", FORECAST, Answer.APPROVE, print_, review.DECISION, Effect.READ)
    assert known.pins[FORECAST].effect is Effect.WRITE
    assert await decide.decide("weather", FORECAST, Answer.APPROVE, print_, review.DECISION, Effect.DESTRUCTIVE)
    done = await decide.approve("weather", Approval(shown, frozenset({FORECAST})), review.DECISION)
    assert done.unread == {}, "what stands approved is not asked for again"


async def test_a_server_whose_launch_has_grave_findings_stays_in_quarantine_unread(guard: World) -> None:
    code = "from mcpguard.demo.notes import Notes; from mcpguard.demo.stdio import serve; serve(Notes())"
    server = await inspected(guard, "inline", args=["-c", code])
    assert server["observed"], "nothing else keeps it from being approved"
    body = {"why": WHY, "seen": seen(server)}
    refused = await guard.operator.post(f"{SERVERS}/inline/approve", json=body)
    assert (refused.status_code, "launch.inline" in refused.json()["detail"]) == (422, True)
    await unchanged(guard, server, 0)
    await approve(guard, "inline", findings_read={"server": ["launch.inline", "no.such.rule"]})
    assert (await show(guard, "inline"))["standing"] == "approved"
    (record,) = (each for each in decisions(guard) if "capability" not in each)
    assert record["read"] == "launch.inline", "and the record names what was there"


async def test_who_may_only_tighten_approves_nothing_by_saying_that_it_was_read(guard: World) -> None:
    server = await inspected(guard, "weather", **POISONED)
    known = guard.now.guard.servers.find("weather")
    assert known is not None
    approval = Approval(await review.seen(guard.now, "weather"), read=findings_to_confirm(known).rules)
    with pytest.raises(Forbidden):
        await guard.now.guard.decisions.approve("weather", approval, NARROW)
    await unchanged(guard, server, 0)


async def test_an_approval_of_one_takes_nothing_from_the_others(guard: World) -> None:
    await approved(guard, may_ask=["roots"], prefixes=["note://a/"])
    before = await show(guard)
    await approve(guard, "notes", only=["tool:read_note"])
    now = await show(guard)
    assert (now["may_ask"], now["prefixes"]) == (["roots"], ["note://a/"])
    assert [each["standing"] for each in now["capabilities"]] == [each["standing"] for each in before["capabilities"]]
    assert now["generation"] == before["generation"], "so nothing is restarted"


async def test_what_is_left_out_by_name_is_refused_and_waits_for_nobody(guard: World) -> None:
    await approved(guard)
    await approve(guard, "notes", only=["tool:read_note"], left_out=["tool:list_notes"])
    left = one(await show(guard), "list_notes")
    assert (left["standing"], left["waits"], left["callable"]) == ("pending", False, False)
    assert guard.now.guard.inbox.every() == []
    about = [each["answer"] for each in decisions(guard) if each.get("name") == "list_notes"]
    assert about == ["approve", "revoke", "reject"]


@pytest.mark.parametrize("left_out", [["tool:read_note"], ["tool:nothing"]])
async def test_what_is_both_or_neither_is_not_left_out(guard: World, left_out: list[str]) -> None:
    server = await inspected(guard)
    body = {"why": WHY, "seen": seen(server), "only": ["tool:read_note"], "left_out": left_out}
    assert (await guard.operator.post(f"{SERVERS}/notes/approve", json=body)).status_code == 422
    await unchanged(guard, server, 0)


async def test_all_findings_but_one_are_not_enough(guard: World) -> None:
    server = await inspected(guard, "weather", **POISONED)
    tools = (each["name"] for each in server["capabilities"] if each["kind"] == "tool")
    (one_, *_) = (name for name in tools if len(rules(server, name)) > 1)
    *some, last = rules(server, one_)
    done = await approve(guard, only=[f"tool:{one_}"], findings_read={f"tool:{one_}": some})
    assert done["unread"] == {f"tool:{one_}": [last]}
    assert done["approved"] == []


@pytest.mark.parametrize("roundabout", [("block", "unblock"), ("reject",)])
async def test_no_way_round_makes_it_read(guard: World, roundabout: tuple[str, ...]) -> None:
    server = await inspected(guard, "weather", **POISONED)
    url, print_ = f"{SERVERS}/weather/capability", one(server, "forecast")["fingerprint"]
    about = {"why": WHY, "kind": "tool", "name": "forecast", "seen": print_}
    for answer in roundabout:
        said(await guard.operator.post(f"{url}/{answer}", json=about))
    before, records = await show(guard, "weather"), len(decisions(guard))
    assert (await guard.operator.post(f"{url}/approve", json=about)).status_code == 422
    await unchanged(guard, before, records)


async def test_a_guard_that_was_started_anew_asks_for_what_was_found_before(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        server = await inspected(guard, "weather", **POISONED)
    async with world(tmp_path) as guard:
        done = await approve(guard)
        assert done["unread"]["tool:forecast"] == rules(server, "forecast")
        assert one(await show(guard, "weather"), "forecast")["standing"] == "pending"


async def test_what_is_left_out_unread_waits_for_somebody_who_reads_it(guard: World) -> None:
    server = await inspected(guard, "weather", **POISONED)
    left_out = ["tool:forecast", "tool:set_units"]
    read = {"tool:set_units": rules(server, "set_units")}
    await approve(guard, only=["tool:wind"], left_out=left_out, findings_read=read)
    now = await show(guard, "weather")
    assert (one(now, "forecast")["standing"], one(now, "forecast")["waits"]) == ("pending", True)
    assert (one(now, "set_units")["standing"], one(now, "set_units")["waits"]) == ("pending", False)
    assert [each["answer"] for each in decisions(guard) if each.get("name") == "forecast"] == []
    assert [each["answer"] for each in decisions(guard) if each.get("name") == "set_units"] == ["reject"]
