"""Installs a package once, so that the same tree is inspected, approved and run.

Rules kept here:
1. An installation runs in the sandbox wherever the host has one, whatever the server's own profile: with the network,
   without secrets, and with one new folder to write to. Without a sandbox the installer gets the same instructions.
2. Downloads come from the internet, from networks that the operator allowed, or from a registry that is configured for
   the guard's own account (`outlet`).
3. Time, memory, output and disk space are limited. However the installation ends, it leaves nothing but a complete
   tree, which appears in one step.
4. The installed files belong to the guard from then on: no other account may write to them.
"""

import os
import secrets
import stat
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import structlog
from anyio import to_thread

from mcpguard.domain.servers.launches import Profile
from mcpguard.upstreams.packages import programs, sources, tools, trees
from mcpguard.upstreams.packages.digest import MOST_BYTES, MOST_FILES, entries
from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.outlet import outlet
from mcpguard.upstreams.packages.package import Package
from mcpguard.upstreams.packages.plans import CACHE, InstallPlan, plan_install
from mcpguard.upstreams.packages.program_run import Watch, complaint, run_program
from mcpguard.upstreams.packages.removal import remove_tree
from mcpguard.upstreams.packages.room import memory, room, too_much
from mcpguard.upstreams.packages.tree_launch import INSIDE
from mcpguard.upstreams.packages.trees import INCOMING, RECORD, TREE, Tree
from mcpguard.upstreams.process.orphans import MARK
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.sandbox.bwrap_command import Sandbox
from mcpguard.upstreams.sandbox.confined_launch import confine_launch
from mcpguard.upstreams.sandbox.limits import MEBIBYTE, ProcessLimits
from mcpguard.upstreams.sandbox.places import Bind
from mcpguard.upstreams.transports.dialing import Dialing

LIMITS: Final = ProcessLimits(memory=2048 * MEBIBYTE, scratch=256 * MEBIBYTE, file=512 * MEBIBYTE, open_files=4096)
HOME: Final = "home"
BOOKKEEPING: Final = (
    ".lock",
    "package.json",
    "package-lock.json",
    "node_modules/.package-lock.json",
)
"""Files that npm and uv write for themselves. Some of them name the registry that packages came from."""
log = structlog.get_logger("mcpguard.upstreams")


@dataclass(frozen=True, slots=True)
class InstallContext:
    """Everything that an installation depends on besides the package.

    `sandbox` is None only where a user agreed to that. `data` is the data directory, `environ` the guard's own
    environment, and `declared` the server's, as far as it is code and no secret. `dialing` says where connections may
    lead.
    """

    sandbox: Sandbox | None
    data: Path
    environ: Mapping[str, str]
    declared: Mapping[str, str]
    seconds: float
    dialing: Dialing
    limits: ProcessLimits = LIMITS
    room: int = 2 * MOST_BYTES


async def install_package(package: Package, folder: Path, way: InstallContext) -> Tree:
    """Install a package into a folder of the server, one at a time. Raises NotInstalled, or NotConfined."""
    try:
        # Nothing is installed in place: a half-written tree must never be at a path from which it could be run.
        incoming = await to_thread.run_sync(_begun, folder, way)
    except OSError as error:
        raise NotInstalled(f"{package.specification} cannot be installed: {error}") from error
    try:
        plan = await _filled(package, incoming, way)
        return await to_thread.run_sync(partial(_finished, package, incoming, plan, way))
    except OSError as error:  # not its whole text: that holds a path, which the package chooses, of any length
        raise NotInstalled(f"{package.specification} cannot be installed: {error.strerror}") from error
    finally:
        with anyio.CancelScope(shield=True):
            # Shielded: a cancelled inspection would otherwise leave up to gigabytes of a package behind.
            await to_thread.run_sync(remove_tree, incoming)


async def _filled(package: Package, incoming: Path, way: InstallContext) -> InstallPlan:
    path = way.declared.get("PATH") or way.environ.get("PATH", os.defpath)
    where = tools.search(package.runner, way.environ, path, way.data)
    root = incoming if way.sandbox is None else INSIDE
    plan = await plan_install(package, where, way.declared, root)
    async with _with_a_way_out(plan, way) as (plan, judging):
        launch = await to_thread.run_sync(_confined, plan, incoming, way)
        watches = (memory(way.limits.memory), room(incoming, way.room, 2 * MOST_FILES), *judging)
        done = await run_program(launch, f"the installation of {package.specification}", way.seconds, watches)
    if done.code:
        raise NotInstalled(f"{package.specification} cannot be installed: {complaint(done)}")
    return plan


