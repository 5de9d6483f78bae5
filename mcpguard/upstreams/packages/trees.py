"""What was installed, kept under the digest of its tree.

Rules kept here:
1. A server's folder has one folder for each tree, named by its digest. So a new inspection never touches the tree of
   the run that was approved, and which one runs is said by the artifact that was approved, not by what lies there.
2. The digest covers, besides the tree, what is run in it and by which interpreter. A record that somebody changed is
   another digest, as a changed tree is. It is computed again before each start.
"""

import json
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from mcpguard.upstreams.packages.digest import tree_digest
from mcpguard.upstreams.packages.not_installed import ChangedPackage, NotInstalled
from mcpguard.upstreams.packages.package import Ecosystem, Package
from mcpguard.upstreams.packages.programs import PackageProgram
from mcpguard.upstreams.packages.removing import removed

RECORD: Final = "package.json"
TREE: Final = "tree"
INCOMING: Final = "incoming-"
AGAIN: Final = "it has to be installed again (server disable, inspect, enable)"
_DIGEST: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Tree:
    """An installed package. `folder` is where its files are, `asked` what was to be installed."""

    folder: Path
    asked: tuple[str, ...]
    ecosystem: Ecosystem
    program: PackageProgram
    interpreter: str
    digest: str

    @property
    def artifact(self) -> str:
        mark = "@" if self.ecosystem is Ecosystem.NPM else "=="
        return f"{self.ecosystem.value}:{self.program.name}{mark}{self.program.version} sha256:{self.digest}"


def asked(package: Package) -> tuple[str, ...]:
    """All of a declaration that decides what is installed."""
    return (package.ecosystem.value, package.program or "", package.python or "", *package.specifications)


def digest(folder: Path, program: PackageProgram, interpreter: str) -> str:
    bound = json.dumps([asdict(program), interpreter], sort_keys=True).encode()
    return tree_digest(folder, bound)


def record(tree: Tree) -> str:
    return json.dumps(
        {"asked": tree.asked, "program": asdict(tree.program), "interpreter": tree.interpreter, "digest": tree.digest},
        indent=2,
    )


def kept(folder: Path, package: Package, artifact: str) -> Tree:
    """The tree that was approved. It is not verified yet. Raises ChangedPackage where it is not there, or another's."""
    place = folder / artifact.rpartition("sha256:")[2]
    if not _DIGEST.fullmatch(place.name):
        raise ChangedPackage(f"what was approved is not an installed package: {AGAIN}")
    try:
        told = json.loads((place / RECORD).read_text(encoding="utf-8"))
        program = PackageProgram(**{**told["program"], "options": tuple(told["program"]["options"])})
        tree = Tree(place / TREE, tuple(told["asked"]), package.ecosystem, program, told["interpreter"], told["digest"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ChangedPackage(f"what was installed and approved is not there any more: {AGAIN}") from error
    if tree.asked != asked(package) or tree.artifact != artifact:
        raise ChangedPackage(f"what was installed is not what was approved: {AGAIN}")
    return tree


def verified(tree: Tree, artifact: str) -> None:
    """That it is what was approved, to the byte. It reads all of it: called in a thread. Raises ChangedPackage."""
    try:
        found = digest(tree.folder, tree.program, tree.interpreter)
    except (NotInstalled, OSError) as error:
        raise ChangedPackage(f"what was installed was changed after it was approved: {error}") from error
    if found != tree.digest or tree.artifact != artifact:
        raise ChangedPackage(f"what was installed was changed after it was approved: {AGAIN}")
    if not Path(tree.interpreter).is_file():
        raise ChangedPackage(f"{tree.interpreter}, for which it was installed, is not there any more: {AGAIN}")


def cleared(folder: Path, artifacts: Collection[str]) -> None:
    """Nothing is left in a server's folder but the trees of these artifacts. Not while something is installed there."""
    wanted = {artifact.rpartition("sha256:")[2] for artifact in artifacts}
    with suppress(FileNotFoundError):
        for each in list(folder.iterdir()):
            if each.name not in wanted:
                removed(each)
