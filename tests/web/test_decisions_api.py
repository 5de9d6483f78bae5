"""What an operator decides over REST: it is carried out exactly, recorded with its reason, or nothing happens."""

import os
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcpguard.domain.decisions import LONGEST_WHY
from mcpguard.web.api.api_door import Api
from mcpguard.web.operator import operator_app
from tests.attacks.sandboxed import works
from tests.web.reviewing import (
    CONFINED,
    HONEST,
    SERVERS,
    SOURCES,
    WHY,
    Json,
    add,
    approved,
    decide,
    decisions,
    inspected,
    problem,
    ready,
    said,
    seen,
    show,
    standings,
    tool,
    unchanged,
)
from tests.world import World, world

pytestmark = pytest.mark.anyio
OTHER = "v1:" + "0" * 64


# A server comes, is looked at, and is approved.


async def test_what_is_added_waits_for_a_person(guard: World) -> None:
    answer = await guard.operator.post(SERVERS, json={"name": "My-Notes", "config": HONEST})
    server = said(answer, 201)
    assert answer.headers["location"] == f"{SERVERS}/my-notes"
    assert (server["name"], server["label"], server["standing"]) == ("my-notes", "My-Notes", "quarantined")
    assert server["observed"] is None
    assert server["capabilities"] == []
    (listed,) = said(await guard.operator.get(SERVERS))["servers"]
    assert (listed["name"], listed["standing"], listed["fingerprint"]) == (
        "my-notes",
        "quarantined",
        server["fingerprint"],
    )
    (record,) = [each for each in guard.said() if each["kind"] == "admitted"]
    assert record["by"].startswith(f"uid:{os.getuid()}")
    assert record["via"] == "operator socket"
    assert f"({os.getpid()})" in record["process"]


async def test_nothing_runs_before_a_person_consents(guard: World) -> None:
    await add(guard)
    told = problem(await guard.operator.post(f"{SERVERS}/notes/inspect", json={}), 422)
    assert told["type"] == "urn:mcpguard:needs-consent"
    assert HONEST["command"] in told["detail"]
    assert (await show(guard))["observed"] is None
    assert not [each for each in guard.said() if each["kind"] == "inspected"]


async def test_what_nobody_has_seen_cannot_be_approved(guard: World) -> None:
    server = await add(guard)
    body = {"why": WHY, "seen": seen(server)}
    problem(await guard.operator.post(f"{SERVERS}/notes/approve", json=body), 422)
    await unchanged(guard, server, 0)


async def test_an_inspected_server_lists_what_it_offers_and_offers_it_to_nobody(guard: World) -> None:
    await add(guard)
    counts = said(await guard.operator.post(f"{SERVERS}/notes/inspect", json={"consent": True}))
    server = await show(guard)
    assert (counts["started"], counts["error"]) == (True, "")
    assert counts["capabilities"] == counts["new"] == len(server["capabilities"]) > 0
    assert {*standings(server).values()} == {"pending"}
    assert (server["standing"], bool(server["observed"])) == ("quarantined", True)
    answer = await ready(guard, "read_note")
    assert (answer["answer"], answer["reasons"][0]["reason"]) == ("blocked", "server:quarantined")


async def test_what_is_approved_can_be_called_and_says_who_approved_it_and_why(guard: World) -> None:
    server = await inspected(guard)
    body = {"why": WHY, "seen": seen(server), "effects": {"read_note": "destructive"}, "may_ask": ["roots"]}
    done = said(await guard.operator.post(f"{SERVERS}/notes/approve", json=body))
    effects = {each["name"]: (each["effect"], each["given"]) for each in done["approved"] if each["kind"] == "tool"}
    assert effects["read_note"] == ("destructive", True)
    assert effects["list_notes"] == ("read", False)
    assert effects["delete_note"] == ("destructive", False)
    assert done["waiting"] == []
    now = await show(guard)
    assert (now["standing"], now["may_ask"]) == ("approved", ["roots"])
    assert now["approved"] == {"launch": server["fingerprint"], "observed": server["observed"]}
    assert {*standings(now).values()} == {"approved"}
    assert (await ready(guard, "read_note"))["answer"] == "ready"
    records = decisions(guard)
    assert len(records) == 1 + len(server["capabilities"])
    assert {(each["answer"], each["why"]) for each in records} == {("approve", WHY)}
    assert len({each["decision"] for each in records}) == 1


