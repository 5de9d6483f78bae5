"""Decides which program is run for a declared process, and how it is confined.

Rules kept here:
1. A package is installed when a user has the server inspected, and at no other time. From then on either exactly the
   inspected tree runs, byte for byte, or nothing.
2. Where the inspected program is known, no other program runs either: a sandbox shows the very bytes that were hashed,
   or only root and the guard's account can change the file (`exposure`); no part of it lies where a confined server may
   write; and the files are checked again before any message of the server counts.
3. A command that fetches its code at each start, and cannot be installed, runs only without a sandbox: a user has
   accepted whatever it does.
4. All of this reads the disk: everything but `install` must be called in a thread.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from anyio import to_thread

from mcpguard.domain.errors import NotStarted
from mcpguard.domain.servers.identity import is_code
from mcpguard.domain.servers.launches import DeclaredServer, Launch, Mount, Profile, StdioLaunch
from mcpguard.upstreams.launch.artifacts import executed_files, file_artifact
from mcpguard.upstreams.launch.exposure import executed_paths, kept_paths
from mcpguard.upstreams.packages import trees
from mcpguard.upstreams.packages.installation import InstallContext, install_package
from mcpguard.upstreams.packages.package import Package
from mcpguard.upstreams.packages.package_commands import UnsupportedCommand, recognise_package
from mcpguard.upstreams.packages.removal import remove_tree
from mcpguard.upstreams.packages.tree_launch import from_tree, tree_place
from mcpguard.upstreams.process.program_files import ProgramFile
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.sandbox.command_files import find_program, require_program
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.kept_files import KeptPath
from mcpguard.upstreams.sandbox.mounts import check_unwritable
from mcpguard.upstreams.sandbox.probe import NoSandbox, UsableSandbox
from mcpguard.upstreams.transports.dialing import Dialing

Account = Callable[[], int]


class NotRunnable(NotStarted):
    """There is no inspected program that could be run. The message says why."""


class AnotherProgram(NotStarted):
    """The program that would be run is not the inspected one."""


@dataclass(frozen=True, slots=True)
class ReadyLaunch:
    """A launch that can be started now, and its artifact where that is known."""

    launch: ProcessLaunch
    artifact: str | None
    files: tuple[ProgramFile, ...] = ()

    async def confirm(self) -> None:
        """Check, once the process runs, that its program is still the inspected one. Raises AnotherProgram."""
        if self.files and not await to_thread.run_sync(lambda: all(each.unchanged for each in self.files)):
            raise AnotherProgram("its program was replaced or modified while it was being started; inspect it again")


@dataclass(frozen=True, slots=True)
class LaunchPreparation:
    """Prepares the launches of declared processes.

    `packages` is the folder of installed packages, `environ` the guard's own environment, `seconds` how long an
    installation may take and `dialing` which addresses it may reach. `writable` lists the folders that running servers
    may write to, with the server's name.
    """

    confinement: ProcessConfinement
    packages: Path
    environ: Mapping[str, str]
    seconds: float
    dialing: Dialing
    writable: Callable[[], Iterable[tuple[str, Mount]]] = tuple

    async def install(self, declared: DeclaredServer, values: Mapping[str, str]) -> DeclaredServer:
        """Return the declaration with the artifact of the package that was installed for it.

        `values` are those of the server's environment.

        Raises NotInstalled, Refused or NotRunnable.
        """
        launch = declared.launch
        package = _package(launch) if isinstance(launch, StdioLaunch) else None
        if package is None:
            return replace(declared, artifact=None)  # the inspection takes the digest of whatever it starts
        folder, here = self.packages / declared.name, self.confinement.here
        if isinstance(here, NoSandbox) and not _unconfined(launch):
            raise NotRunnable(f"its package cannot be installed, because this host has no working sandbox: {here.why}")
        code = {name: value for name, value in values.items() if is_code(name)}
        sandbox = here.sandbox if isinstance(here, UsableSandbox) else None
        way = InstallContext(sandbox, self.confinement.data, self.environ, code, self.seconds, self.dialing)
        # The old tree stays until the new one is inspected and approved: the approved run must not lose its files.
        tree = await install_package(package, folder, way)
        wanted = {tree.artifact, declared.artifact or ""}
        await to_thread.run_sync(trees.remove_other_trees, folder, wanted)
        return replace(declared, artifact=tree.artifact)

    def prepare(
        self, declared: DeclaredServer, launch: StdioLaunch, plain: ProcessLaunch, account: Account | None = None
    ) -> ReadyLaunch:
        """Return what can be started. `account` gives the user that a confined server runs as if the guard is root.

        Raises Refused, Changed, AnotherProgram or NotRunnable.
        """
        package, inside = _package(launch), not _unconfined(launch)
        if package is None:
            program = find_program(plain.command, plain.environment, plain.folder)
            files = executed_files(plain, program) if program else ()
            now = file_artifact(files)
            if declared.artifact not in (None, now):
                raise AnotherProgram("its program is not the one that was inspected and approved; inspect it again")
            # By its absolute path from here on: a second search of the PATH could find another file than the hashed.
            plain = replace(plain, command=str(program)) if program else plain
            show = self._prevented(declared.name, launch, plain, files)
            return ReadyLaunch(self.confinement.confine(launch, plain, kept=show, account=account), now, files)
        if declared.artifact is None:
            raise NotRunnable("its package is not installed; inspect the server to install it")
        tree = trees.approved_tree(self.packages / declared.name, package, declared.artifact)
        # At each start, not once: the folder belongs to the guard's account, but a backup or a person may have changed
        # it.
        trees.verify_tree(tree, declared.artifact)
        from_it = from_tree(package, tree, plain, inside=inside)
        # The interpreter of a package lies outside of its tree, so it needs the same check as any other program.
        self._prevented(declared.name, launch, from_it)
        own = [tree_place(tree)] if inside else []
        return ReadyLaunch(self.confinement.confine(launch, from_it, own, account=account), tree.artifact)

    def _prevented(
        self, name: str, declared: StdioLaunch, launch: ProcessLaunch, files: Collection[ProgramFile] = ()
    ) -> list[KeptPath]:
        """Return what a sandbox shows so that nobody can exchange the program. Raises NotConfined where one could."""
        program = require_program(launch.command, launch.environment, launch.folder)
        own = () if _unconfined(declared) else declared.mounts
        writable = [*((name, mount) for mount in own if mount.writable), *self.writable()]
        leading = executed_paths(launch, program, files)
        check_unwritable([place for way in leading for place in way.places], writable)
        return kept_paths(leading, files, confined=not _unconfined(declared))

    def sweep(self, names: Collection[str]) -> None:
        """Remove the installed packages of all servers but these."""
        if self.packages.is_dir():
            for folder in [each for each in self.packages.iterdir() if each.name not in names]:
                remove_tree(folder)


def _package(launch: StdioLaunch) -> Package | None:
    """Return the package to install. Raises NotRunnable for a confined command that cannot be installed."""
    package = recognise_package(launch.command, launch.arguments)
    if isinstance(package, UnsupportedCommand):
        if not _unconfined(launch):
            raise NotRunnable(f"its command cannot be installed as a package: {package.why}")
        return None
    return package


def _unconfined(launch: Launch) -> bool:
    return isinstance(launch, StdioLaunch) and launch.profile is Profile.NONE
