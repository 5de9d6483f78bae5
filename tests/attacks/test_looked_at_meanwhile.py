"""While a server is looked at, it is decided about: what runs is what the record says, and nothing that is blocked."""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.app.places import seal_key
from mcpguard.domain.decisions import Actor, Stale, Undecidable
from mcpguard.domain.servers.launches import Confinement, DeclaredServer, Profile, StdioLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.review.admission import DeclarationSource
from mcpguard.store.files.seals import load_or_make
from mcpguard.store.rows import upstreams
from mcpguard.upstreams.process.child import RUNNING
from tests.attacks.confined import attacker, in_file
from tests.attacks.quarantined import records, standing, until, upstream
from tests.attacks.sandboxed import works
from tests.gate import Gate, gate, process
from tests.gateway.speaking import played
from tests.review import DECISION, approved_as_listed, taken_in
from tests.simulators.asked import Asked
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
SOMEBODY = DeclarationSource(Origin.CLI, Actor.with_full_rights("uid:1000 (somebody)", "operator socket"))


async def inspected(guard: Gate, name: str = "web", *, consent: bool = False) -> Any:  # noqa: ANN401 - see Inspecting
    return await guard.now.guard.inspecting.inspect(name, DECISION, consent=consent, give=frozenset())


def launched(guard: Gate, name: str = "web") -> StdioLaunch:
    known = guard.now.guard.servers.find(name)
    assert known is not None
    assert isinstance(known.declared.launch, StdioLaunch)
    return known.declared.launch


async def added(guard: Gate, name: str, **more: object) -> None:
    entry = {"command": sys.executable, "args": ["-c", "pass"], **more}
    await guard.now.guard.admission.add(name, entry, SOMEBODY)


@pytest.mark.parametrize(
    ("others", "before", "now"),
    [(True, False, True), (False, True, False), (False, False, True)],
    ids=["given", "taken back", "given to what is blocked as it is declared"],
)
async def test_consent_given_or_taken_back_leads_to_no_launch_that_is_blocked(
    tmp_path: Path, *, others: bool, before: bool, now: bool
) -> None:
    """The launch that it would have then was blocked as another server's meanwhile."""
    works()
    async with gate(tmp_path) as guard:
        await added(guard, "other")
        await added(guard, "web")
        await inspected(guard, "other", consent=others)
        await inspected(guard, consent=before)
        await guard.now.guard.decisions.block("other", DECISION)
        looked = len(records(guard, "inspected"))
        with pytest.raises(Undecidable, match="is blocked"):
            await inspected(guard, consent=now)
        assert standing(guard) is UpstreamStanding.BLOCKED
        assert len(records(guard, "inspected")) == looked, "and nothing ran"


async def test_what_was_blocked_without_a_sandbox_does_not_come_back_with_one(tmp_path: Path) -> None:
    """A person had agreed that it runs without one, and then blocked it. The same entry, under another name, is it."""
    works()
    async with gate(tmp_path) as guard:
        await added(guard, "web")
        await inspected(guard, consent=True)
        await guard.now.guard.decisions.block("web", DECISION)
        await guard.now.guard.admission.remove("web", upstream(guard).revision, SOMEBODY.by)
        await added(guard, "other")
        assert standing(guard, "other") is UpstreamStanding.BLOCKED
        await added(guard, "another", args=["-c", "0"])
        patch = {"args": ["-c", "pass"]}
        await guard.now.guard.admission.patch("another", patch, upstream(guard, "another").revision, SOMEBODY.by)
        assert standing(guard, "another") is UpstreamStanding.BLOCKED


async def test_a_patch_of_something_else_leaves_consent_what_it_is(tmp_path: Path) -> None:
    works()
    async with gate(tmp_path) as guard:
        await added(guard, "web")
        await inspected(guard, consent=True)
        patch = guard.now.guard.admission.patch
        await patch("web", {"timeout": 5}, upstream(guard).revision, SOMEBODY.by)
        assert (launched(guard).profile, launched(guard).instead_of) == (Profile.NONE, Confinement(Profile.STRICT))
        await patch("web", {"args": ["-c", "0"]}, upstream(guard).revision, SOMEBODY.by)
        assert launched(guard).profile is Profile.STRICT, "consent was for another launch"


async def test_a_patch_that_names_the_sandbox_means_it(tmp_path: Path) -> None:
    works()
    async with gate(tmp_path) as guard:
        await added(guard, "web")
        await inspected(guard, consent=True)
        await guard.now.guard.admission.patch("web", {"sandbox": "strict"}, upstream(guard).revision, SOMEBODY.by)
        assert (launched(guard).profile, launched(guard).instead_of) == (Profile.STRICT, None)


async def looking(guard: Gate, script: Script, meanwhile: Callable[[], Awaitable[object]]) -> Any:  # noqa: ANN401 - see Inspecting
    """What an inspection comes to when this happens while the server lists."""
    came: list[Any] = []

    async def look() -> None:
        came.append(await inspected(guard))

    listed = len(script.called("tools/list"))
    holding = [True]

    async def hold(asked: Asked, answer: Any) -> Any:  # noqa: ANN401 - see Hook
        if asked.method == "tools/list" and holding:
            holding.clear()
            await script.hold()
        return await answer()

    script.hooks.append(hold)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        await script.until(lambda: script.held)
        assert len(script.called("tools/list")) == listed + 1
        await meanwhile()
        script.go()
    return came[0]