async def test_how_it_is_confined_is_chosen_in_the_approval(guard: World) -> None:
    works()
    await add(guard, **CONFINED)
    said(await guard.operator.post(f"{SERVERS}/notes/inspect", json={}))
    server = await show(guard)
    assert [each["need"] for each in server["confinement"]["needs"]] == ["writing"]
    body = {"why": WHY, "seen": seen(server)}
    for chosen in ({"sandbox": "none"}, {"mounts": ["notes"]}):
        assert problem(await guard.operator.post(f"{SERVERS}/notes/approve", json=body | chosen), 422)
        await unchanged(guard, server, 0)
    said(await guard.operator.post(f"{SERVERS}/notes/approve", json=body | {"sandbox": "contained"}))
    now = await show(guard)
    box = now["confinement"]
    assert (box["profile"], box["declared"], box["chosen"], box["mounts"]) == ("contained", "strict", True, [SOURCES])
    assert now["approved"]["launch"] == now["fingerprint"] != server["fingerprint"]
    (decision,) = [each for each in decisions(guard) if "capability" not in each]
    assert (decision["profile"], decision["mounts"]) == ("contained", SOURCES)


async def test_what_is_not_chosen_waits(guard: World) -> None:
    now = await approved(guard, only=["tool:read_note", "resource:notes://about"])
    stand = standings(now)
    assert [key for key, standing in stand.items() if standing == "approved"] == [
        "resource:notes://about",
        "tool:read_note",
    ]
    assert (await ready(guard, "read_note"))["answer"] == "ready"
    assert (await ready(guard, "list_notes"))["reasons"][0]["reason"] == "capability:pending"


@pytest.mark.parametrize(
    "other",
    [
        {"launch": OTHER},
        {"observed": OTHER},
        {"observed": None},
        {"capabilities": {}},
        {"capabilities": {"tool:read_note": OTHER}},
        {"capabilities": {"tool:more": OTHER}},
    ],
    ids=repr,
)
async def test_a_stale_approval_changes_nothing_and_says_what_moved(guard: World, other: dict[str, Any]) -> None:
    server = await inspected(guard)
    looked = seen(server)
    if other.get("capabilities"):
        other = {"capabilities": looked["capabilities"] | other["capabilities"]}
    body = {"why": WHY, "seen": looked | other}
    told = problem(await guard.operator.post(f"{SERVERS}/notes/approve", json=body), 409)
    assert told["type"] == "urn:mcpguard:stale"
    assert told["moved"]
    await unchanged(guard, server, 0)


# Whoever decides says why, and is somebody.


@pytest.mark.parametrize("why", ["", "  \n", "x" * (LONGEST_WHY + 1), None], ids=["none", "blank", "long", "null"])
@pytest.mark.parametrize(
    "answer", ["approve", "reject", "quarantine", "block", "enable", "disable", "permit", "screen"]
)
async def test_a_decision_about_a_server_needs_its_reason(guard: World, answer: str, why: str | None) -> None:
    server = await inspected(guard)
    needed: dict[str, Json] = {"approve": {"seen": seen(server)}, "permit": {"kinds": []}, "screen": {"mode": "mask"}}
    told = problem(
        await guard.operator.post(f"{SERVERS}/notes/{answer}", json={"why": why} | needed.get(answer, {})), 422
    )
    assert "body.why" in told["detail"]
    await unchanged(guard, server, 0)


@pytest.mark.parametrize("answer", ["approve", "revoke", "block", "unblock", "reject"])
async def test_a_decision_about_a_capability_needs_its_reason(guard: World, answer: str) -> None:
    server = await inspected(guard)
    problem(await decide(guard, answer, "read_note", why=" ", seen=tool(server, "read_note")["fingerprint"]), 422)
    await unchanged(guard, server, 0)


