"""Attackers in a sandbox: a program that tries things, and tells what came of each."""

import functools
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.domain.servers.launches import Mount, Profile
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.orphans import MARK
from mcpguard.upstreams.process.process_end import StdioPatience
from mcpguard.upstreams.process.stdio import ProcessLaunch, Stdio, stdio
from mcpguard.upstreams.process.tree import descendants
from mcpguard.upstreams.sandbox.confined_launch import confine_launch
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.probe import NoSandbox, UsableSandbox, probe_sandbox
from tests.attacks import inside
from tests.conftest import NO_SANDBOX
from tests.patience import PATIENCE
from tests.process import gone

CODE = Path(inside.__file__).read_text()
LIMIT = 1_000_000
LOG = 100_000
QUICK = StdioPatience(0.2, 0.2)
EACH_PROFILE = pytest.mark.parametrize("profile", [Profile.STRICT, Profile.CONTAINED])
Attempt = Sequence[object]


@functools.cache
def here() -> UsableSandbox | NoSandbox:
    return probe_sandbox()


def works() -> UsableSandbox:
    """Where there is no sandbox, nothing is tested, and the end of the run says so; a run that decides fails."""
    found = here()
    if isinstance(found, NoSandbox):
        if os.environ.get("CI"):
            pytest.fail(f"the sandbox cannot be tested: {found.why}")
        pytest.skip(f"{NO_SANDBOX}: {found.why}")
    return found


@asynccontextmanager
async def started(
    folder: Path,
    *attempts: Attempt,
    profile: Profile = Profile.STRICT,
    mounts: Sequence[Mount] = (),
    environment: Mapping[str, str] | None = None,
    limits: ProcessLimits | None = None,
    data: Path | None = None,
) -> AsyncIterator[Stdio]:
    """The attacker, at work; unconfined with the profile `none`, which shows that an attempt is worth anything."""
    given = {"PATH": os.environ["PATH"], MARK: "attacker", **(environment or {})}
    launch = ProcessLaunch(sys.executable, ("-I", "-S", "-u", "-c", CODE, json.dumps(attempts)), given)
    data, limits = data or folder / "no-data", limits or ProcessLimits()
    launch = confine_launch(launch, profile, mounts, works().sandbox, data, limits)
    async with stdio(launch, LIMIT, UpstreamLog(folder, "attacker", LOG), QUICK) as server:
        try:
            yield server
        finally:
            all_of_it = {server.pid, *descendants(server.pid)}
    assert all(map(gone, all_of_it)), "and nothing is left of it"


async def told(server: Stdio) -> Any:  # noqa: ANN401 - whatever came of an attempt
    with anyio.fail_after(PATIENCE):
        return json.loads(await server.receive())


async def tried(folder: Path, *attempts: Attempt, **how: Any) -> list[Any]:  # noqa: ANN401 - those of `started`
    """What came of each attempt."""
    async with started(folder, *attempts, **how) as server:
        return [await told(server) for _ in attempts]
