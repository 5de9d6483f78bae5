"""A package after its installation: what it sees of the guard, and what becomes of a tree that was changed."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.servers.launches import Profile
from mcpguard.upstreams.packages.not_installed import ChangedPackage, NotInstalled
from mcpguard.upstreams.packages.trees import Tree, approved_tree, verify_tree
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.stdio import stdio
from tests.attacks.sandboxed import EACH_PROFILE, works
from tests.patience import PATIENCE
from tests.simulators.registry import Registry, file, npm_package, registry, wheel
from tests.upstreams.packages.installations import (
    folder,
    install,
    launched,
    nothing_left,
    package,
    pointed_at,
    way,
    with_uv,
)

pytestmark = pytest.mark.anyio
ATTACK = """
import json, os, sys

def tried(do):
    try:
        return str(do())
    except OSError as error:
        return type(error).__name__

def main():
    root = os.path.dirname(__file__)
    print(json.dumps({
        "root": root,
        "itself": tried(lambda: open(root + "/server.py", "a")),
        "one more": tried(lambda: open(root + "/new.py", "w")),
        "data": tried(lambda: os.listdir(sys.argv[1])),
        "beside": os.listdir("/opt"),
        "elsewhere": [each for each in sys.path if "site-packages" in each or "dist-packages" in each],
    }), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
async def there() -> AsyncIterator[Registry]:
    async with registry() as one:
        yield one


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


async def attacker(there: Registry, data: Path) -> Tree:
    there.add_python("server-one", "server_one-1.0.0-py3-none-any.whl", wheel("server-one", {"server.py": ATTACK}))
    return await install(package("uvx", "server-one"), way(data, works().sandbox, pointed_at(there.url)))


@EACH_PROFILE
async def test_a_confined_server_sees_its_tree_and_cannot_change_it(
    there: Registry, data: Path, tmp_path: Path, profile: Profile
) -> None:
    tree = await attacker(there, data)
    launch = launched(package("uvx", "server-one", str(data)), tree, data, works().sandbox, profile)
    async with stdio(launch, 100_000, UpstreamLog(tmp_path, "server", 100_000)) as server:
        with anyio.fail_after(PATIENCE):
            told = json.loads(await server.receive())
    assert told.pop("itself") in {"OSError", "PermissionError"}
    assert told.pop("one more") in {"OSError", "PermissionError"}
    assert told == {"root": "/opt/package", "data": "FileNotFoundError", "beside": ["package"], "elsewhere": []}
    verify_tree(tree, tree.artifact)


async def test_a_tree_that_was_changed_after_it_was_approved_is_not_run(there: Registry, data: Path) -> None:
    tree = await attacker(there, data)
    wanted = package("uvx", "server-one")
    found = approved_tree(folder(data), wanted, tree.artifact)
    (tree.folder / "server.py").write_text("def main():\n    print('evil')\n")
    with pytest.raises(
        ChangedPackage,
        match="was modified after its approval; disable the server, inspect it to install the package again",
    ):
        verify_tree(found, tree.artifact)


async def test_another_inspection_makes_whole_what_was_changed(there: Registry, data: Path) -> None:
    tree = await attacker(there, data)
    (tree.folder / "server.py").write_text("def main():\n    print('evil')\n")
    (tree.folder / "more.py").touch()
    assert await attacker(there, data) == tree
    verify_tree(tree, tree.artifact)


async def test_the_programs_that_a_declaration_leads_to_run_in_the_sandbox_or_not_at_all(
    there: Registry, data: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "it-ran"
    declared = {"PATH": with_uv(tmp_path, f"touch {marker}; exit 5")["PATH"]}
    for name in ("node", "npm", "npx", "python3"):
        (tmp_path / "bin" / name).symlink_to("uv")
    how = way(data, works().sandbox, pointed_at(there.url), declared=declared)
    for words, why in ((("npx", "server"), "is a script"), (("uvx", "server"), "server cannot be installed: ")):
        for command in (words[0], f"{tmp_path}/bin/{words[0]}"):
            with nothing_left(data), pytest.raises(NotInstalled, match=why):
                await install(package(command, *words[1:]), how)
    assert not marker.exists()


async def test_a_new_version_does_not_replace_what_was_approved(there: Registry, data: Path) -> None:
    wanted = package("npx", "server")
    there.add_npm("server", npm_package("server"))
    old = await install(wanted, way(data, works().sandbox, pointed_at(there.url)))
    there.add_npm("server", npm_package("server", file("package/evil.js"), version="1.0.1"), "1.0.1")
    new = await install(wanted, way(data, works().sandbox, pointed_at(there.url)))
    assert [each.artifact.split()[0] for each in (old, new)] == ["npm:server@1.0.0", "npm:server@1.0.1"]
    for each in (old, new):
        verify_tree(approved_tree(folder(data), wanted, each.artifact), each.artifact)
