"""Servers of a whole guard run in the sandbox that they are declared with, before and after approval, or not at all."""

import json
import os
import socket
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.domain.decisions import Actor, Decision, NeedsConsent, Undecidable, is_never_revoked
from mcpguard.domain.servers.launches import DeclaredServer, Mount, Profile, StdioLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.upstreams.process.child import RUNNING
from mcpguard.upstreams.process.tree import descendants
from mcpguard.upstreams.sandbox.probe import NoSandbox
from tests.attacks.confined import attacker, attempts
from tests.attacks.quarantined import connection, records, standing, until, upstream
from tests.attacks.sandboxed import works
from tests.gate import Gate, gate
from tests.patience import PATIENCE
from tests.process import gone
from tests.review import DECISION, approved_as_listed, taken_in
from tests.simulators.words import Json
from tests.web.pages.reading import somebody, text

pytestmark = pytest.mark.anyio
NOWHERE = NoSandbox("there is no bubblewrap in this story")


@pytest.fixture(autouse=True)
def _there_is_a_sandbox() -> None:
    works()


async def inspected(guard: Gate, *, consent: bool = False) -> Any:  # noqa: ANN401 - see Inspecting
    return await guard.now.guard.inspecting.inspect("web", DECISION, consent=consent, give=frozenset())


async def running(guard: Gate, *declared: DeclaredServer, consent: bool = False) -> None:
    """A person has looked at the server, and approved it."""
    await guard.declare(*declared)
    done = await inspected(guard, consent=consent)
    assert not done.error
    await approved_as_listed(guard.now, "web")
    await taken_in(guard.now, ["web"])


async def tried(guard: Gate, *attempted: Any) -> Any:  # noqa: ANN401 - whatever came of it
    """What came of it when an agent had the server try this."""
    client = await guard.legacy()
    answer = await client.call("web::attempt", attempts(*attempted))
    return json.loads(answer.result["content"][0]["text"])


async def shown(guard: Gate) -> Json:
    return await guard.now.guard.queries.server("web")


def launched(guard: Gate) -> StdioLaunch:
    known = guard.now.guard.servers.find("web")
    assert known is not None
    assert isinstance(known.declared.launch, StdioLaunch)
    return known.declared.launch


