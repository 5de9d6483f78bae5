"""Changing how a server is launched or reached, in the console: what that costs is said before."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.domain.people import Role
from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.upstreams import Transport, Upstream
from mcpguard.guard.review.server_json import shown_launch
from mcpguard.guard.servers.registry import ServerState
from mcpguard.web.forms import SentForm
from mcpguard.web.pages.servers.declaration_form import as_typed, patch_of
from tests.tiers import examples
from tests.web.pages.filling import Page, Reviewer, reviewer
from tests.web.reviewing import HONEST, WHY, add, approved, decide, decisions, inspected, show, unchanged
from tests.world import World

pytestmark = pytest.mark.anyio
EDIT = "/servers/notes/edit"
CONFIGURATION = "/servers/notes/configuration"
FAR = {"command": None, "args": None, "cwd": None, "sandbox": None, "url": "https://mcp.example/mcp"}


async def edited(by: Reviewer, **changed: str | list[str]) -> Page:
    return await by.send(await by.open(EDIT), EDIT, **changed)


def declared(guard: World, name: str = "notes") -> Any:  # noqa: ANN401 - either launch
    known = guard.now.guard.servers.find(name)
    assert known is not None
    return known.declared.launch


async def test_an_approved_server_is_told_to_go_back_to_quarantine_and_does(guard: World, tmp_path: Path) -> None:
    before = await approved(guard)
    by = await reviewer(guard)
    assert "Save and quarantine" in (await by.open(EDIT)).answer.text
    page = await edited(by, environment="MODE=${env:MODE}\r\n", mounts=f"{tmp_path}:rw\r\n")
    assert "notes is quarantined, because what runs has changed" in page.text
    now = await show(guard)
    assert (now["standing"], now["revision"], now["approved_now"]) == ("quarantined", before["revision"] + 1, 0)
    launch = declared(guard)
    assert dict(launch.environment) == {"MODE": "${env:MODE}"}
    assert [str(each) for each in launch.mounts] == [f"{tmp_path}:rw"]
    assert (launch.command, list(launch.arguments)) == (HONEST["command"], HONEST["args"]), "the rest stays"
    record = next(each for each in reversed(guard.said()) if each["kind"] == "admitted")
    assert (record["change"], record["via"]) == ("changed", "console")
    assert record["by"].endswith("(ada)")


async def test_a_new_sandbox_is_declared(guard: World) -> None:
    await approved(guard)
    await edited(await reviewer(guard), sandbox="contained")
    now = await show(guard)
    assert (now["standing"], now["sandbox"]) == ("quarantined", "contained")


async def test_headers_of_a_remote_server_are_changed_one_by_one(guard: World) -> None:
    config = {"url": "https://mcp.example/mcp", "headers": {"A": "${env:A}", "B": "literal-b", "C": "literal-c"}}
    await guard.operator.post("/api/v1/servers", json={"name": "far", "config": config})
    by, at = await reviewer(guard), "/servers/far/edit"
    page = await by.open(at)
    assert "literal" not in page.answer.text
    assert page.offers(at, "drop") == ["B", "C"]
    await by.send(page, at, headers="A: ${env:OTHER}\nD: ${env:D}\n", drop="B")
    assert dict(declared(guard, "far").headers) == {"A": "${env:OTHER}", "C": "literal-c", "D": "${env:D}"}
    assert (await by.open(at)).offers(at, "command") == [], "a remote server has no command"


async def test_a_value_that_is_not_shown_is_replaced_by_name_and_kept_otherwise(guard: World) -> None:
    await add(guard, env={"KEY": "plain-secret", "TOKEN": "${env:TOKEN}", "OLD": "old-secret"})
    by = await reviewer(guard)
    page = await by.open(EDIT)
    assert page.holds(EDIT, "environment") == ["TOKEN=${env:TOKEN}"]
    assert "plain-secret" not in page.answer.text
    await edited(by, environment="OLD=${file:/run/old}\n")
    assert dict(declared(guard).environment) == {"KEY": "plain-secret", "OLD": "${file:/run/old}"}


async def test_a_value_of_several_lines_becomes_no_variables_of_their_own(guard: World) -> None:
    await add(guard, env={"NODE_OPTIONS": "--one\nLD_PRELOAD=/tmp/x.so"})
    by = await reviewer(guard)
    await edited(by, folder="/srv")
    assert dict(declared(guard).environment) == {"NODE_OPTIONS": "--one\nLD_PRELOAD=/tmp/x.so"}
    page = await edited(by, environment="NODE_OPTIONS=--one\nLD_PRELOAD=/tmp/x.so\nMODE=1")
    assert page.status == 422
    assert "cannot be written on a line" in page.text
    assert dict(declared(guard).environment) == {"NODE_OPTIONS": "--one\nLD_PRELOAD=/tmp/x.so"}


async def test_what_is_not_changed_is_not_saved(guard: World) -> None:
    server = await approved(guard)
    count = len(decisions(guard))
    page = await edited(await reviewer(guard))
    assert "Nothing was changed." in page.text
    await unchanged(guard, server, count)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"environment": "no-equals-sign"}, "line 1 is not a variable"),
        ({"environment": "A=${nothing"}, "A"),
        ({"sandbox": "everything"}, "sandbox"),
        ({"mounts": "relative/folder"}, "relative/folder"),
        ({"command": ""}, "command"),
        ({"arguments": "--token\nsk-proj-" + "a1B2c3D4" * 8}, "looks like a secret"),
        ({"arguments": "⟨secret, not shown⟩"}, "stands for a value that is not shown"),
        ({"revision": "x"}, "reload the page"),
    ],
)
async def test_what_cannot_be_declared_is_refused_with_all_that_was_typed(
    guard: World, changed: dict[str, str], problem: str
) -> None:
    server = await approved(guard)
    count = len(decisions(guard))
    page = await edited(await reviewer(guard), folder="/srv/typed", **changed)
    assert page.status in (400, 422)
    assert problem in page.text
    assert page.holds(EDIT, "folder") == ["/srv/typed"]
    await unchanged(guard, server, count)
    assert guard.now.guard.servers.find("notes") is not None


async def test_a_page_that_another_change_made_old_changes_nothing(guard: World) -> None:
    await approved(guard)
    by = await reviewer(guard)
    old = await by.open(EDIT)
    await decide(guard, "block", "read_note")
    server = await show(guard)
    count = len(decisions(guard))
    page = await by.send(old, EDIT, folder="/srv")
    assert page.status == 409
    await unchanged(guard, server, count)


async def test_only_who_may_decide_may_edit_restart_or_pin(guard: World) -> None:
    server = await approved(guard)
    count = len(decisions(guard))
    by = await reviewer(guard, Role.AUDITOR)
    assert (await by.open(EDIT)).status == 403
    tag = guard.now.guard.queries.tag("notes")
    for path, sent in (
        (EDIT, {"folder": "/srv", "revision": str(server["revision"])}),
        (CONFIGURATION, {"decision": "restart", "why": WHY}),
        (CONFIGURATION, {"decision": "pin", "revision": str(server["revision"])}),
    ):
        answer = await guard.network.post(path, data={"seen": tag, **sent}, headers=by.headers)
        assert answer.status_code == 403
    await unchanged(guard, server, count)


async def test_a_restart_starts_it_again_with_a_record(guard: World) -> None:
    server = await approved(guard)
    by = await reviewer(guard)
    since = (await show(guard))["since"]
    sent = {"seen": guard.now.guard.queries.tag("notes"), "decision": "restart", "why": WHY}
    answer = await guard.network.post(CONFIGURATION, data=sent, headers=by.headers)
    page = await by.follow(answer.headers["location"])
    assert "Restarting notes. Calls wait until it is ready." in page.text
    record = decisions(guard)[-1]
    assert (record["answer"], record["before"], record["after"], record["why"]) == (
        "restart",
        "approved",
        "approved",
        WHY,
    )
    now = await show(guard)
    assert (now["standing"], now["revision"]) == ("approved", server["revision"])
    assert now["since"] > since


@pytest.mark.parametrize("answer", ["disable", "quarantine", "block"])
async def test_what_does_not_run_is_not_restarted(guard: World, answer: str) -> None:
    await approved(guard)
    await guard.operator.post(f"/api/v1/servers/notes/{answer}", json={"why": WHY})
    server = await show(guard)
    count = len(decisions(guard))
    by = await reviewer(guard)
    tag = guard.now.guard.queries.tag("notes")
    sent = {"seen": tag, "decision": "restart", "why": WHY}
    page = Page(await guard.network.post(CONFIGURATION, data=sent, headers=by.headers))
    assert page.status == 422
    assert "so it does not run" in page.text
    await unchanged(guard, server, count)


async def test_what_no_inspection_showed_is_not_pinned(guard: World) -> None:
    server = await inspected(guard)
    count = len(decisions(guard))
    answer = await guard.operator.post("/api/v1/servers/notes/pin", json={"revision": server["revision"]})
    assert answer.status_code == 422
    assert "inspect it first" in answer.text
    assert server["pinned_arguments"] is None
    await unchanged(guard, server, count)


NAMES = st.one_of(
    st.sampled_from(["NODE_OPTIONS", "PYTHONPATH"]), st.from_regex(r"[A-Z][A-Z0-9_]{0,8}", fullmatch=True)
)
LINES = st.sampled_from(["${env:X}", "one\nTWO=2", " ${env:X}\n"])
VALUES = st.one_of(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12), LINES)
GIVEN = st.dictionaries(NAMES, VALUES, max_size=5)
ARGUMENTS = st.lists(st.text(max_size=8), max_size=4)
LAUNCHES = st.one_of(
    st.builds(lambda args, env: StdioLaunch("/bin/server", tuple(args), env), ARGUMENTS, GIVEN),
    st.builds(lambda headers: RemoteLaunch(Transport.HTTP, "https://mcp.example/mcp", headers), GIVEN),
)


@settings(max_examples=examples(100))
@given(LAUNCHES)
def test_a_form_that_is_sent_as_it_came_changes_nothing(launch: StdioLaunch | RemoteLaunch) -> None:
    known = ServerState(Upstream("1", "a", launch.transport), DeclaredServer("a", "a", launch))
    shown = shown_launch(known.declared)
    typed = as_typed(known, shown)
    sent = [(name, text.replace("\r\n", "\n").replace("\r", "\n")) for name, text in typed.items()]
    assert patch_of(SentForm(sent), known, shown) == {}