async def test_whoever_is_not_known_decides_nothing(guard: World) -> None:
    server = await inspected(guard)
    nobody = operator_app(guard.now.guard, Api(guard.now.guard), guard.new_id)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(nobody), base_url="http://operator") as client:
        problem(await client.post(f"{SERVERS}/notes/block", json={"why": WHY}), 401)
        problem(await client.post(SERVERS, json={"name": "more", "config": HONEST}), 401)
        problem(await client.delete(f"{SERVERS}/notes", params={"revision": 1}), 401)
    await unchanged(guard, server, 0)
    assert len(said(await guard.operator.get(SERVERS))["servers"]) == 1


async def test_a_shell_that_may_only_tighten_lets_nothing_more_happen(tmp_path: Path) -> None:
    async with world(tmp_path, authority__shell="tighten") as guard:
        server = await add(guard)
        body = {"why": WHY, "seen": seen(server)}
        problem(await guard.operator.post(f"{SERVERS}/notes/approve", json=body), 403)
        problem(await guard.operator.post(f"{SERVERS}/notes/inspect", json={"consent": True}), 403)
        problem(await guard.operator.post(f"{SERVERS}/notes/permit", json={"why": WHY, "kinds": ["roots"]}), 403)
        problem(await guard.operator.post(f"{SERVERS}/notes/screen", json={"why": WHY, "mode": "off"}), 403)
        await unchanged(guard, server, 0)
        blocked = said(await guard.operator.post(f"{SERVERS}/notes/block", json={"why": WHY}))
        assert blocked["standing"] == "blocked"


@pytest.mark.parametrize("path", ["", "/notes", "/notes/capability?kind=tool&name=x"])
async def test_the_network_tells_nobody_of_this(guard: World, path: str) -> None:
    problem(await guard.network.get(SERVERS + path), 401)


# What cannot be done.


async def test_what_is_not_there_is_404(guard: World) -> None:
    why, key = {"why": WHY}, {"kind": "tool", "name": "x"}
    asked: list[tuple[str, str, Json | None]] = [
        ("GET", "", None),
        ("PATCH", "", {"revision": 1, "patch": {}}),
        ("DELETE", "?revision=1", None),
        ("POST", "/inspect", {"consent": True}),
        ("POST", "/approve", why | {"seen": {"launch": OTHER, "observed": OTHER, "capabilities": {}}}),
        ("POST", "/permit", why | {"kinds": []}),
        ("POST", "/screen", why | {"mode": "mask"}),
        *(("POST", f"/{answer}", why) for answer in ("reject", "quarantine", "block", "enable", "disable")),
        ("GET", "/capability?kind=tool&name=x", None),
        ("GET", "/capability/diff?kind=tool&name=x", None),
        ("GET", "/capability/explain?kind=tool&name=x", None),
        *(("POST", f"/capability/{answer}", why | key | {"seen": OTHER}) for answer in ("approve", "revoke", "block")),
    ]
    for method, path, body in asked:
        answer = await guard.operator.request(method, f"{SERVERS}/nothing{path}", json=body)
        assert problem(answer, 404)["type"] == "urn:mcpguard:unknown", (method, path)
    assert decisions(guard) == []


async def test_a_name_is_given_once(guard: World) -> None:
    server = await add(guard)
    answer = await guard.operator.post(SERVERS, json={"name": "NOTES", "config": {"url": "https://x.example/mcp"}})
    assert problem(answer, 409)["type"] == "urn:mcpguard:name-taken"
    assert await show(guard) | {"notices": []} == server


@pytest.mark.parametrize(
    "config", [{}, {"command": ""}, {"command": "x", "url": "https://x.example/"}, {"command": 7}, {"url": "nowhere"}]
)
async def test_what_declares_no_server_is_told_why(guard: World, config: Json) -> None:
    told = problem(await guard.operator.post(SERVERS, json={"name": "x", "config": config}), 422)
    assert told["type"] == "urn:mcpguard:not-declared"
    assert told["problems"]
    assert said(await guard.operator.get(SERVERS))["servers"] == []


