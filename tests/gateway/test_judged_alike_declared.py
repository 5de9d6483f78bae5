"""One judgement, also through the guard face and from a shell: by whatever variant, in whatever form of arguments.

What a variant declares is part of the call. So those that declare the same are compared with each other, and with the
ways that declare nothing where what is implied there is the same.
"""

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from anyio import to_thread
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpguard.domain.capabilities import Effect
from tests.cli.command import mcpguard
from tests.gate import Gate
from tests.gateway.guard_face import agent
from tests.gateway.judging import ARGUMENTS, CASES, VERDICT, Case, answer, every_way, judged, told
from tests.gateway.speaking import HOWS, OTHER_TOKEN, TOKEN
from tests.simulators.client import RawClient
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
FORMS: dict[str, Callable[[Json], Json]] = {
    "arguments": lambda said: {"arguments": said},
    "args": lambda said: {"args": said},
    "args_json": lambda said: {"args_json": json.dumps(said)},
}
Way = Callable[[str, Json], Awaitable[Json]]
BOUND = ("verdict", "reason", "rules", "effect", "fingerprint", "outcome", "executed", "secrets")
"""What does not say how the intent came to be known."""


@pytest.fixture(autouse=True)
def _nobodys_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("MCPGUARD_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


async def by_name(client: RawClient, tool: str, said: Json) -> Json:
    found: Json = (await client.call("call_tool", {"server": "web", "tool": tool, "arguments": said})).result
    return found


async def by_variant(client: RawClient, variant: Effect, form: str, tool: str, said: Json) -> Json:
    arguments = {"name": f"web:{tool}", **FORMS[form](said)}
    found: Json = (await client.call(f"call_tool_{variant.value}", arguments)).result
    return found


async def by_shell(guard: Gate, variant: Effect, tool: str, said: Json) -> Json:
    words = (variant.value, f"web:{tool}", "--args", json.dumps(said), "-o", "json")
    data_dir = guard.now.settings.data_dir
    done = await to_thread.run_sync(partial(mcpguard, "call", *words, "--data-dir", data_dir))
    found: Json = json.loads(done.stdout)
    assert done.exit_code == (1 if found.get("isError") else 0)
    return found


@asynccontextmanager
async def clients(guard: Gate, token: str) -> AsyncIterator[dict[str, RawClient]]:
    """Of the guard face, one for each transport and era."""
    async with AsyncExitStack() as stack:
        yield {how: await stack.enter_async_context(agent(guard, how, token)) for how in HOWS}


def declaring(guard: Gate, speaking: dict[str, RawClient], variant: Effect) -> dict[str, Way]:
    """Every way to say that a call does this, and no more."""
    found: dict[str, Way] = {
        f"{how} {form}": partial(by_variant, client, variant, form)
        for how, client in speaking.items()
        for form in FORMS
        if how == HOWS[0] or form == "arguments"
    }
    return {**found, "shell": partial(by_shell, guard, variant)}


def verdicts(guard: Gate, since: int, names: tuple[str, ...] = VERDICT) -> list[Json]:
    return [{name: entry.get(name) for name in names} for entry in guard.entries()[since:]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool}-{case.reason}")
async def test_the_same_call_gets_the_same_verdict_by_every_way_that_means_the_same(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPGUARD_TOKEN", case.token)
    async with (
        judged(tmp_path) as (guard, script),
        every_way(guard, case.token) as shown,
        clients(guard, case.token) as speaking,
    ):
        way, client = next(iter(shown.items()))
        first = told(await answer(client, way, case.tool, case.arguments))
        for client in speaking.values():
            assert told(await by_name(client, case.tool, case.arguments)) == first
        implied = verdicts(guard, 0)
        assert implied == implied[:1] * (1 + len(speaking)), "what is implied is the same on every face"
        for variant in Effect:
            since, sent = len(guard.entries()), len(script.called("tools/call"))
            ways = declaring(guard, speaking, variant)
            answers = [told(await way(case.tool, case.arguments)) for way in ways.values()]
            assert answers == answers[:1] * len(ways)
            found = verdicts(guard, since)
            assert found == found[:1] * len(ways)
            assert (found[0]["operation"], found[0]["declared"]) == (variant.value, True)
            assert len(script.called("tools/call")) - sent == (0 if answers[0] else len(ways))
            if implied[0]["operation"] == variant.value and case.token != OTHER_TOKEN:
                assert answers[0] == first
                assert verdicts(guard, since, BOUND)[0] == verdicts(guard, 0, BOUND)[0]


async def test_any_arguments_get_one_verdict_by_every_way_that_means_the_same(tmp_path: Path) -> None:
    """As above, for whatever there may be, through one guard."""
    async with judged(tmp_path) as (guard, script), clients(guard, TOKEN) as speaking:
        calls: list[tuple[Effect, str, Json]] = []
        tools = st.sampled_from(["add", "echo", "fail", "odd", "nothing"])

        @settings(max_examples=25, database=None, suppress_health_check=[*HealthCheck])
        @given(st.sampled_from(Effect), tools, ARGUMENTS)
        def collect(variant: Effect, tool: str, arguments: Json) -> None:
            calls.append((variant, tool, arguments))

        collect()
        for variant, tool, arguments in calls:
            ways = {name: way for name, way in declaring(guard, speaking, variant).items() if name != "shell"}
            since, sent = len(guard.entries()), len(script.called("tools/call"))
            answers = [told(await way(tool, arguments)) for way in ways.values()]
            assert answers == answers[:1] * len(ways), (variant, tool, arguments)
            found = verdicts(guard, since)
            assert found == found[:1] * len(ways), (variant, tool, arguments)
            assert len(script.called("tools/call")) - sent == (0 if answers[0] else len(ways))
