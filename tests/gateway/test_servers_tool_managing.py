"""`upstream_servers` for a caller that may manage: what is new or launched otherwise is a person's to approve."""

import json
from pathlib import Path

import pytest

from mcpguard.domain.decisions import Decision
from mcpguard.domain.servers.launches import RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from tests.attacks.quarantined import standing, upstream
from tests.gate import Gate, gate
from tests.gateway.servers_tool import CALLERS, administrative, agent, asked, declared, managed
from tests.review import PERSON
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
CONFIG = {"command": "true", "args": ["-x"], "env": {"A": "1", "B": "2"}}
QUARANTINED, APPROVED, BLOCKED = UpstreamStanding.QUARANTINED, UpstreamStanding.APPROVED, UpstreamStanding.BLOCKED


def process(guard: Gate, name: str = "mine") -> StdioLaunch:
    launch = declared(guard, name).launch
    assert isinstance(launch, StdioLaunch)
    return launch


@pytest.mark.parametrize(
    "given",
    [
        {"operation": "add", "config": CONFIG},
        {"action": "add", "config": CONFIG},
        {"operation": "add", "command": "true", "args": ["-x"], "env": {"A": "1", "B": "2"}},
        {"operation": "add", "command": "true", "args_json": '["-x"]', "env_json": '{"A": "1", "B": "2"}'},
        {"operation": "add", "command": "true", "args_json": ["-x"], "env_json": {"A": "1", "B": "2"}},
        {"operation": "add", "command": ["true", "-x"], "env": {"A": "1", "B": "2"}, "enabled": True},
    ],
)
async def test_what_it_adds_in_any_form_lands_in_quarantine_in_its_name(given: Json, tmp_path: Path) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:
        said = await asked(guard, name="mine", **given)
        assert (said["added"], said["standing"], said["notices"]) == ("mine", "quarantined", [])
        launch = process(guard)
        assert (launch.command, launch.arguments, dict(launch.environment)) == ("true", ("-x",), {"A": "1", "B": "2"})
        (record,) = [each for each in guard.said() if each["kind"] == "admitted"]
        assert (record["change"], record["origin"], record["requester"]) == ("added", "agent", "caller-manager")
        assert (record["by"], record["via"], record["process"]) == ("caller-manager", "agent", "manager")


async def test_nothing_that_it_declares_makes_a_server_trusted(tmp_path: Path) -> None:
    trusting = {"quarantined": False, "trust": True, "autoApprove": ["*"], "standing": "approved", "sandbox": "none"}
    async with gate(tmp_path, callers=CALLERS) as guard:
        said = await asked(guard, operation="add", name="mine", config=CONFIG | trusting)
        assert (said["standing"], len(said["notices"])) == ("quarantined", 1)
        assert (await asked(guard, operation="patch", name="mine", config=trusting))["standing"] == "quarantined"
        assert upstream(guard, "mine").approved is None
        assert guard.now.fleet.condition("mine") is None


@pytest.mark.parametrize("operation", ["patch", "update"])
async def test_a_patch_merges_as_the_file_would_be_edited(operation: str, tmp_path: Path) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:
        await asked(guard, operation="add", name="mine", config=CONFIG | {"timeout": 5})
        steps: list[tuple[Json, Json]] = [
            ({"config": {"env": {"B": "3", "C": "4"}}}, {"A": "1", "B": "3", "C": "4"}),
            ({"config": {"env": {"A": None}}}, {"B": "3", "C": "4"}),
            ({"env_json": '{"D": "5"}'}, {"B": "3", "C": "4", "D": "5"}),
            ({"env_json": "null"}, {}),
        ]
        for patch, environment in steps:
            assert (await asked(guard, operation=operation, name="mine", **patch))["changed"] == "mine"
            assert dict(process(guard).environment) == environment
            assert process(guard).arguments == ("-x",)
        await asked(guard, operation=operation, name="mine", config={"args": ["y"], "timeout": None})
        assert (process(guard).arguments, declared(guard, "mine").timeout) == (("y",), None)


async def test_headers_merge_whatever_their_case_and_are_not_told(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        said = await asked(guard, operation="patch", name="web", config={"headers": {"X-New": "n"}})
        launch = declared(guard, "web").launch
        assert isinstance(launch, RemoteLaunch)
        assert dict(launch.headers) == {"x-kept": "as it was", "X-New": "n"}
        assert "as it was" not in json.dumps(said)


async def test_another_launch_stops_an_approved_server_before_the_answer(tmp_path: Path) -> None:
    script = Script()
    async with managed(tmp_path, script) as guard:
        calls = len(script.calls)
        said = await asked(guard, operation="patch", name="web", config={"headers": {"x-more": "1"}})
        assert (said["changed"], said["standing"]) == ("web", "quarantined")
        assert (standing(guard), upstream(guard).approved) == (QUARANTINED, None)
        assert not guard.now.fleet.connection_and_listing("web")[0]
        refused = (await agent(guard).call("call_tool_read", {"name": "web:echo"})).result["_meta"]["mcpguard/refusal"]
        assert refused["reason"] == "server:quarantined"
        assert [each["method"] for each in script.calls[calls:] if each["method"] == "tools/call"] == []
        moves = [each["move"] for each in administrative(guard) if each["kind"] == "moved" and "name" not in each]
        assert moves == ["identity_changed"]
        back = await asked(guard, operation="patch", name="web", config={"headers": {"x-more": None}})
        assert back["standing"] == "quarantined", "as it was before is not as it was approved"


async def test_what_is_no_launch_leaves_an_approved_server_approved(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        assert (await asked(guard, operation="patch", name="web", config={"timeout": 7}))["standing"] == "approved"
        assert declared(guard, "web").timeout == 7


@pytest.mark.parametrize("blocked", [False, True])
async def test_a_server_that_it_removes_leaves_a_tombstone(blocked: bool, tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        known = guard.now.guard.servers.find("web")
        assert known is not None
        launch = known.declared.launch
        assert isinstance(launch, RemoteLaunch)
        entry = {"url": launch.url, "headers": dict(launch.headers)}
        if blocked:
            await guard.now.guard.decisions.block("web", Decision(PERSON, "it lies"))
        assert await asked(guard, operation="remove", name="web") == {"removed": "web"}
        assert guard.now.guard.servers.find("web") is None
        (record,) = [each for each in guard.said() if each.get("change") == "removed"]
        assert (record["by"], record["via"]) == ("caller-manager", "agent")
        expected = BLOCKED if blocked else QUARANTINED
        assert (await asked(guard, operation="add", name="web", config=entry))["standing"] == expected
        assert (await asked(guard, operation="add", name="alias", config=entry))["standing"] == expected
        assert (await asked(guard, operation="remove", name="gone"))["reason"] == "arguments:invalid"


async def test_a_block_is_got_rid_of_in_no_way(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        await guard.now.guard.decisions.block("web", Decision(PERSON, "it lies"))
        for operation, given in (
            ("patch", {"config": {"timeout": 3}}),
            ("patch", {"config": {"url": "http://127.0.0.1:1/"}}),
            ("disable", {}),
            ("enable", {}),
        ):
            assert (await asked(guard, operation=operation, name="web", **given))["standing"] == "blocked"
