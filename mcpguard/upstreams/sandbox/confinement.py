"""Confines servers on hosts that have a working sandbox.

Rules kept here:
1. A server runs confined or not at all, unless its profile, which a user approves with the server, turns the sandbox
   off.
2. The total memory of all processes of a server is watched for as long as it runs.
"""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio

from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import Profile, StdioLaunch
from mcpguard.settings.guard_groups import SandboxSettings
from mcpguard.text.visible import visible
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.sandbox.accounts import Accounts
from mcpguard.upstreams.sandbox.confined_launch import confine_launch
from mcpguard.upstreams.sandbox.kept_files import KeptPath
from mcpguard.upstreams.sandbox.limits import MEBIBYTE, ProcessLimits
from mcpguard.upstreams.sandbox.memory_watch import watch_memory
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.sandbox.places import Bind
from mcpguard.upstreams.sandbox.probe import NoSandbox, UsableSandbox


class LimitExceeded(GuardError):
    """A process was killed because it exceeded a limit. The message says which, without a full stop."""


@dataclass(frozen=True, slots=True)
class ProcessConfinement:
    """Confines processes. `here` is the result of the probe at the start, `data` the data directory, never shown."""

    here: UsableSandbox | NoSandbox
    limits: ProcessLimits
    data: Path
    accounts: Accounts = field(default_factory=Accounts)

    def confine(
        self,
        declared: StdioLaunch,
        launch: ProcessLaunch,
        own: Collection[Bind] = (),
        kept: Collection[KeptPath] = (),
        account: Callable[[], int] | None = None,
    ) -> ProcessLaunch:
        """Return the confined launch. `own` are folders of the guard to show, `kept` files to show as they were read.

        `account` gives the user to run as where the guard is root. Reads the disk. Raises NotConfined.
        """
        if declared.profile is Profile.NONE:
            return launch
        # No fallback: a server that was approved as confined must never run with the user's rights.
        if isinstance(self.here, NoSandbox):
            raise NotConfined(f"it needs a sandbox, but this host has no working one: {self.here.why}")
        sandbox = self.here.sandbox
        try:
            return confine_launch(
                launch,
                declared.profile,
                declared.mounts,
                replace(sandbox, account=account()) if account and sandbox.drops else sandbox,
                self.data,
                self.limits,
                own=own,
                kept=kept,
            )
        except OSError as error:
            raise NotConfined(f"its sandbox cannot be set up: {visible(str(error))}") from error

    @asynccontextmanager
    async def watch_memory(self, process: int, profile: Profile) -> AsyncIterator[None]:
        """Watch a process's memory for the length of the block. Raises LimitExceeded when it exceeded the limit."""
        if profile is Profile.NONE:
            yield
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, process, name=f"memory of process {process}")
            yield
            tasks.cancel_scope.cancel()

    async def _watch(self, process: int) -> None:
        await watch_memory(process, self.limits.memory)
        raise LimitExceeded(f"it was killed because it used more than {self.limits.memory // MEBIBYTE} MiB of memory")


def limits(settings: SandboxSettings) -> ProcessLimits:
    return ProcessLimits(
        processes=settings.processes,
        memory=settings.memory_bytes,
        scratch=settings.scratch_bytes,
        file=settings.file_bytes,
        open_files=settings.open_files,
    )
