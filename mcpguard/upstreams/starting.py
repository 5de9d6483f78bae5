"""What is run for a declared process, and how it is confined.

Rules kept here:
1. A package is installed when a person has it looked at, and at no other time. What runs from then on is the tree that
   was looked at, to the byte, or nothing.
2. Nor is any other program run than the one that was looked at, where it can be told which that is.
3. A command that fetches what it runs, and cannot be installed, runs only where it is not confined: a person has agreed
   to whatever it does.
4. All of this looks at the disk: everything but `install` is called in a thread.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree

from anyio import to_thread

from mcpguard.domain.errors import NotStarted
from mcpguard.domain.identity import is_code
from mcpguard.domain.launches import Declared, Profile, StdioLaunch
from mcpguard.domain.launches import Launch as DeclaredLaunch
from mcpguard.upstreams.artifacts import artifact
from mcpguard.upstreams.packages import trees
from mcpguard.upstreams.packages.installing import Installing, installed
from mcpguard.upstreams.packages.launching import from_tree, place
from mcpguard.upstreams.packages.package import Package
from mcpguard.upstreams.packages.recognising import Unrecognised, recognised
from mcpguard.upstreams.sandbox.confinement import Confinement
from mcpguard.upstreams.sandbox.probe import Fails, Works
from mcpguard.upstreams.transports.stdio import Launch


class NotRunnable(NotStarted):
    """Nothing that was looked at could be run. Says why."""


class AnotherProgram(NotStarted):
    """What would be run is not what was looked at."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What can be started now, and what that is, where it can be told."""

    launch: Launch
    artifact: str | None


@dataclass(frozen=True, slots=True)
class Starting:
    """`packages` is the folder of what was installed, `environ` the guard's own environment, `seconds` how long an
    installation may take.
    """

    confinement: Confinement
    packages: Path
    environ: Mapping[str, str]
    seconds: float

    async def install(self, declared: Declared, values: Mapping[str, str]) -> Declared:
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
        way = Installing(sandbox, self.confinement.data, self.environ, code, self.seconds)
        tree = await installed(package, folder, way)
        wanted = {tree.artifact, declared.artifact or ""}
        await to_thread.run_sync(trees.cleared, folder, wanted)
        return replace(declared, artifact=tree.artifact)

    def ready(self, declared: Declared, launch: StdioLaunch, plain: Launch) -> Ready:
        """Raises Refused, Changed, AnotherProgram or NotRunnable."""
        package = _package(launch)
        if package is None:
            now = artifact(plain)
            if declared.artifact not in (None, now):
                raise AnotherProgram("its program is not the one that was looked at and approved: inspect it again")
            return Ready(self.confinement.confined(launch, plain), now)
        if declared.artifact is None:
            raise NotRunnable("its package was never installed: inspect it")
        tree = trees.kept(self.packages / declared.name, package, declared.artifact)
        trees.verified(tree, declared.artifact)
        inside = not _unconfined(launch)
        from_it = from_tree(package, tree, plain, inside=inside)
        return Ready(self.confinement.confined(launch, from_it, [place(tree)] if inside else []), tree.artifact)

    def sweep(self, names: Collection[str]) -> None:
        """Nothing is kept of servers other than these."""
        if self.packages.is_dir():
            for folder in [each for each in self.packages.iterdir() if each.name not in names]:
                rmtree(folder, ignore_errors=True)


def _package(launch: StdioLaunch) -> Package | None:
    """What is to be installed for it. Raises NotRunnable for what would be confined and cannot be installed."""
    found = recognised(launch.command, launch.arguments)
    if isinstance(found, Unrecognised):
        if not _unconfined(launch):
            raise NotRunnable(f"what it runs cannot be installed once and kept: {found.why}")
        return None
    return found


def _unconfined(launch: DeclaredLaunch) -> bool:
    return isinstance(launch, StdioLaunch) and launch.profile is Profile.NONE