async def test_what_a_visit_heard_counts_for_no_connection_that_runs_by_then(tmp_path: Path) -> None:
    """The server could list one thing to whoever uses it, and another to whoever looks at it."""
    script = Script()
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        assert not (await inspected(guard)).error

        async def approved() -> None:
            await approved_as_listed(guard.now, "web")
            await taken_in(guard.now, ["web"])
            script.tool("echo", "done", description="Another one.")  # for the visit alone

        known = guard.now.guard.servers.find("web")
        assert known is not None
        done = await looking(guard, script, approved)
        assert "was started meanwhile" in done.error
        assert len(records(guard, "inspected")) == 2
        assert not [each for each in records(guard, "listed") if each["changed"]]
        assert standing(guard) is UpstreamStanding.APPROVED


async def test_what_ran_is_said_whatever_is_declared_by_then(tmp_path: Path) -> None:
    works()
    mark = tmp_path / "it-runs"
    slow = f"import pathlib,sys; pathlib.Path({str(mark)!r}).touch(); sys.stdin.read()"
    launch = StdioLaunch(sys.executable, ("-c", slow), {}, profile=Profile.NONE)
    async with gate(tmp_path, upstreams__connect_seconds=3) as guard:
        await guard.declare(DeclaredServer("web", "web", launch))
        came: list[Any] = []

        async def look() -> None:
            came.append(await inspected(guard, consent=True))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            await until(guard, mark.exists)
            await guard.declare(DeclaredServer("web", "web", replace(launch, profile=Profile.STRICT)))
        assert (came[0].started, came[0].profile) == (True, "none")


async def test_what_took_too_much_memory_while_it_was_looked_at_did_run(tmp_path: Path) -> None:
    works()
    greedy = "import os, time; [os.fork() for _ in range(3)]; kept = bytearray(20 << 20); time.sleep(600)"
    server = replace(attacker(), launch=StdioLaunch(sys.executable, ("-I", "-S", "-c", greedy)))
    async with gate(tmp_path, sandbox__memory_bytes=64 << 20) as guard:
        await guard.declare(server)
        done = await inspected(guard)
        assert "it was killed because it used more than 64 MiB of memory" in done.error
        assert (done.started, done.profile) == (True, "strict")
        assert not RUNNING


async def test_a_program_that_is_not_there_was_not_started(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(process("web", ["/nowhere/at/all"]))
        done = await inspected(guard, consent=True)
        assert "was not found, or is not executable" in done.error
        assert not done.started


async def test_where_nothing_can_be_kept_nothing_is_installed_and_that_is_said(tmp_path: Path) -> None:
    works()
    async with gate(tmp_path) as guard:
        await guard.declare(process("web", ["npx", "weather"]))
        (guard.now.settings.data_dir / "packages").write_text("in the way")
        done = await inspected(guard, consent=True)
        assert "weather cannot be installed: " in done.error
        assert not done.started


async def test_what_is_read_again_from_the_store_is_how_it_is_launched_too(tmp_path: Path) -> None:
    """A commit was reported as failed, and was not: then how a server stands and what runs must not be two things."""
    works()
    async with gate(tmp_path) as guard:
        await guard.declare(attacker())
        assert not (await inspected(guard)).error
        before, declared = upstream(guard), launched(guard)
        await inspected(guard, consent=True)
        seal = load_or_make(seal_key(guard.now.settings))
        known = guard.now.guard.servers.find("web")
        assert known is not None
        how = replace(known.declared, launch=declared)
        await guard.now.store.writer.submit(lambda connection: upstreams.put(connection, before, how, seal))
        await guard.now.guard.servers.catch_up("web")
        assert (upstream(guard), launched(guard)) == (before, declared)


async def test_that_one_server_stops_is_nothing_to_another(tmp_path: Path) -> None:
    one, two = in_file(tmp_path / "server.py", "one"), in_file(tmp_path / "server.py", "two")
    async with gate(tmp_path, one) as guard:
        (first,) = RUNNING
        await guard.declare(one, two)
        assert not (await inspected(guard, "two", consent=True)).error
        await approved_as_listed(guard.now, "two")
        await taken_in(guard.now, ["two"])
        (second,) = RUNNING - {first}
        assert upstream(guard, "two").artifact
        await guard.now.guard.decisions.block("one", DECISION)
        await until(guard, lambda: first not in RUNNING)
        await taken_in(guard.now, ["two"])
        assert {second} == RUNNING, "it goes on as it was, and was not started anew"


async def test_consent_to_what_was_shown_is_none_to_what_stands_there_now(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(attacker())
        identity = upstream(guard).identity
        assert identity is not None
        await guard.declare(attacker(ANOTHER="variable"))
        with pytest.raises(Stale, match="how web is launched"):
            await guard.now.guard.inspecting.inspect(
                "web", DECISION, consent=True, give=frozenset(), seen=identity.launch
            )
        assert records(guard, "inspected") == []
        known = guard.now.guard.servers.find("web")
        assert known is not None
        assert known.sandbox is Profile.STRICT
