"""A server that nobody trusts yet is looked at: it gets no secret, reaches no agent, and leaves nothing behind."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.domain.decisions import Actor, Decision, Forbidden, NeedsConsent, Undecidable, is_never_revoked
from mcpguard.domain.servers.launches import RemoteLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin, Transport
from mcpguard.guard.review.admission import DeclarationSource
from mcpguard.upstreams.process.child import RUNNING
from tests.attacks.quarantined import let_time_pass, records, standing, upstream
from tests.gate import gate, process
from tests.gateway.speaking import played
from tests.review import DECISION
from tests.simulators.over_http import HttpFace, serving_http
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
CANARY = "canary-5f0c"
SHOW = "import json,os,sys;json.dump(dict(os.environ),open(sys.argv[1],'w'));print(os.environ,file=sys.stderr)"
"""Writes its environment into a file and into its log, and offers nothing."""


async def inspected(guard: Any, *, give: tuple[str, ...] = (), consent: bool = True) -> Any:  # noqa: ANN401 - see gate
    return await guard.now.guard.inspecting.inspect("web", DECISION, consent=consent, give=frozenset(give))


async def test_a_process_gets_no_value_but_what_is_code_and_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_SECRET", CANARY)
    given = {
        "REFERRED": "${env:THE_SECRET}",
        "WRITTEN": f"{CANARY}-written",
        "NAMED": "for the inspection",
        "NODE_OPTIONS": "--no-warnings",
    }
    written = tmp_path / "environment.json"
    server = process("web", [sys.executable, "-c", SHOW, str(written)])
    server = replace(server, launch=replace(server.launch, environment=given))  # type: ignore[arg-type]
    async with gate(tmp_path, upstreams__connect_seconds=5) as guard:
        await guard.declare(server)
        done = await inspected(guard, give=("NAMED",))
        assert done.error, "it does not speak, so there is nothing to list"
        seen = json.loads(written.read_text())
        assert CANARY not in json.dumps(seen)
        assert {name: seen[name] for name in given} == {
            "REFERRED": "not-given-during-inspection",
            "WRITTEN": "not-given-during-inspection",
            "NAMED": "for the inspection",
            "NODE_OPTIONS": "--no-warnings",
        }
        assert "THE_SECRET" not in seen
        assert "for the inspection" not in (tmp_path / "data" / "logs" / "web.log").read_text()
        (record,) = records(guard, "inspected")
        assert (record["given"], record["profile"], record["started"]) == ("NAMED", "none", True)
        assert not RUNNING, "and it was stopped"


async def test_a_remote_server_gets_no_header(tmp_path: Path) -> None:
    face, sent = HttpFace(Script()), list[str]()
    face.meddle = lambda request: sent.append(str(request.headers))
    async with serving_http(face) as url, gate(tmp_path) as guard:
        launch = RemoteLaunch(Transport.HTTP, url, {"authorization": f"Bearer {CANARY}", "x-team": "blue"})
        await guard.declare(replace(process("web", ["x"]), launch=launch))
        assert not (await inspected(guard)).error
        assert sent
        assert CANARY not in str(sent)
        assert "x-team" not in str(sent)
        assert not (await inspected(guard, give=("x-team",))).error
        assert "blue" in str(sent)
        assert CANARY not in str(sent)


async def test_without_consent_nothing_is_executed_and_it_is_said_what_would_be(tmp_path: Path) -> None:
    script = Script()
    async with played(tmp_path, script, "web", over="stdio") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        said = len(guard.said())
        with pytest.raises(NeedsConsent) as needs:
            await inspected(guard, consent=False)
        launch: Any = server.launch
        assert launch.command in str(needs.value)
        assert all(argument in str(needs.value) for argument in launch.arguments)
        assert script.calls == []
        assert not RUNNING
        assert len(guard.said()) == said


@pytest.mark.parametrize("what", ["a shell that may only tighten", "what it does not have", "a server that is blocked"])
async def test_what_must_not_be_inspected_is_not_contacted(what: str, tmp_path: Path) -> None:
    script = Script()
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        inspecting = guard.now.guard.inspecting
        if what == "a shell that may only tighten":
            shell = Decision(Actor("uid:1", "operator socket", may_widen=False, holds=is_never_revoked), "curious")
            with pytest.raises(Forbidden):
                await inspecting.inspect("web", shell, consent=True, give=frozenset())
        elif what == "what it does not have":
            with pytest.raises(Undecidable):
                await inspected(guard, give=("TOKEN",))
        else:
            await guard.now.guard.decisions.block("web", DECISION)
            with pytest.raises(Undecidable):
                await inspected(guard)
        assert script.calls == []
        assert records(guard, "inspected") == []


async def test_what_one_server_lists_is_never_taken_for_anothers_who_came_in_its_place(tmp_path: Path) -> None:
    """The URL is changed in the very moment in which the inspection begins: the new one has been seen by nobody."""
    old, new = Script(), Script()
    async with serving_http(old) as url, serving_http(new) as other, gate(tmp_path) as guard:
        source = DeclarationSource(Origin.CLI, DECISION.by)
        await guard.now.guard.admission.add("web", {"url": url}, source)

        async def inspect() -> None:
            with pytest.raises(Undecidable, match="changed meanwhile"):
                await inspected(guard)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(guard.now.guard.admission.patch, "web", {"url": other}, 1, DECISION.by)
            tasks.start_soon(inspect)
        identity = upstream(guard).identity
        assert identity is not None
        assert identity.observed is None
        known = guard.now.guard.servers.find("web")
        assert known is not None
        assert known.pins == {}
        assert (old.calls, new.calls) == ([], [])
        assert records(guard, "inspected") == []


async def test_a_shell_that_may_only_tighten_takes_no_block_back(tmp_path: Path) -> None:
    script = Script()
    shell = Decision(Actor("uid:1", "operator socket", may_widen=False, holds=is_never_revoked), "to let it in")
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        await guard.now.guard.decisions.block("web", shell)
        before = upstream(guard), len(guard.said())
        with pytest.raises(Forbidden):
            await guard.now.guard.decisions.quarantine("web", shell)
        assert (upstream(guard), len(guard.said())) == before
        assert script.calls == []


async def test_what_was_inspected_is_not_offered(tmp_path: Path) -> None:
    script = Script()
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        assert (await inspected(guard)).capabilities
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert upstream(guard).approved is None
        client = await guard.legacy()
        for method in ("tools/list", "resources/list", "prompts/list"):
            assert await client.names(method) == []
        contacted = len(script.calls)
        await let_time_pass(guard)
        assert len(script.calls) == contacted, "it was let go, and is not contacted again"


async def test_an_approved_server_is_listed_again_and_not_started_a_second_time(tmp_path: Path) -> None:
    script = Script()
    async with played(tmp_path, script, "web") as server, gate(tmp_path, server) as guard:
        listed, greeted = len(script.called("tools/list")), len(script.called("server/discover"))
        script.tool("more", "done")
        await guard.clock.advance(2)
        done = await inspected(guard)
        assert (done.started, done.new) == (False, 1)
        assert len(script.called("tools/list")) == listed + 1
        assert len(script.called("server/discover")) == greeted
