"""A package installed once, so that what is looked at, approved and run is one and the same tree.

Rules kept here:
1. It runs confined wherever there is a sandbox, whatever the server's own profile: with the network, without a secret,
   and with one folder to write to, which is new. Without a sandbox it is told to do no more all the same.
2. What it fetches comes from the internet, from networks that the operator allowed, or from a registry that the guard's
   own account names (`outlet`).
3. It is bounded in time, memory, what it says and what it writes. However it ends, nothing of it is left but a tree
   that is whole, which appears at once.
4. What it wrote is the guard's from then on: nobody else may write to it.
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
from mcpguard.upstreams.packages.launching import INSIDE
from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.outlet import outlet
from mcpguard.upstreams.packages.package import Package
from mcpguard.upstreams.packages.plans import CACHE, InstallPlan, planned
from mcpguard.upstreams.packages.removing import removed
from mcpguard.upstreams.packages.room import memory, room, too_much
from mcpguard.upstreams.packages.running import Watch, complaint, ran
from mcpguard.upstreams.packages.trees import INCOMING, RECORD, TREE, Tree
from mcpguard.upstreams.process.orphans import MARK
from mcpguard.upstreams.process.stdio import Launch
from mcpguard.upstreams.sandbox.confining import confined
from mcpguard.upstreams.sandbox.limits import MEBIBYTE, ProcessLimits
from mcpguard.upstreams.sandbox.places import Bind
from mcpguard.upstreams.sandbox.wrapping import Sandbox
from mcpguard.upstreams.transports.dialing import Dialing

LIMITS: Final = ProcessLimits(memory=2048 * MEBIBYTE, scratch=256 * MEBIBYTE, file=512 * MEBIBYTE, open_files=4096)
HOME: Final = "home"
BOOKKEEPING: Final = (
    ".lock",
    "package.json",
    "package-lock.json",
    "node_modules/.package-lock.json",
)
"""What npm and uv write for themselves; some of it says from where packages came."""
log = structlog.get_logger("mcpguard.upstreams")


@dataclass(frozen=True, slots=True)
class Installing:
    """All that an installation depends on besides the package. `sandbox` is None only where a person consented to that.

    `data` is the data directory, `environ` the guard's own environment, and `declared` the server's, as far as it is
    code and no secret. `dialing` says where connections may lead.
    """

    sandbox: Sandbox | None
    data: Path
    environ: Mapping[str, str]
    declared: Mapping[str, str]
    seconds: float
    dialing: Dialing
    limits: ProcessLimits = LIMITS
    room: int = 2 * MOST_BYTES


async def installed(package: Package, folder: Path, way: Installing) -> Tree:
    """Into a folder of the server's own, one at a time. Raises NotInstalled, or Refused where it cannot be confined."""
    try:
        incoming = await to_thread.run_sync(_begun, folder, way)
    except OSError as error:
        raise NotInstalled(f"{package.specification} cannot be installed: {error}") from error
    try:
        plan = await _filled(package, incoming, way)
        return await to_thread.run_sync(partial(_finished, package, incoming, plan, way))
    except OSError as error:  # its own words would repeat a path, which may be the package's and as long as it likes
        raise NotInstalled(f"{package.specification} cannot be installed: {error.strerror}") from error
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(removed, incoming)


async def _filled(package: Package, incoming: Path, way: Installing) -> InstallPlan:
    path = way.declared.get("PATH") or way.environ.get("PATH", os.defpath)
    where = tools.search(package.runner, way.environ, path, way.data)
    root = incoming if way.sandbox is None else INSIDE
    plan = await planned(package, where, way.declared, root)
    async with _with_a_way_out(plan, way) as (plan, judging):
        launch = await to_thread.run_sync(_confined, plan, incoming, way)
        watches = (memory(way.limits.memory), room(incoming, way.room, 2 * MOST_FILES), *judging)
        done = await ran(launch, f"the installation of {package.specification}", way.seconds, watches)
    if done.code:
        raise NotInstalled(f"{package.specification} cannot be installed: {complaint(done)}")
    return plan


