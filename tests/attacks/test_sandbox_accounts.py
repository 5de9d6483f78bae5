"""With a guard that is root, each confined server is a user of its own: what one takes or closes is nobody else's."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.servers.launches import DeclaredServer, Mount, Profile, StdioLaunch
from mcpguard.upstreams.launch.start import LaunchPreparation
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.stdio import ProcessLaunch, Stdio, stdio
from mcpguard.upstreams.sandbox import accounts as sandbox_accounts
from mcpguard.upstreams.sandbox.accounts import GROUP, NUMBERS, Accounts
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.transports.dialing import Dialing
from tests.attacks.sandboxed import CODE, EACH_PROFILE, QUICK, told, works

pytestmark = pytest.mark.anyio
ROOT = os.geteuid() == 0


@pytest.fixture
def starting(tmp_path: Path) -> LaunchPreparation:
    return LaunchPreparation(
        ProcessConfinement(works(), ProcessLimits(), tmp_path / "data"), tmp_path / "packages", os.environ, 1, Dialing()
    )


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder as it was prepared for a guard that is root, whoever the guard is."""
    folder = tmp_path / "shared"
    folder.mkdir()
    if ROOT:
        os.chown(folder, GROUP, GROUP)
    folder.chmod(0o770)
    return folder


@asynccontextmanager
async def started(
    starting: LaunchPreparation,
    name: str,
    profile: Profile,
    shared: Path,
    *tries: Any,  # noqa: ANN401 - attempts
) -> AsyncIterator[Stdio]:
    """A server of this name, as the guard starts it."""
    arguments = ("-I", "-S", "-u", "-c", CODE, json.dumps(tries))
    launch = StdioLaunch(sys.executable, arguments, profile=profile, mounts=(Mount(str(shared), writable=True),))
    plain = ProcessLaunch(launch.command, launch.arguments, {"PATH": os.environ["PATH"]})
    with starting.confinement.accounts.lend(name) as account:
        ready = starting.prepare(DeclaredServer(name, name, launch), launch, plain, account)
        log = UpstreamLog(shared.parent, name, 100_000)
        async with stdio(ready.launch, 1_000_000, log, QUICK) as server:
            yield server


@EACH_PROFILE
async def test_one_that_takes_all_that_a_user_may_have_takes_it_from_nobody_else(
    starting: LaunchPreparation, shared: Path, profile: Profile
) -> None:
    async with started(starting, "one", profile, shared, ("watches",)) as one:
        taken = await told(one)
        assert taken > 1
        async with started(starting, "other", profile, shared, ("watch",)) as other:
            got = await told(other)
    assert got == ("watching" if ROOT else "EMFILE"), "an ordinary guard has one account, its own, for all of them"


@EACH_PROFILE
async def test_they_share_what_they_do_not_close(starting: LaunchPreparation, shared: Path, profile: Profile) -> None:
    mine, ours, go = shared / "mine", shared / "ours", shared / "go"
    tries = (("create", str(mine), 0o600), ("write", str(ours)), ("wait_for", str(go)), ("read", str(ours)))
    theirs = (("read", str(mine)), ("write", str(mine)), ("read", str(ours)), ("write", str(ours)), ("write", str(go)))
    async with started(starting, "one", profile, shared, *tries) as one:
        assert [await told(one), await told(one)] == ["made", "written"]
        async with started(starting, "other", profile, shared, *theirs) as other:
            got = [await told(other) for _ in theirs]
        assert [await told(one), await told(one)] == ["there", "x"]
    closed = ["EACCES", "EACCES"] if ROOT else ["", "written"]
    assert got == [*closed, "x", "written", "written"]
    if ROOT:
        one_is, other_is = ours.stat().st_uid, go.stat().st_uid
        assert one_is != other_is
        assert {one_is, other_is} <= set(NUMBERS)
        assert {ours.stat().st_gid, go.stat().st_gid} == {GROUP}


def test_no_two_have_one_number_and_each_has_its_own_again() -> None:
    accounts = Accounts()
    with accounts.lend("one") as lent:
        first = lent()
        assert lent() == first
    with accounts.lend("one") as lent:
        assert lent() == first, "whenever it can"
        with accounts.lend("one") as beside:
            assert beside() == first + 1
    with pytest.raises(NotConfined, match="its start was cancelled"):
        lent()


def test_what_somebody_goes_by_already_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_accounts, "NUMBERS", range(os.geteuid(), os.geteuid() + 1))
    with Accounts().lend("one") as lent, pytest.raises(NotConfined, match=r"all accounts .* are in use"):
        lent()
