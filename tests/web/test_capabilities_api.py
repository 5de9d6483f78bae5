"""What an operator asks and decides over REST about one capability."""

import pytest

from tests.web.reviewing import (
    SERVERS,
    WHY,
    add,
    approved,
    decide,
    decisions,
    inspected,
    problem,
    ready,
    said,
    tool,
    unchanged,
)
from tests.world import World

pytestmark = pytest.mark.anyio
OTHER = "v1:" + "0" * 64


async def test_a_capability_is_shown_with_its_definition_and_its_versions(guard: World) -> None:
    server = await inspected(guard)
    query = {"kind": "tool", "name": "read_note"}
    one = said(await guard.operator.get(f"{SERVERS}/notes/capability", params=query))
    assert tool(server, "read_note").items() <= one.items()
    assert one["definition"]["name"] == "read_note"
    assert one["complete"] is True
    assert "Returns the text of one note." in one["shown"]
    assert [each["fingerprint"] for each in one["versions"]] == [one["fingerprint"]]


async def test_a_resource_is_named_by_its_uri(guard: World) -> None:
    await inspected(guard)
    query = {"kind": "resource", "name": "notes://about"}
    assert said(await guard.operator.get(f"{SERVERS}/notes/capability", params=query))["name"] == "notes://about"


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "tool"},
        {"name": "x"},
        {"kind": "server", "name": "x"},
        {"kind": "tool", "name": "read_note", "before": "v1:0"},
    ],
    ids=repr,
)
async def test_a_question_without_its_form_is_422(guard: World, query: dict[str, str]) -> None:
    await add(guard)
    problem(await guard.operator.get(f"{SERVERS}/notes/capability/diff", params=query), 422)


async def test_a_tool_goes_through_every_decision(guard: World) -> None:
    server = await approved(guard)
    print_ = tool(server, "read_note")["fingerprint"]
    for answer, more, standing in (
        ("revoke", {"seen": print_}, "pending"),
        ("reject", {"seen": print_}, "pending"),
        ("approve", {"seen": print_, "effect": "write"}, "approved"),
        ("block", {}, "blocked"),
        ("unblock", {}, "pending"),
        ("approve", {"seen": print_}, "approved"),
    ):
        now = said(await decide(guard, answer, "read_note", **more))
        assert now["standing"] == standing, answer
        assert now["waits"] == (answer in {"revoke", "unblock"}), answer
        assert (await ready(guard, "read_note"))["answer"] == ("ready" if standing == "approved" else "blocked")
        assert (decisions(guard)[-1]["answer"], decisions(guard)[-1]["why"]) == (answer, WHY)
    assert now["assigned"] == "read"


@pytest.mark.parametrize("answer", ["approve", "revoke", "reject"])
@pytest.mark.parametrize("other", [OTHER, None], ids=["another", "none"])
async def test_a_decision_about_another_definition_changes_nothing(
    guard: World, answer: str, other: str | None
) -> None:
    server = await (approved if answer == "revoke" else inspected)(guard)
    records = len(decisions(guard))
    told = problem(await decide(guard, answer, "read_note", seen=other), 409)
    assert told["moved"]
    await unchanged(guard, server, records)


@pytest.mark.parametrize("answer", ["unblock", "revoke"])
async def test_a_move_that_leads_nowhere_changes_nothing(guard: World, answer: str) -> None:
    server = await inspected(guard)
    print_ = tool(server, "read_note")["fingerprint"]
    problem(await decide(guard, answer, "read_note", seen=print_), 409)
    await unchanged(guard, server, 0)


@pytest.mark.parametrize("answer", ["revoke", "block", "unblock", "reject"])
async def test_only_an_approval_assigns_an_effect(guard: World, answer: str) -> None:
    server = await approved(guard)
    records = len(decisions(guard))
    print_ = tool(server, "read_note")["fingerprint"]
    problem(await decide(guard, answer, "read_note", seen=print_, effect="read"), 422)
    await unchanged(guard, server, records)


async def test_there_is_no_other_answer(guard: World) -> None:
    server = await inspected(guard)
    assert (await decide(guard, "allow", "read_note")).status_code == 404
    problem(await guard.operator.put(f"{SERVERS}/notes", json={}), 405)
    await unchanged(guard, server, 0)