async def test_a_patch_changes_what_it_names_and_puts_another_launch_back_into_quarantine(guard: World) -> None:
    server = await approved(guard)
    config = {"revision": server["revision"], "patch": {"args": ["-m", "mcpguard.demo", "poisoned"]}}
    now = said(await guard.operator.patch(f"{SERVERS}/notes", json=config))
    assert (now["standing"], now["revision"]) == ("quarantined", server["revision"] + 1)
    assert now["launch"]["arguments"] == ["-m", "mcpguard.demo", "poisoned"]
    assert now["launch"]["command"] == server["launch"]["command"]
    assert now["fingerprint"] != server["fingerprint"]
    assert "approved" not in standings(now).values()


async def test_an_edit_of_an_older_revision_changes_nothing(guard: World) -> None:
    server = await add(guard)
    older = server["revision"] - 1
    patch = {"revision": older, "patch": {"args": []}}
    told = problem(await guard.operator.patch(f"{SERVERS}/notes", json=patch), 409)
    assert told["moved"]
    problem(await guard.operator.delete(f"{SERVERS}/notes", params={"revision": older}), 409)
    problem(await guard.operator.delete(f"{SERVERS}/notes"), 422)
    assert await show(guard) | {"notices": []} == server


async def test_what_is_removed_is_gone(guard: World) -> None:
    server = await add(guard)
    answer = await guard.operator.delete(f"{SERVERS}/notes", params={"revision": server["revision"]})
    assert (answer.status_code, answer.content) == (204, b"")
    problem(await guard.operator.get(f"{SERVERS}/notes"), 404)
    assert said(await guard.operator.get(SERVERS))["servers"] == []


async def test_a_server_is_switched_off_and_on_blocked_and_taken_back(guard: World) -> None:
    await approved(guard)
    for answer, standing, enabled in (
        ("disable", "approved", False),
        ("enable", "approved", True),
        ("block", "blocked", True),
        ("quarantine", "quarantined", True),
    ):
        now = said(await guard.operator.post(f"{SERVERS}/notes/{answer}", json={"why": WHY}))
        assert (now["standing"], now["enabled"]) == (standing, enabled)
        if answer != "enable":
            assert (await ready(guard, "read_note"))["answer"] == "blocked"
    told = problem(await guard.operator.post(f"{SERVERS}/notes/quarantine", json={"why": WHY}), 409)
    assert told["type"] == "urn:mcpguard:illegal-move"


async def test_how_a_server_is_screened_is_decided_and_recorded(guard: World) -> None:
    server = await approved(guard)
    assert (server["screening"], server["screening_decided"]) == ("note", False)
    for mode, stands, decided in (("refuse", "refuse", True), ("off", "off", True), ("default", "note", False)):
        shown = said(await guard.operator.post(f"{SERVERS}/notes/screen", json={"why": WHY, "mode": mode}))
        assert (shown["screening"], shown["screening_decided"]) == (stands, decided)
        record = decisions(guard)[-1]
        assert (record["answer"], record["screening"], record["why"]) == ("screen", mode, WHY)
    problem(await guard.operator.post(f"{SERVERS}/notes/screen", json={"why": WHY, "mode": "none"}), 422)


async def test_a_shell_that_may_only_tighten_makes_screening_stricter_and_not_looser(tmp_path: Path) -> None:
    async with world(tmp_path, authority__shell="tighten", screening__mode="mask") as guard:
        await add(guard)
        path, before = f"{SERVERS}/notes/screen", len(decisions(guard))
        for mode in ("note", "off"):
            problem(await guard.operator.post(path, json={"why": WHY, "mode": mode}), 403)
        assert said(await guard.operator.post(path, json={"why": WHY, "mode": "refuse"}))["screening"] == "refuse"
        for mode in ("default", "mask"):
            problem(await guard.operator.post(path, json={"why": WHY, "mode": mode}), 403)
        assert [each["screening"] for each in decisions(guard)[before:]] == ["refuse"]


async def test_what_a_server_may_ask_is_replaced_whole(guard: World) -> None:
    await approved(guard, may_ask=["roots"])
    for kinds in (["elicitation", "sampling"], []):
        body = {"why": WHY, "kinds": kinds}
        assert said(await guard.operator.post(f"{SERVERS}/notes/permit", json=body))["may_ask"] == kinds
