"""`isolation` and `oauth` in what a caller declares: a request that a person sees, and never a permission."""

import json
from pathlib import Path

import pytest

from mcpguard.guard.review.requests import DEEPEST, LARGEST
from tests.attacks.quarantined import upstream
from tests.gate import Gate, gate
from tests.gateway.servers_tool import CALLERS, PLAIN, SECOND, administrative, asked, declared, managed
from tests.review import PERSON
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
DEEP: Json = {}
for _ in range(DEEPEST):
    DEEP = {"a": DEEP}


async def seen(guard: Gate, name: str = "mine") -> list[tuple[str, Json, str]]:
    """What a person is shown that is asked for, and by whom."""
    server = await guard.now.guard.queries.server(name)
    return [(each["about"], json.loads(each["said"]), each["label"]) for each in server["requested"]]


async def test_the_examples_of_the_protocol_are_taken_as_requests(tmp_path: Path) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:
        given = {"command": "npx", "args_json": '["-y", "some-mcp-server"]'}
        said = await asked(
            guard, operation="add", name="mine", **given, isolation_json='{"enabled": true, "image": "node:20"}'
        )
        assert said["standing"] == "quarantined"
        assert "isolation was recorded as a request" in said["notices"][0]
        assert await seen(guard) == [("isolation", {"enabled": True, "image": "node:20"}, "manager")]
        before = declared(guard, "mine")
        await asked(guard, SECOND, operation="patch", name="mine", isolation_json='{"image": "node:22"}')
        assert await seen(guard) == [("isolation", {"enabled": True, "image": "node:22"}, "second")]
        await asked(guard, operation="update", name="mine", oauth_json='{"scopes": ["read"], "client_id": "x"}')
        wanted = {"isolation": {"enabled": True, "image": "node:22"}, "oauth": {"client_id": "x", "scopes": ["read"]}}
        assert {about: said for about, said, _ in await seen(guard)} == wanted
        assert declared(guard, "mine").launch == before.launch
        recorded = [each for each in administrative(guard) if each["kind"] == "admitted"]
        assert [(each["change"], each["by"]) for each in recorded] == [
            ("added", "caller-manager"),
            ("changed", "caller-second"),
            ("changed", "caller-manager"),
        ]
        assert json.loads(recorded[-1]["requested"]) == wanted
        await asked(guard, operation="patch", name="mine", isolation_json="null")
        assert [about for about, _, _ in await seen(guard)] == ["oauth"]


async def test_it_changes_nothing_of_a_server_that_runs(tmp_path: Path) -> None:
    script = Script()
    async with managed(tmp_path, script) as guard:
        before, catalog = upstream(guard), guard.now.guard.catalog
        how, heard = declared(guard, "web"), len(script.calls)
        said = await asked(
            guard, operation="patch", name="web", isolation={"enabled": False}, oauth={"scopes": ["all"]}
        )
        assert (said["standing"], len(said["notices"])) == ("approved", 2)
        after = upstream(guard)
        assert (after.standing, after.generation, after.identity) == (
            before.standing,
            before.generation,
            before.identity,
        )
        assert (declared(guard, "web").launch, guard.now.guard.catalog) == (how.launch, catalog)
        assert (await guard.client(token=PLAIN).call("web::add", {"a": 1, "b": 2})).result["content"]
        assert [each["method"] for each in script.calls[heard:]] == ["tools/call"], "it is not connected anew"
        entry = administrative(guard)[-1]
        assert (entry["kind"], entry["before"], entry["after"]) == ("admitted", "approved", "approved")
        assert json.loads(entry["requested"]) == {"isolation": {"enabled": False}, "oauth": {"scopes": ["all"]}}


@pytest.mark.parametrize("about", ["isolation", "oauth"])
@pytest.mark.parametrize(
    "said",
    [
        "none",
        7,
        ["x"],
        {"image": "x" * LARGEST},
        {f"m{number}": number for number in range(1000)},
        DEEP,
        {"a": [[[[["x"]]]]]},
        {"client_secret": "hunter2"},
        {"token": {"value": "x"}},
        {"image": SECRET},
        {SECRET: 1},
        {"image": "${file:/etc/passwd}"},
        {"image": "${env:HOME}"},
    ],
    ids=range(13),
)
async def test_a_hostile_request_is_refused_and_nothing_comes_of_it(about: str, said: object, tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        before, recorded = declared(guard, "web"), administrative(guard)
        member = {about: said}
        ways: list[Json] = [
            {"operation": "patch", "name": "web", **member},
            {"operation": "patch", "name": "web", f"{about}_json": json.dumps(said)},
            {"operation": "patch", "name": "web", "config": member},
            {"operation": "add", "name": "mine", "command": "x", **member},
            {"operation": "request", "name": "mine", "config": {"command": "x", **member}},
        ]
        for given in ways:
            told = await asked(guard, **given)
            assert told["reason"] == "arguments:invalid"
            assert len(told["expected"]) < 500
            assert SECRET not in json.dumps(told)
        assert (declared(guard, "web"), administrative(guard)) == (before, recorded)
        assert guard.now.guard.servers.find("mine") is None


async def test_what_cannot_be_seen_is_written_out(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        hidden = "node\u202e\u200b\x00\x1b[2J\x7f\n<script>alert(1)</script>"
        await asked(guard, operation="patch", name="web", isolation={"image": hidden})
        server = await guard.now.guard.queries.server("web")
        (kept,) = server["requested"]
        assert kept["said"].isascii()
        assert kept["said"].isprintable()
        assert json.loads(kept["said"]) == {"image": hidden}


async def test_what_grows_by_patches_is_bounded(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        said = [
            await asked(guard, operation="patch", name="web", isolation={f"m{number}": "x" * 400})
            for number in range(6)
        ]
        assert ["changed" in each for each in said] == [True] * 4 + [False] * 2


async def test_it_stays_when_a_person_changes_the_server_and_after_a_start(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        await asked(guard, operation="patch", name="web", isolation={"image": "node:22"})
        wanted = await seen(guard, "web")
        await guard.now.guard.admission.patch("web", {"timeout": 7}, upstream(guard).revision, PERSON)
        assert await seen(guard, "web") == wanted
        await guard.now.guard.servers.catch_up("web")  # as the store has it
        assert await seen(guard, "web") == wanted


async def test_who_may_not_manage_requests_it_with_the_server_alone(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        recorded = administrative(guard)
        refused = await asked(guard, PLAIN, operation="patch", name="web", isolation={"image": "x"})
        assert refused["reason"] == "authority:person"
        assert administrative(guard) == recorded
        await asked(
            guard, PLAIN, operation="request", name="mine", config={"command": "x", "isolation": {"image": "y"}}
        )
        assert await seen(guard) == [("isolation", {"image": "y"}, "plain")]