@asynccontextmanager
async def _with_a_way_out(plan: InstallPlan, way: Installing) -> AsyncIterator[tuple[InstallPlan, tuple[Watch, ...]]]:
    """Where the machine's owner has a proxy, that decides what can be reached; else the guard does."""
    if sources.has_proxy(plan.environment):
        yield plan, ()
        return
    async with outlet(way.dialing, plan.registries) as one:
        yield replace(plan, environment=sources.through(one.url, plan.environment)), (one.judging,)


def _confined(plan: InstallPlan, incoming: Path, way: Installing) -> Launch:
    environment = {**plan.environment, "PYTHONDONTWRITEBYTECODE": "1", MARK: secrets.token_hex(8)}
    if way.sandbox is None:
        home = str(incoming / HOME)
        environment |= {"HOME": home, "TMPDIR": home, "XDG_CACHE_HOME": home}
        return Launch(plan.command, plan.arguments, environment, incoming / TREE)
    launch = Launch(plan.command, plan.arguments, environment, INSIDE / TREE)
    own = [Bind(INSIDE, incoming, writable=True)]
    return confined(launch, Profile.CONTAINED, (), way.sandbox, way.data, way.limits, own=own, besides=plan.besides)


def _begun(folder: Path, way: Installing) -> Path:
    """An empty folder beside what is kept. What an earlier guard did not finish goes."""
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in folder.glob(f"{INCOMING}*"):
        removed(left)
    incoming = Path(tempfile.mkdtemp(prefix=INCOMING, dir=folder))
    for each in (incoming / TREE, incoming / CACHE, incoming / HOME):
        each.mkdir(mode=0o700)
    if way.sandbox is not None and way.sandbox.drops:
        for each in (incoming, *incoming.iterdir()):
            os.chown(each, way.sandbox.account, way.sandbox.account)
    return incoming


def _finished(package: Package, incoming: Path, plan: InstallPlan, way: Installing) -> Tree:
    tree = incoming / TREE
    if tree.is_symlink() or not tree.is_dir():
        raise NotInstalled(f"{package.specification} cannot be installed: it left no folder")
    if why := too_much(incoming, way.room, 2 * MOST_FILES):  # since it was looked at last
        raise NotInstalled(f"{package.specification} cannot be installed: {why}")
    try:
        _taken(incoming, tree)
        for name in BOOKKEEPING:
            (tree / name).unlink(missing_ok=True)
        program = programs.program(package, tree)
        digest = trees.digest(tree, program, str(plan.interpreter))
    except NotInstalled as error:
        raise NotInstalled(f"{package.specification} cannot be used: {error}") from error
    place = incoming.parent / digest
    found = Tree(place / TREE, trees.asked(package), package.ecosystem, program, str(plan.interpreter), digest)
    (incoming / RECORD).write_text(trees.record(found), encoding="utf-8")
    removed(incoming / CACHE)
    removed(incoming / HOME)
    if _holds(place, found):  # and may be in use
        (incoming / RECORD).replace(place / RECORD)
    else:
        removed(place)
        incoming.rename(place)
    log.info("package.installed", artifact=found.artifact, confined=way.sandbox is not None)
    return found


def _holds(place: Path, tree: Tree) -> bool:
    try:
        return trees.digest(place / TREE, tree.program, tree.interpreter) == tree.digest
    except (OSError, NotInstalled):
        return False


def _taken(incoming: Path, tree: Path) -> None:
    """All of it becomes the guard's, for others to read. Raises NotInstalled for what no tree may hold."""
    for path, about in [(incoming, incoming.stat()), (tree, tree.stat()), *entries(tree)]:
        os.chown(path, os.geteuid(), os.getegid(), follow_symlinks=False)
        if not stat.S_ISLNK(about.st_mode):
            open_to_all = stat.S_ISDIR(about.st_mode) or about.st_mode & stat.S_IXUSR
            path.chmod(0o755 if open_to_all else 0o644)
    incoming.chmod(0o700)
