"""`upstream_servers`: what only a person does stays a person's, and what is out of reach does not exist."""

from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.codec.refusals import refusal_facts
from mcpguard.domain.callers import Caller
from mcpguard.domain.decisions import Decision
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.gateway.tools.declarations import COMMANDS, MANAGING
from mcpguard.guard.review.admission import DeclarationSource
from tests.attacks.quarantined import upstream
from tests.gate import gate, remote
from tests.gateway.granting import granted, revoked
from tests.gateway.servers_tool import (
    CALLERS,
    MANAGER,
    NARROW,
    PLAIN,
    SECOND,
    TOOL,
    administrative,
    agent,
    asked,
    managed,
)
from tests.gateway.speaking import EVERYTHING, flushed, guarded, turned_away
from tests.review import PERSON
from tests.simulators.over_http import serving_http
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
CONFIG = {"url": "http://127.0.0.1:1/"}
GIVEN: dict[str, Json] = {
    "add": {"name": "mine-new", "config": CONFIG},
    "update": {"name": "web", "config": {"timeout": 3}},
    "patch": {"name": "web", "config": {"timeout": 3}},
    "remove": {"name": "web"},
    "disable": {"name": "web"},
    "enable": {"name": "web"},
}


@pytest.mark.parametrize("form", ["operation", "action"])
@pytest.mark.parametrize("token", [PLAIN, None])
async def test_who_was_not_granted_it_manages_nothing(token: str | None, form: str, tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        before, recorded = upstream(guard), administrative(guard)
        for operation in sorted(MANAGING):
            said = await asked(guard, token, **{form: operation}, **GIVEN[operation])
            assert said["reason"] == "authority:person"
            assert f"`mcpguard server {COMMANDS[operation]}`" in said["where"]
        assert (upstream(guard), administrative(guard)) == (before, recorded), "and nothing happened"
        assert guard.now.guard.servers.find("mine-new") is None
        found = await flushed(guard, "turned_away")
        who = ANONYMOUS if token is None else "caller-plain"
        assert {(each["caller"], each["why"]) for each in found} == {(who, "authority:person")}
        assert sorted(each["operation"] for each in found) == sorted(MANAGING)


@pytest.mark.parametrize("token", [MANAGER, PLAIN, None])
@pytest.mark.parametrize("operation", sorted({*COMMANDS} - MANAGING | {"APPROVE"}))
async def test_nobody_on_the_agents_side_decides(operation: str, token: str | None, tmp_path: Path) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:
        await guard.now.guard.admission.add("web", CONFIG, DeclarationSource(Origin.CLI, PERSON))
        before, recorded = upstream(guard), administrative(guard)
        said = await asked(guard, token, operation=operation, name="web", reason="it is fine", seen={})
        assert said["reason"] == "authority:person"
        assert "`mcpguard server" in said["where"]
        assert (upstream(guard), administrative(guard)) == (before, recorded)
        (one,) = await flushed(guard, "turned_away")
        assert (one["operation"], one["count"]) == (operation.lower(), 1)


async def test_attempts_without_end_are_a_few_records(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        before = len(guard.said())
        for number in range(50):
            await asked(guard, PLAIN, operation="approve", name=f"server-{number}")
        (one,) = await flushed(guard, "turned_away")
        assert (one["caller"], one["why"], one["count"]) == ("caller-plain", "authority:person", 50)
        assert len(guard.said()) == before + 1


async def test_nobody_anonymous_manages_whatever_is_said_of_them(tmp_path: Path) -> None:
    claims = {"mcpg_claims": Caller(ANONYMOUS, ANONYMOUS, EVERYTHING, manage=True)}
    async with guarded(tmp_path, Script(), callers=claims) as guard:
        for operation in sorted(MANAGING):
            said = await asked(guard, "mcpg_claims", operation=operation, **GIVEN[operation])
            assert said["reason"] == "authority:person"
        assert upstream(guard).enabled


@pytest.mark.parametrize("operation", ["update", "patch", "remove", "disable", "enable", "tail_log"])
async def test_out_of_reach_and_not_there_look_the_same(operation: str, tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        before, recorded = upstream(guard), administrative(guard)
        given = GIVEN.get(operation, {})
        said = [
            await asked(guard, NARROW, **{**given, "operation": operation, "name": name})
            for name in ("web", "nothing", "mine-nothing", "Web", "…")
        ]
        assert all(each == said[0] for each in said)
        assert said[0]["reason"] == "arguments:invalid"
        assert "web" not in str(said[0])
        assert (upstream(guard), administrative(guard)) == (before, recorded)
        assert (await turned_away(guard)) == {("network", "arguments"): len(said)}


async def test_nothing_is_added_beyond_reach_whether_there_is_such_a_server_or_not(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        there, nowhere = [
            await asked(guard, NARROW, operation="add", name=name, config=CONFIG) for name in ("web", "other")
        ]
        assert there == nowhere
        assert there["reason"] == "arguments:invalid"
        assert guard.now.guard.servers.find("other") is None
        assert (await asked(guard, NARROW, operation="add", name="Mine-1", config=CONFIG))["added"] == "mine-1"


async def test_what_the_file_declares_is_changed_there(tmp_path: Path) -> None:
    async with serving_http(Script()) as url, gate(tmp_path, remote("web", url), callers=CALLERS) as guard:
        before = upstream(guard)
        for operation, given in ("patch", {"config": {"timeout": 3}}), ("remove", {}):
            said = await asked(guard, operation=operation, name="web", **given)
            assert (said["reason"], "configuration file" in said["where"]) == ("authority:person", True)
        assert upstream(guard) == before


async def test_whoever_is_revoked_manages_nothing_any_more(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        caller = await granted(guard, manage=True)
        assert (await asked(guard, caller.token, operation="disable", name="web"))["disabled"] == "web"
        await revoked(guard, caller)
        assert (await agent(guard, caller.token).call(TOOL, {"operation": "enable", "name": "web"})).status == 401
        assert not upstream(guard).enabled
        again = await granted(guard, manage=True)
        said = await asked(guard, again.token, operation="enable", name="web")
        assert said["reason"] == "authority:person", "an id is never used again, so it is another caller"


CHANGES: list[Json] = [
    {"operation": "add", "name": "another", "config": {"url": "https://a.example"}},
    {"operation": "request", "name": "another", "config": {"url": "https://a.example"}},
    {"operation": "patch", "name": "web", "config": {"headers": {"x": "y"}}},
    {"operation": "disable", "name": "web"},
    {"operation": "remove", "name": "web"},
]


@pytest.mark.parametrize("given", CHANGES, ids=lambda given: str(given["operation"]))
async def test_whoever_is_revoked_before_it_is_their_turn_changes_nothing(given: Json, tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        caller = await granted(guard, manage=True)
        known, before = guard.now.guard.servers.find("web"), administrative(guard)
        assert known is not None
        turn = known.lock if given["name"] == "web" else guard.now.guard.managing._adding
        said: list[Json] = []

        async def ask() -> None:
            said.append(await asked(guard, caller.token, **given))

        async with anyio.create_task_group() as tasks, turn:
            tasks.start_soon(ask)
            while not turn.statistics().tasks_waiting:
                await checkpoint()
            await revoked(guard, caller)
        assert [each["reason"] for each in said] == ["caller:revoked"]
        assert administrative(guard) == before
        assert [each["why"] for each in await flushed(guard, "turned_away")] == ["caller:revoked"]


class TestEnabling:
    """A caller takes back what itself has done, and nothing else."""

    async def test_it_undoes_its_own_disable(self, tmp_path: Path) -> None:
        script = Script()
        async with managed(tmp_path, script) as guard:
            assert (await asked(guard, operation="disable", name="web"))["enabled"] is False
            refused = refusal_facts((await agent(guard).call("call_tool_read", {"name": "web:echo"})).result)
            assert refused["reason"] == "server:disabled"
            assert (await asked(guard, operation="enable", name="web"))["enabled"] is True
            await guard.ready("web")
            one, other = [each for each in administrative(guard) if each.get("answer") in ("disable", "enable")]
            for each in (one, other):
                assert (each["by"], each["via"], each["process"]) == ("caller-manager", "agent", "manager")

    async def test_that_is_not_forgotten_when_the_guard_begins_anew(self, tmp_path: Path) -> None:
        async with managed(tmp_path) as guard:
            await asked(guard, operation="disable", name="web")
        async with gate(tmp_path, callers=CALLERS) as guard:
            assert (await asked(guard, SECOND, operation="enable", name="web"))["reason"] == "authority:person"
            assert (await asked(guard, operation="enable", name="web"))["enabled"] is True

    @pytest.mark.parametrize("first", ["a person", "another caller"])
    async def test_it_does_not_undo_anybody_elses(self, first: str, tmp_path: Path) -> None:
        async with managed(tmp_path) as guard:
            if first == "a person":
                await guard.now.guard.decisions.disable("web", Decision(PERSON, "not now"))
            else:
                await asked(guard, SECOND, operation="disable", name="web")
            assert "disabled already" in (await asked(guard, operation="disable", name="web"))["expected"]
            said = await asked(guard, operation="enable", name="web")
            assert (said["reason"], "mcpguard server enable" in said["where"]) == ("authority:person", True)
            assert not upstream(guard).enabled
            by_patch = await asked(guard, operation="patch", name="web", enabled=True)
            assert by_patch["reason"] == "authority:person"
            assert not upstream(guard).enabled

    @pytest.mark.parametrize("enabled_between", [True, False])
    async def test_what_a_person_disables_again_is_theirs(self, enabled_between: bool, tmp_path: Path) -> None:
        async with managed(tmp_path) as guard:
            decisions, why = guard.now.guard.decisions, Decision(PERSON, "not now")
            await asked(guard, operation="disable", name="web")
            if enabled_between:
                await decisions.enable("web", why)
            await decisions.disable("web", why)
            assert (await asked(guard, operation="enable", name="web"))["reason"] == "authority:person"
            assert (upstream(guard).enabled, upstream(guard).disabled_by) == (False, "")

    async def test_what_a_person_declared_as_disabled_stays_so(self, tmp_path: Path) -> None:
        async with gate(tmp_path, callers=CALLERS) as guard:
            source = DeclarationSource(Origin.CLI, PERSON)
            await guard.now.guard.admission.add("off", CONFIG | {"enabled": False}, source)
            for given in (
                {"operation": "enable"},
                {"operation": "patch", "enabled": True},
                {"operation": "patch", "disabled": False},
                {"operation": "patch", "config": {"enabled": None}},
                {"operation": "patch", "config": {"disabled": None}},
                {"operation": "patch", "config": {"enabled": True, "timeout": 3}},
            ):
                assert (await asked(guard, name="off", **given))["status"] == "refused"
            known = guard.now.guard.servers.find("off")
            assert known is not None
            assert not known.enabled
            assert known.upstream.revision == 1
