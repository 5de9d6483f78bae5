"""How servers are confined on this machine, if they can be.

Rules kept here:
1. What is to run confined runs confined or not at all. Only its profile, which is part of what a person approves, says
   that it does not.
2. What all processes of a server take together is watched for as long as it runs.
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
from mcpguard.upstreams.process.stdio import Launch
from mcpguard.upstreams.sandbox.accounts import Accounts
from mcpguard.upstreams.sandbox.confining import confined
from mcpguard.upstreams.sandbox.keeping import KeptPath
from mcpguard.upstreams.sandbox.limits import MEBIBYTE, ProcessLimits
from mcpguard.upstreams.sandbox.memory_watch import within_memory
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.sandbox.places import Bind
from mcpguard.upstreams.sandbox.probe import Fails, Works


class Killed(GuardError):
    """A process ran, and was killed for what it took. Says why in a sentence without its end."""


@dataclass(frozen=True, slots=True)
class ProcessConfinement:
    """`here` is what was found out at the start, `data` the data directory, which no server sees."""

    here: Works | Fails
    limits: ProcessLimits
    data: Path
    accounts: Accounts = field(default_factory=Accounts)

    def confined(
        self,
        declared: StdioLaunch,
        launch: Launch,
        own: Collection[Bind] = (),
        kept: Collection[KeptPath] = (),
        account: Callable[[], int] | None = None,
    ) -> Launch:
        """How it is started; `own` is what of the guard it is to see, `kept` what it is to see as it was read.

        `account` tells as whom it runs where the guard is root. Looks at the disk; raises NotConfined.
        """
        if declared.profile is Profile.NONE:
            return launch
        if isinstance(self.here, Fails):
            raise NotConfined(f"it is to run confined, and nothing can be confined here: {self.here.why}")
        sandbox = self.here.sandbox
        try:
            return confined(
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
            raise NotConfined(f"it cannot be confined: {visible(str(error))}") from error

    @asynccontextmanager
    async def watched(self, process: int, profile: Profile) -> AsyncIterator[None]:
        """Raises Killed when it took more memory than it may."""
        if profile is Profile.NONE:
            yield
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, process, name=f"memory of process {process}")
            yield
            tasks.cancel_scope.cancel()

    async def _watch(self, process: int) -> None:
        await within_memory(process, self.limits.memory)
        raise Killed(f"it took more than {self.limits.memory // MEBIBYTE} MiB of memory, and was killed")


def limits(settings: SandboxSettings) -> ProcessLimits:
    return ProcessLimits(
        processes=settings.processes,
        memory=settings.memory_bytes,
        scratch=settings.scratch_bytes,
        file=settings.file_bytes,
        open_files=settings.open_files,
    )
