"""Stores installed packages, each under the digest of its tree.

Rules kept here:
1. The folder of a server has one folder for each tree, named by its digest. So a new inspection never touches the
   approved tree, and the approved artifact decides which tree runs, not the content of the disk.
2. The digest covers the tree, its program and its interpreter. Tampering with the record changes the digest, just as
   tampering with the tree does. The digest is computed again before each start.
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
from mcpguard.upstreams.packages.removal import remove_tree

RECORD: Final = "package.json"
TREE: Final = "tree"
INCOMING: Final = "incoming-"
AGAIN: Final = "disable the server, inspect it to install the package again, then enable it"
_DIGEST: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Tree:
    """An installed package. `folder` holds its files, `asked` is what its declaration asked for."""

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


def install_request(package: Package) -> tuple[str, ...]:
    """Return everything in a declaration that decides what is installed."""
    return (package.ecosystem.value, package.program or "", package.python or "", *package.specifications)


def installed_digest(folder: Path, program: PackageProgram, interpreter: str) -> str:
    bound = json.dumps([asdict(program), interpreter], sort_keys=True).encode()
    return tree_digest(folder, bound)


def record_text(tree: Tree) -> str:
    return json.dumps(
        {"asked": tree.asked, "program": asdict(tree.program), "interpreter": tree.interpreter, "digest": tree.digest},
        indent=2,
    )


def approved_tree(folder: Path, package: Package, artifact: str) -> Tree:
    """Return the approved tree, not verified yet. Raises ChangedPackage where it is missing, or another package's."""
    place = folder / artifact.rpartition("sha256:")[2]
    # The artifact comes from the database: as a path it must not lead out of the server's folder.
    if not _DIGEST.fullmatch(place.name):
        raise ChangedPackage(f"the approved artifact is not an installed package; {AGAIN}")
    try:
        told = json.loads((place / RECORD).read_text(encoding="utf-8"))
        program = PackageProgram(**{**told["program"], "options": tuple(told["program"]["options"])})
        tree = Tree(place / TREE, tuple(told["asked"]), package.ecosystem, program, told["interpreter"], told["digest"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ChangedPackage(f"the approved package is missing; {AGAIN}") from error
    # The declaration may have changed since the approval, while the old tree is still there and unmodified.
    if tree.asked != install_request(package) or tree.artifact != artifact:
        raise ChangedPackage(f"the installed package is not the approved one; {AGAIN}")
    return tree


def verify_tree(tree: Tree, artifact: str) -> None:
    """Check that a tree is the approved one, to the byte. Reads every file: call it in a thread.

    Raises ChangedPackage.
    """
    try:
        found = installed_digest(tree.folder, tree.program, tree.interpreter)
    except (NotInstalled, OSError) as error:
        raise ChangedPackage(f"the package was modified after its approval: {error}") from error
    if found != tree.digest or tree.artifact != artifact:
        raise ChangedPackage(f"the package was modified after its approval; {AGAIN}")
    if not Path(tree.interpreter).is_file():
        raise ChangedPackage(f"{tree.interpreter}, which the package was installed for, is missing; {AGAIN}")


def remove_other_trees(folder: Path, artifacts: Collection[str]) -> None:
    """Remove every tree but those of these artifacts. Never call it while an installation in this folder is running."""
    wanted = {artifact.rpartition("sha256:")[2] for artifact in artifacts}
    with suppress(FileNotFoundError):
        for each in list(folder.iterdir()):
            if each.name not in wanted:
                remove_tree(each)
