"""The digest of a tree, and the tree that was approved."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpguard.upstreams.packages import trees
from mcpguard.upstreams.packages.digest import MOST_BYTES, tree_digest
from mcpguard.upstreams.packages.not_installed import ChangedPackage, NotInstalled
from mcpguard.upstreams.packages.package import Ecosystem, Package
from mcpguard.upstreams.packages.programs import PackageProgram
from mcpguard.upstreams.packages.trees import Tree, approved_tree, remove_other_trees, verify_tree

PACKAGE = Package(Ecosystem.NPM, ("server@1",))
PROGRAM = PackageProgram("server", "1.0.0", "node_modules/server/server.js", ())


def grown(folder: Path, order: int = 1) -> Path:
    """A tree of everything that there can be, put there in this order or the other."""
    files = [("node_modules/server/server.js", "run"), ("node_modules/a", "a"), ("node_modules/a.b/c", "c"), ("z", "")]
    for name, text in files[::order]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "node_modules" / "server" / "server.js").chmod(0o755)
    (folder / "bin").mkdir()
    (folder / "bin" / "server").symlink_to("../node_modules/server/server.js")
    return folder


def test_it_does_not_depend_on_when_where_by_whom_or_in_which_order(tmp_path: Path) -> None:
    one, other = grown(tmp_path / "one"), grown(tmp_path / "somewhere" / "else", -1)
    os.utime(other / "z", (1, 1))
    (other / "z").chmod(0o600)
    (other / "node_modules").chmod(0o700)
    assert tree_digest(one) == tree_digest(other)


def linked(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


def written(path: Path, text: str = "") -> None:
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text)


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda tree: written(tree / "z", "x"),
    "one more": lambda tree: written(tree / "new"),
    "one more folder": lambda tree: (tree / "new").mkdir(),
    "one less": lambda tree: (tree / "z").unlink(),
    "another name": lambda tree: (tree / "z").rename(tree / "y"),
    "another place": lambda tree: (tree / "z").rename(tree / "bin" / "z"),
    "can be executed": lambda tree: (tree / "z").chmod(0o755),
    "cannot be executed": lambda tree: (tree / "node_modules" / "server" / "server.js").chmod(0o644),
    "a link": lambda tree: linked(tree / "z", "node_modules/a"),
    "another link": lambda tree: linked(tree / "bin" / "server", "../z"),
    "no link": lambda tree: written(tree / "bin" / "server", "run"),
    "compiled code": lambda tree: written(tree / "__pycache__" / "x.pyc"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_it_depends_on_all_that_is_in_it(change: Callable[[Path], object], tmp_path: Path) -> None:
    tree = grown(tmp_path / "tree")
    before = tree_digest(tree)
    change(tree)
    assert tree_digest(tree) != before
    assert tree_digest(tree, b"x") != tree_digest(tree)


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "..", "../..", "../beside", "bin/../../beside", "inner/../..", "inner/../../beside"]
)
def test_a_link_that_leads_out_has_none(target: str, tmp_path: Path) -> None:
    tree = grown(tmp_path / "tree")
    (tmp_path / "beside").touch()
    (tree / "inner").symlink_to("node_modules/server")
    (tree / "link").symlink_to(target)
    with pytest.raises(NotInstalled, match=r"the package contains .*link, a link that leads out of it"):
        tree_digest(tree)


def test_links_that_lead_round_or_nowhere_stay_inside(tmp_path: Path) -> None:
    tree = grown(tmp_path / "tree")
    (tree / "round").symlink_to("round")
    (tree / "nowhere").symlink_to("node_modules/none")
    assert tree_digest(tree)


def test_what_is_neither_file_nor_folder_has_none(tmp_path: Path) -> None:
    for number, kind in enumerate((stat.S_IFIFO, stat.S_IFSOCK)):
        tree = grown(tmp_path / str(number))
        os.mknod(tree / "odd", kind | 0o644)
        with pytest.raises(NotInstalled, match=r"the package contains .*odd, which is neither a file nor a folder"):
            tree_digest(tree)


def test_what_gives_rights_or_is_too_large_has_none(tmp_path: Path) -> None:
    tree = grown(tmp_path / "tree")
    (tree / "z").chmod(0o4755)
    with pytest.raises(NotInstalled, match=r"the package contains .*z, which is setuid or setgid"):
        tree_digest(tree)
    (tree / "z").chmod(0o644)
    os.truncate(tree / "z", MOST_BYTES + 1)
    with pytest.raises(NotInstalled, match="the package is larger than 1024 MiB"):
        tree_digest(tree)


def approved(folder: Path, interpreter: Path) -> Tree:
    """As an installation leaves it."""
    grown(folder / "incoming" / "tree")
    digest = trees.installed_digest(folder / "incoming" / "tree", PROGRAM, str(interpreter))
    place = (folder / "incoming").rename(folder / digest)
    tree = Tree(place / "tree", trees.install_request(PACKAGE), PACKAGE.ecosystem, PROGRAM, str(interpreter), digest)
    (place / "package.json").write_text(trees.record_text(tree))
    return tree


def test_what_was_approved_is_found_and_is_whole(tmp_path: Path) -> None:
    interpreter = tmp_path / "node"
    interpreter.touch()
    tree = approved(tmp_path / "kept", interpreter)
    found = approved_tree(tmp_path / "kept", PACKAGE, tree.artifact)
    assert found == tree
    verify_tree(found, tree.artifact)
    (tree.folder / "z").write_text("x")
    with pytest.raises(ChangedPackage, match="modified after its approval"):
        verify_tree(found, tree.artifact)
    (tree.folder / "z").write_text("")
    verify_tree(found, tree.artifact)
    interpreter.unlink()
    with pytest.raises(ChangedPackage, match="node, which the package was installed for, is missing"):
        verify_tree(found, tree.artifact)


@pytest.mark.parametrize(
    "change",
    [
        {"program": {"name": "server", "version": "1.0.0", "path": "node_modules/a", "options": []}},
        {"program": {"name": "server", "version": "1.0.0", "path": PROGRAM.path, "options": ["--require=/evil.js"]}},
        {"program": {"name": "server", "version": "1.0.0", "path": "../../../evil.js", "options": []}},
        {"interpreter": "/bin/sh"},
    ],
    ids=["another program", "options", "a program elsewhere", "another interpreter"],
)
def test_a_record_that_was_changed_is_noticed(change: dict[str, object], tmp_path: Path) -> None:
    tree = approved(tmp_path / "kept", Path("/bin/true"))
    path = tree.folder.parent / "package.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    found = approved_tree(tmp_path / "kept", PACKAGE, tree.artifact)
    with pytest.raises(ChangedPackage, match="modified after its approval"):
        verify_tree(found, tree.artifact)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"program": 1}', "[" * 100_000, '{"program": {"options": [], "x": 1}}']
)
def test_a_record_that_is_none_is_as_good_as_none(text: str, tmp_path: Path) -> None:
    tree = approved(tmp_path / "kept", Path("/bin/true"))
    (tree.folder.parent / "package.json").write_text(text)
    with pytest.raises(ChangedPackage, match="is missing"):
        approved_tree(tmp_path / "kept", PACKAGE, tree.artifact)


def test_only_what_was_asked_for_and_approved_is_found(tmp_path: Path) -> None:
    tree = approved(tmp_path / "kept", Path("/bin/true"))
    for package in (Package(Ecosystem.NPM, ("server@2",)), Package(Ecosystem.NPM, ("server@1",), "other")):
        with pytest.raises(ChangedPackage, match="not the approved one"):
            approved_tree(tmp_path / "kept", package, tree.artifact)
    for artifact in (f"npm:other@1.0.0 sha256:{tree.digest}", f"npm:server@1.0.1 sha256:{tree.digest}"):
        with pytest.raises(ChangedPackage, match="not the approved one"):
            approved_tree(tmp_path / "kept", PACKAGE, artifact)
    for artifact in (
        f"npm:server@1.0.0 sha256:{'0' * 64}",
        "npm:server@1.0.0 sha256:../x/y",
        "file:x",
        "",
        "sha256:..",
    ):
        with pytest.raises(ChangedPackage):
            approved_tree(tmp_path / "kept", PACKAGE, artifact)


def test_what_nobody_needs_any_more_goes(tmp_path: Path) -> None:
    tree = approved(tmp_path / "kept", Path("/bin/true"))
    for name in ("incoming-x", "0" * 64):
        (tmp_path / "kept" / name / "deep").mkdir(parents=True)
    remove_other_trees(tmp_path / "kept", [tree.artifact])
    assert [each.name for each in (tmp_path / "kept").iterdir()] == [tree.digest]
    remove_other_trees(tmp_path / "never-there", [])
    assert not (tmp_path / "never-there").exists()