async def test_what_is_approved_reaches_nothing_of_the_guard_or_of_the_machine(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        listener.setblocking(False)
        host, port = listener.getsockname()
        async with gate(tmp_path) as guard:
            await running(guard, attacker())
            data = guard.now.settings.data_dir
            assert (data / "mcpguard.db").exists()
            got = await tried(
                guard,
                ("read", str(data / "mcpguard.db")),
                ("read", str(data / "seal.key")),
                ("unix", str(guard.where.agents)),
                ("connect", host, port),
                ("listed", str(tmp_path)),
                ("kill", os.getpid()),
            )
            assert got == ["ENOENT", "ENOENT", "EAFNOSUPPORT", "ECONNREFUSED", "ENOENT", "ESRCH"]
            (inspection,) = records(guard, "inspected")
            assert inspection["profile"] == "strict"
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not RUNNING


async def test_contained_has_the_network_and_nothing_else(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        async with gate(tmp_path) as guard:
            await running(guard, attacker(Profile.CONTAINED))
            key = str(guard.now.settings.data_dir / "seal.key")
            assert await tried(guard, ("connect", *listener.getsockname()), ("read", key)) == ["connected", "ENOENT"]


async def test_it_sees_the_folders_that_are_mounted_and_no_others(tmp_path: Path) -> None:
    for name in ("seen", "written", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
        (tmp_path / name / "file").write_text(name)
    mounts = Mount(str(tmp_path / "seen")), Mount(str(tmp_path / "written"), writable=True)
    async with gate(tmp_path) as guard:
        await running(guard, attacker(Profile.STRICT, *mounts))
        got = await tried(
            guard,
            ("read", str(tmp_path / "seen" / "file")),
            ("write", str(tmp_path / "seen" / "new")),
            ("write", str(tmp_path / "written" / "new")),
            ("read", str(tmp_path / "other" / "file")),
        )
        assert got == ["seen", "EROFS", "written", "ENOENT"]
    assert not (tmp_path / "seen" / "new").exists()


@pytest.mark.parametrize("place", ["data", "data/logs", "."])
async def test_the_data_directory_is_never_mounted(tmp_path: Path, place: str) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(attacker(Profile.STRICT, Mount(str((tmp_path / place).resolve()))))
        done = await inspected(guard)
        assert "it overlaps the data directory" in done.error
        assert (standing(guard), upstream(guard).identity.observed) == (UpstreamStanding.QUARANTINED, None)  # type: ignore[union-attr]


async def test_what_cannot_even_be_looked_at_is_no_failure_of_ours(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(attacker(Profile.STRICT, Mount("/" + "a" * 300)))
        assert (await inspected(guard)).error.startswith("its sandbox cannot be set up: [Errno 36] File name too long")


async def test_another_sandbox_is_another_server(tmp_path: Path) -> None:
    """Whoever may write the file cannot let an approved server out."""
    async with gate(tmp_path) as guard:
        await running(guard, attacker())
        for loosened in (attacker(Profile.CONTAINED), attacker(Profile.NONE), attacker(Profile.STRICT, Mount("/srv"))):
            await guard.declare(loosened)
            assert standing(guard) is UpstreamStanding.QUARANTINED
            client = await guard.legacy()
            assert (await client.call("web::attempt", attempts())).result["isError"]
            await running(guard, attacker())


async def test_without_a_sandbox_it_runs_only_with_consent_which_is_recorded_and_shown(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(attacker(Profile.NONE))
        with pytest.raises(NeedsConsent, match="declared to run without a sandbox") as told:
            await inspected(guard)
        assert "-I -S -u -c" in str(told.value), "it says what would be executed"
        assert (records(guard, "inspected"), upstream(guard).identity.observed) == ([], None)  # type: ignore[union-attr]
        assert (await inspected(guard, consent=True)).profile == "none"
        (inspection,) = records(guard, "inspected")
        assert (inspection["profile"], inspection["by"]) == ("none", DECISION.by.id)
        said = (await shown(guard))["confinement"]
        assert said["means"].startswith("NOT SANDBOXED")


async def test_consent_lets_one_server_out_until_it_is_taken_back(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, attacker(), consent=True)
        key = guard.now.settings.data_dir / "seal.key"
        assert await tried(guard, ("read", str(key))) != ["ENOENT"], "a person agreed to that"
        assert (await shown(guard))["confinement"]["declared"] == "strict"
        first, unconfined = records(guard, "admitted")
        assert (unconfined["change"], unconfined["by"]) == ("unconfined", DECISION.by.id)
        assert unconfined["fingerprint"] != first["fingerprint"]

        await guard.declare(attacker())
        assert standing(guard) is UpstreamStanding.APPROVED, "the file is read again, and says what it said"
        await guard.declare(replace(attacker(), timeout=3.0))
        assert launched(guard).profile is Profile.NONE, "nor is it launched otherwise"

        await guard.now.guard.decisions.quarantine("web", DECISION)
        assert not (await inspected(guard)).error
        assert launched(guard).profile is Profile.STRICT
        await approved_as_listed(guard.now, "web")
        await taken_in(guard.now, ["web"])
        assert await tried(guard, ("read", str(key))) == ["ENOENT"]
        assert [each["change"] for each in records(guard, "admitted")][-1] == "confined"


async def test_consent_is_for_one_launch(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, attacker(), consent=True)
        await guard.declare(attacker(ANOTHER="variable"))
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert launched(guard).profile is Profile.STRICT


async def test_who_may_only_tighten_lets_nothing_out(tmp_path: Path) -> None:
    somebody = Decision(Actor("uid:1", "operator socket", may_widen=False, holds=is_never_revoked), "why not")
    async with gate(tmp_path) as guard:
        await guard.declare(attacker())
        with pytest.raises(Exception, match=r"authority\.shell"):
            await guard.now.guard.inspecting.inspect("web", somebody, consent=True, give=frozenset())
        assert launched(guard).profile is Profile.STRICT
        assert not records(guard, "inspected")


async def test_what_runs_confined_is_not_let_out_while_it_runs(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, attacker())
        with pytest.raises(Undecidable, match="quarantine it first"):
            await inspected(guard, consent=True)
        assert (standing(guard), launched(guard).profile) == (UpstreamStanding.APPROVED, Profile.STRICT)


async def test_what_was_approved_unconfined_is_not_run_again_unasked(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, attacker(), consent=True)
        await guard.now.guard.decisions.disable("web", DECISION)
        with pytest.raises(NeedsConsent, match="approved to run without a sandbox"):
            await inspected(guard)
        assert standing(guard) is UpstreamStanding.APPROVED


async def test_where_nothing_can_be_confined_nothing_runs_without_consent(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, attacker())
    async with gate(tmp_path, sandbox=NOWHERE) as guard:
        await guard.declare(attacker())
        await until(guard, lambda: connection(guard).error)
        assert NOWHERE.why in connection(guard).error
        assert standing(guard) is UpstreamStanding.APPROVED
        assert not RUNNING
        status = guard.now.guard.status()
        assert (status.sandbox.works, status.sandbox.why) == (False, NOWHERE.why)
        assert (await shown(guard))["confinement"]["impossible"] == NOWHERE.why
        by = await somebody(guard)
        page = text((await guard.http.get(guard.where.url, headers=by)).text)
        assert "Sandbox unavailable" in page
        assert NOWHERE.why in page
        await guard.now.guard.decisions.quarantine("web", DECISION)
        with pytest.raises(NeedsConsent, match=NOWHERE.why):
            await inspected(guard)
        await running(guard, attacker(), consent=True)
        assert await tried(guard, ("environment",))
        page = text((await guard.http.get(f"{guard.where.url}/servers/web", headers=by)).text)
        assert "none : has all permissions of the guard" in page


async def test_one_that_takes_too_much_memory_is_killed_and_said_to_be(tmp_path: Path) -> None:
    async with gate(tmp_path, sandbox__memory_bytes=64 * 1024 * 1024) as guard:
        await running(guard, attacker())
        client = await guard.legacy()
        answer = await client.call("web::attempt", attempts(("many", 10, 20)))
        assert answer.result["isError"]
        with anyio.fail_after(PATIENCE):  # no time passes, so it is not started again yet
            while not connection(guard).error:
                await checkpoint()
        assert "it was killed because it used more than 64 MiB of memory" in connection(guard).error
        (entry,) = guard.entries()
        assert entry["outcome"] == "unknown"


async def test_what_kept_running_beside_it_ends_with_it(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, attacker())
        assert await tried(guard, ("daemon",)) == ["left behind"]
        seen = await tried(guard, ("processes",))
        assert len(seen[0]) > 1
        (process,) = RUNNING
        below = descendants(process)
        assert len(below) > 2
        await guard.now.guard.decisions.block("web", DECISION)
        await until(guard, lambda: not RUNNING)
    assert all(map(gone, {process, *below}))
