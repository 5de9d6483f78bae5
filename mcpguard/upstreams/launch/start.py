"""What is run for a declared process, and how it is confined.

Rules kept here:
1. A package is installed when a person has it looked at, and at no other time. What runs from then on is the tree that
   was looked at, to the byte, or nothing.
2. Nor is any other program run than the one that was looked at, where it can be told which that is: a sandbox shows
   the very bytes that were hashed, or nobody but root and the guard's account can change it (`exposure`); nothing of it
   lies where a confined server may write; and the files are looked at again before anything that it says counts.
3. A command that fetches what it runs, and cannot be installed, runs only where it is not confined: a person has agreed
   to whatever it does.
4. All of this looks at the disk: everything but `install` is called in a thread.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from anyio import to_thread

from mcpguard.domain.errors import NotStarted
from mcpguard.domain.servers.identity import is_code
from mcpguard.domain.servers.launches import DeclaredServer, Mount, Profile, StdioLaunch
from mcpguard.domain.servers.launches import Launch as DeclaredLaunch
from mcpguard.upstreams.launch.artifacts import artifact, executed
from mcpguard.upstreams.launch.exposure import kept, ways
from mcpguard.upstreams.packages import trees
from mcpguard.upstreams.packages.installing import Installing, installed
from mcpguard.upstreams.packages.launching import from_tree, place
from mcpguard.upstreams.packages.package import Package
from mcpguard.upstreams.packages.recognising import Unrecognised, recognised
from mcpguard.upstreams.packages.removing import removed
from mcpguard.upstreams.process.program_files import ProgramFile
from mcpguard.upstreams.process.stdio import Launch
from mcpguard.upstreams.sandbox.command_files import find, found
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.keeping import KeptPath
from mcpguard.upstreams.sandbox.mounts import unwritten
from mcpguard.upstreams.sandbox.probe import Fails, Works
from mcpguard.upstreams.transports.dialing import Dialing

Account = Callable[[], int]


class NotRunnable(NotStarted):
    """Nothing that was looked at could be run. Says why."""


class AnotherProgram(NotStarted):
    """What would be run is not what was looked at."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What can be started now, and what that is, where it can be told."""

    launch: Launch
    artifact: str | None
    files: tuple[ProgramFile, ...] = ()

    async def confirm(self) -> None:
        """Asked once it runs: that its program is still what was looked at. Raises AnotherProgram."""
        if self.files and not await to_thread.run_sync(lambda: all(each.unchanged for each in self.files)):
            raise AnotherProgram("its program was exchanged or written to while it was started: inspect it again")


@dataclass(frozen=True, slots=True)
class Starting:
    """`packages` is the folder of what was installed, `environ` the guard's own environment, `seconds` how long an
    installation may take and `dialing` where it may lead; `writable` tells which servers run and may write to which
    folders.
    """

    confinement: ProcessConfinement
    packages: Path
    environ: Mapping[str, str]
    seconds: float
    dialing: Dialing
    writable: Callable[[], Iterable[tuple[str, Mount]]] = tuple

    async def install(self, declared: DeclaredServer, values: Mapping[str, str]) -> DeclaredServer:
        """The same, with what was installed for it. `values` are those of its environment.

        Raises NotInstalled, Refused or NotRunnable.
        """
        launch = declared.launch
        package = _package(launch) if isinstance(launch, StdioLaunch) else None
        if package is None:
            return replace(declared, artifact=None)  # whatever would be run is what is looked at
        folder, here = self.packages / declared.name, self.confinement.here
        if isinstance(here, Fails) and not _unconfined(launch):
            raise NotRunnable(f"its package cannot be installed, as nothing can be confined here: {here.why}")
        code = {name: value for name, value in values.items() if is_code(name)}
        sandbox = here.sandbox if isinstance(here, Works) else None
        way = Installing(sandbox, self.confinement.data, self.environ, code, self.seconds, self.dialing)
        tree = await installed(package, folder, way)
        wanted = {tree.artifact, declared.artifact or ""}
        await to_thread.run_sync(trees.cleared, folder, wanted)
        return replace(declared, artifact=tree.artifact)

    def ready(
        self, declared: DeclaredServer, launch: StdioLaunch, plain: Launch, account: Account | None = None
    ) -> Ready:
        """`account` tells as whom it runs where it is confined and the guard is root.

        Raises Refused, Changed, AnotherProgram or NotRunnable.
        """
        package, inside = _package(launch), not _unconfined(launch)
        if package is None:
            program = find(plain.command, plain.environment, plain.folder)
            files = executed(plain, program) if program else ()
            now = artifact(files)
            if declared.artifact not in (None, now):
                raise AnotherProgram("its program is not the one that was looked at and approved: inspect it again")
            plain = replace(plain, command=str(program)) if program else plain  # nobody looks for it a second time
            show = self._prevented(declared.name, launch, plain, files)
            return Ready(self.confinement.confined(launch, plain, kept=show, account=account), now, files)
        if declared.artifact is None:
            raise NotRunnable("its package was never installed: inspect it")
        tree = trees.kept(self.packages / declared.name, package, declared.artifact)
        trees.verified(tree, declared.artifact)
        from_it = from_tree(package, tree, plain, inside=inside)
        self._prevented(declared.name, launch, from_it)
        own = [place(tree)] if inside else []
        return Ready(self.confinement.confined(launch, from_it, own, account=account), tree.artifact)

    def _prevented(
        self, name: str, declared: StdioLaunch, launch: Launch, files: Collection[ProgramFile] = ()
    ) -> list[KeptPath]:
        """What a sandbox has to show so that nobody can exchange its program. Raises Refused where somebody could."""
        program = found(launch.command, launch.environment, launch.folder)
        own = () if _unconfined(declared) else declared.mounts
        writable = [*((name, mount) for mount in own if mount.writable), *self.writable()]
        leading = ways(launch, program, files)
        unwritten([place for way in leading for place in way.places], writable)
        return kept(leading, files, confined=not _unconfined(declared))

    def sweep(self, names: Collection[str]) -> None:
        """Nothing is kept of servers other than these."""
        if self.packages.is_dir():
            for folder in [each for each in self.packages.iterdir() if each.name not in names]:
                removed(folder)


def _package(launch: StdioLaunch) -> Package | None:
    """What is to be installed for it. Raises NotRunnable for what would be confined and cannot be installed."""
    package = recognised(launch.command, launch.arguments)
    if isinstance(package, Unrecognised):
        if not _unconfined(launch):
            raise NotRunnable(f"what it runs cannot be installed once and kept: {package.why}")
        return None
    return package


def _unconfined(launch: DeclaredLaunch) -> bool:
    return isinstance(launch, StdioLaunch) and launch.profile is Profile.NONE
