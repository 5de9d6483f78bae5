"""`upstream_servers`: hostile entries, floods, and several at once. What is refused has done nothing."""

from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.gateway.tools.arguments import UnusableArguments
from mcpguard.gateway.tools.declarations import ServerOperation, ServersArguments
from mcpguard.gateway.tools.definitions import DEFINITIONS
from mcpguard.gateway.tools.servers import ServersTool
from mcpguard.guard.review.agent_requests import LARGEST, MOST_ADDED, MOST_BROUGHT, MOST_REQUESTED
from mcpguard.settings.entries.members import as_members
from tests.attacks.quarantined import upstream
from tests.gate import Gate, gate
from tests.gateway.servers_tool import CALLERS, MANAGER, PLAIN, SECOND, TOOL, administrative, asked, managed
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
CONFIG = {"command": "true", "args": ["-x"]}


def declared(guard: Gate, name: str) -> DeclaredServer:
    known = guard.now.guard.servers.find(name)
    assert known is not None
    return known.declared


@pytest.mark.parametrize(
    "given",
    [
        {"config": {"env": {"T": "${env:HOME}"}}},
        {"config": {"env": {"T": "a${file:/etc/passwd}b"}}},
        {"config": {"args": ["${env:HOME}"]}},
        {"env_json": '{"T": "${env:HOME}"}'},
        {"config": {"headers": {"x": "${env:HOME}"}}},
        {"config": {"unknown": {"deep": [["${env:HOME}"]]}}},
    ],
)
@pytest.mark.parametrize("operation", ["add", "request", "patch"])
async def test_no_reference_is_taken_from_an_agent(operation: str, given: Json, tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        before, recorded = declared(guard, "web"), administrative(guard)
        if "config" in given and operation != "patch":
            given = {"config": {"command": "x", **given["config"]}}
        name = "web" if operation == "patch" else "new"
        said = await asked(guard, operation=operation, name=name, **given)
        assert (said["reason"], "reference" in said["expected"]) == ("arguments:invalid", True)
        assert (declared(guard, "web"), administrative(guard)) == (before, recorded)
        assert guard.now.guard.servers.find("new") is None


async def test_what_it_may_add_is_bounded_also_at_once_and_with_what_it_removes(tmp_path: Path) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:
        answers: list[Json] = []

        async def add(number: int) -> None:
            answers.append(await asked(guard, operation="add", name=f"mine-{number}", config=CONFIG))

        async with anyio.create_task_group() as tasks:
            for number in range(MOST_ADDED + 5):
                tasks.start_soon(add, number)
        assert sum("added" in each for each in answers) == MOST_ADDED
        assert sum("are waiting for review already" in each.get("expected", "") for each in answers) == 5
        for number in range(MOST_ADDED, MOST_BROUGHT):
            known = guard.now.guard.servers.every()[0]
            await asked(guard, operation="remove", name=known.name)
            assert "added" in await asked(guard, operation="add", name=f"more-{number}", config=CONFIG)
        await asked(guard, operation="remove", name=guard.now.guard.servers.every()[0].name)
        last = await asked(guard, operation="add", name="one-too-many", config=CONFIG)
        assert "the most that one caller may" in last["expected"]
        assert "added" in await asked(guard, SECOND, operation="add", name="one-too-many", config=CONFIG)


async def test_requests_at_once_are_no_more_than_may_be_open(tmp_path: Path) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:

        async def ask(number: int) -> None:
            await asked(guard, PLAIN, operation="request", name=f"wanted-{number}", config=CONFIG)

        async with anyio.create_task_group() as tasks:
            for number in range(3 * MOST_REQUESTED):
                tasks.start_soon(ask, number)
        assert len(guard.now.guard.servers.every()) == MOST_REQUESTED


async def test_edits_at_once_are_all_there_or_refused(tmp_path: Path) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:
        await asked(guard, operation="add", name="mine", config={"command": "true"})
        made: list[str] = []

        async def edit(number: int) -> None:
            said = await asked(guard, operation="patch", name="mine", config={"env": {f"V{number}": "x"}})
            if "changed" in said:
                made.append(f"V{number}")
            else:
                assert "was changed at the same time" in said["expected"]

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(edit, number)
        assert made
        assert set(as_members(declared(guard, "mine"))["env"]) == set(made)
        assert upstream(guard, "mine").revision == 1 + len(made)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"config": {}},
        {"config": {"command": ""}},
        {"config": {"command": "x", "url": "http://x/"}},
        {"config": {"command": "x\0"}},
        {"config": {"command": {"a": 1}}},
        {"config": {"command": "x", "env": ["A"]}},
        {"config": {"command": "x", "env": {"A": 1}}},
        {"config": {"command": "x", "args": ["y" * LARGEST]}},
        {"config": {"command": "x", "env": {f"V{number}": "x" * 100 for number in range(1000)}}},
        {"config": {"url": "http://u:p@h/"}},
        {"config": {"command": "x", "timeout": 10**400}},
        {"config": {"command": "x", "timeout": -1}},
        {"config": "command"},
        {"config": {"command": "x"}, "command": "y"},
        {"command": "x", "args": [], "args_json": "[]"},
        {"command": "x", "args_json": "[" * 5000 + "]" * 5000},
        {"command": "x", "args_json": '["\\ud800"]'},
        {"command": "x", "args_json": '{"a": 1, "a": 2}'},
        {"command": "x", "args_json": "NaN"},
        {"command": "x", "args_json": {"0": "x"}},
        {"command": "x", "isolation_json": '{"enabled": true'},
        {"command": "x", "quarantined": False},
        {"config": {"command": "x"}, "action": "add"},
        {"config": {"command": "x"}, "lines": 0},
    ],
    ids=range(25),
)
async def test_a_hostile_entry_is_refused_and_nothing_comes_of_it(given: Json, tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        before, recorded = declared(guard, "web"), administrative(guard)
        for operation in ("add", "request"):
            said = await asked(guard, operation=operation, name="mine", **given)
            assert said["reason"] == "arguments:invalid"
            assert len(said["expected"]) < 2000
        if given.get("config") != {}:
            assert "changed" not in await asked(guard, operation="patch", name="web", **given)
        assert (declared(guard, "web"), administrative(guard)) == (before, recorded)
        assert guard.now.guard.servers.find("mine") is None


async def test_what_grows_by_patches_is_bounded(tmp_path: Path) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:
        await asked(guard, operation="add", name="mine", config={"command": "true"})
        sizes = [
            await asked(guard, operation="patch", name="mine", config={"env": {f"V{number}": "x" * 20_000}})
            for number in range(5)
        ]
        assert ["changed" in each for each in sizes] == [True, True, True, False, False]


async def test_it_counts_as_calls_of_its_budget(tmp_path: Path) -> None:
    async with managed(tmp_path, budgets__caller_minute=3) as guard:
        before = upstream(guard)
        said = [await asked(guard, operation="enable" if number % 2 else "disable", name="web") for number in range(4)]
        assert [each.get("reason") for each in said] == [None, None, None, "budget:calls"]
        assert (await asked(guard, operation="list"))["servers"], "looking is free"
        assert upstream(guard).generation == before.generation + 3


async def test_what_cannot_be_recorded_does_not_happen(tmp_path: Path) -> None:
    async with managed(tmp_path) as guard:
        await guard.now.store.writer.submit(lambda c: c.exec_driver_sql("PRAGMA query_only=ON").close())
        for operation, given in (
            ("add", {"name": "mine", "config": CONFIG}),
            ("patch", {"name": "web", "config": {"timeout": 3}}),
            ("remove", {"name": "web"}),
            ("disable", {"name": "web"}),
        ):
            assert (await asked(guard, operation=operation, **given))["reason"] == "ledger:unavailable"
        assert (upstream(guard).enabled, declared(guard, "web").timeout) == (True, None)
        assert guard.now.guard.servers.find("mine") is None


def test_the_definition_says_what_is_read_and_no_more() -> None:
    said = DEFINITIONS[TOOL]["inputSchema"]["properties"]
    assert {*said} == {*ServersArguments.model_fields}
    assert said["operation"]["enum"] == [each.value for each in ServerOperation]
    read = ServersArguments.model_json_schema()["properties"]["lines"]
    assert {key: said["lines"][key] for key in ("minimum", "maximum", "default")} == {
        key: read[key] for key in ("minimum", "maximum", "default")
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["operation", "action", "name", "config", "command", "args_json", "env_json", "enabled", "disabled", "lines", "x"]
)
VALUES = JSON | st.sampled_from([*(each.value for each in ServerOperation), "approve", "web", "null", "{}", "${env:X}"])


@pytest.mark.parametrize("token", [MANAGER, PLAIN])
async def test_whatever_is_given_is_answered_and_approves_nothing(token: str, tmp_path: Path) -> None:
    """The tool itself, asked with anything: it answers, or says that this is unusable."""
    async with gate(tmp_path, callers=CALLERS, budgets__caller_minute=0, budgets__capability_minute=0) as guard:
        tool, caller = ServersTool(guard.now.guard), CALLERS[token]
        asks: list[Json] = []

        @given(st.dictionaries(KEYS, VALUES, max_size=4))
        @settings(max_examples=150, deadline=None, database=None)
        def collect(arguments: Json) -> None:
            asks.append(arguments)

        collect()
        for arguments in asks:
            with suppress(UnusableArguments):
                assert await tool.answer(caller, arguments)
        assert all(each.upstream.approved is None for each in guard.now.guard.servers.every())