@asynccontextmanager
async def _with_a_way_out(
    plan: InstallPlan, way: InstallContext
) -> AsyncIterator[tuple[InstallPlan, tuple[Watch, ...]]]:
    """Open the way to the network: a proxy of the host decides what can be reached, or else the guard does."""
    if sources.has_proxy(plan.environment):
        yield plan, ()
        return
    async with outlet(way.dialing, plan.registries) as one:
        yield replace(plan, environment=sources.with_proxy(one.url, plan.environment)), (one.watch,)


def _confined(plan: InstallPlan, incoming: Path, way: InstallContext) -> ProcessLaunch:
    environment = {**plan.environment, "PYTHONDONTWRITEBYTECODE": "1", MARK: secrets.token_hex(8)}
    if way.sandbox is None:
        home = str(incoming / HOME)
        environment |= {"HOME": home, "TMPDIR": home, "XDG_CACHE_HOME": home}
        return ProcessLaunch(plan.command, plan.arguments, environment, incoming / TREE)
    launch = ProcessLaunch(plan.command, plan.arguments, environment, INSIDE / TREE)
    own = [Bind(INSIDE, incoming, writable=True)]
    return confine_launch(
        launch, Profile.CONTAINED, (), way.sandbox, way.data, way.limits, own=own, besides=plan.besides
    )


def _begun(folder: Path, way: InstallContext) -> Path:
    """Make an empty folder beside the installed trees, and remove what an interrupted installation left there."""
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in folder.glob(f"{INCOMING}*"):
        remove_tree(left)
    incoming = Path(tempfile.mkdtemp(prefix=INCOMING, dir=folder))
    for each in (incoming / TREE, incoming / CACHE, incoming / HOME):
        each.mkdir(mode=0o700)
    # The installer runs as another account where the guard is root, and could not write here otherwise.
    if way.sandbox is not None and way.sandbox.drops:
        for each in (incoming, *incoming.iterdir()):
            os.chown(each, way.sandbox.account, way.sandbox.account)
    return incoming


def _finished(package: Package, incoming: Path, plan: InstallPlan, way: InstallContext) -> Tree:
    tree = incoming / TREE
    # The installer could have put a link in place of the folder, for the guard to take over somebody else's files.
    if tree.is_symlink() or not tree.is_dir():
        raise NotInstalled(f"{package.specification} cannot be installed: the installer left no folder")
    # The watch looks only from time to time: what was written after its last look is measured here.
    if why := too_much(incoming, way.room, 2 * MOST_FILES):
        raise NotInstalled(f"{package.specification} cannot be installed: {why}")
    try:
        _taken(incoming, tree)
        # Removed before the digest: they say where packages came from, so equal trees would have different digests.
        for name in BOOKKEEPING:
            (tree / name).unlink(missing_ok=True)
        program = programs.find_program(package, tree)
        # Only now, when the tree is the guard's: a digest of files that the installer can still write to proves
        # nothing.
        digest = trees.installed_digest(tree, program, str(plan.interpreter))
    except NotInstalled as error:
        raise NotInstalled(f"{package.specification} cannot be used: {error}") from error
    place = incoming.parent / digest
    found = Tree(
        place / TREE, trees.install_request(package), package.ecosystem, program, str(plan.interpreter), digest
    )
    (incoming / RECORD).write_text(trees.record_text(found), encoding="utf-8")
    remove_tree(incoming / CACHE)
    remove_tree(incoming / HOME)
    # An identical tree stays, as a server may be running from it. Another one under this name was tampered with.
    if _holds(place, found):
        (incoming / RECORD).replace(place / RECORD)
    else:
        remove_tree(place)
        incoming.rename(place)
    log.info("package.installed", artifact=found.artifact, confined=way.sandbox is not None)
    return found


def _holds(place: Path, tree: Tree) -> bool:
    try:
        return trees.installed_digest(place / TREE, tree.program, tree.interpreter) == tree.digest
    except (OSError, NotInstalled):
        return False


def _taken(incoming: Path, tree: Path) -> None:
    """Make the guard the owner of every entry; others may read. Raises NotInstalled for an entry no tree may hold."""
    for path, about in [(incoming, incoming.stat()), (tree, tree.stat()), *entries(tree)]:
        # The owner first: a process that survived the installation could widen the mode again as long as it owns the
        # file.
        os.chown(path, os.geteuid(), os.getegid(), follow_symlinks=False)
        if not stat.S_ISLNK(about.st_mode):
            open_to_all = stat.S_ISDIR(about.st_mode) or about.st_mode & stat.S_IXUSR
            path.chmod(0o755 if open_to_all else 0o644)
    incoming.chmod(0o700)
