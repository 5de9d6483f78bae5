"""What a package brings to its installation: scripts, code to build it with, and archives that lead elsewhere."""

import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import anyio
import pytest

from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.trees import verify_tree
from tests.attacks.sandboxed import works
from tests.conformance import tools
from tests.patience import PATIENCE
from tests.simulators.registry import Entry, Registry, file, link, npm_package, registry, tarball, wheel
from tests.upstreams.packages.installations import (
    folder,
    install,
    nothing_left,
    package,
    pointed_at,
    way,
)

pytestmark = pytest.mark.anyio
SCRIPTS = ("preinstall", "install", "postinstall", "prepare")
EVIL_BACKEND = """
import os, urllib.request
urllib.request.urlopen(os.environ["UV_DEFAULT_INDEX"].removesuffix("/simple") + "/it-ran")
"""
PROJECT = '[build-system]\nrequires = []\nbackend-path = ["."]\nbuild-backend = "evil"\n'


@pytest.fixture
async def there() -> AsyncIterator[Registry]:
    async with registry() as one:
        yield one


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


async def run(words: list[str], where: Path, environ: Mapping[str, str]) -> None:
    """An installation as one would do it without us, to show what the attack is worth."""
    await anyio.Path(where).mkdir()
    command = ["timeout", str(PATIENCE), *words]
    await anyio.run_process(
        command, cwd=where, env={**environ, "HOME": str(where)}, check=False, stderr=subprocess.STDOUT
    )


def it_ran(there: Registry) -> bool:
    return "/it-ran" in there.asked


async def test_no_script_of_an_npm_package_runs(there: Registry, data: Path, tmp_path: Path) -> None:
    calls_out = f"node -e \"require('http').get('{there.url}/it-ran')\""
    scripts = dict.fromkeys(SCRIPTS, calls_out)
    there.add_npm("deep", npm_package("deep", scripts=scripts), more={"scripts": scripts, "hasInstallScript": True})
    about = {"scripts": scripts, "dependencies": {"deep": "1.0.0"}}
    there.add_npm("server", npm_package("server", **about), more={**about, "hasInstallScript": True})
    environ = pointed_at(there.url)
    npm = tools.node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    await run([str(tools.node()), str(npm), "install", "server"], tmp_path / "unguarded", environ)
    assert it_ran(there), "npm on its own runs them"
    there.asked.clear()
    tree = await install(package("npx", "server"), way(data, works().sandbox, environ))
    await install(package("npx", "server"), way(data, None, environ))
    assert (tree.folder / "node_modules" / "deep" / "server.js").is_file(), "it was installed"
    assert not it_ran(there)


def source_only() -> bytes:
    entries = [
        file("server-1.0.0/pyproject.toml", PROJECT),
        file("server-1.0.0/PKG-INFO", "Metadata-Version: 2.1\nName: server\nVersion: 1.0.0\n"),
        file("server-1.0.0/evil.py", EVIL_BACKEND),
        file("server-1.0.0/setup.py", EVIL_BACKEND),
    ]
    return tarball(*entries)


async def test_what_would_have_to_be_built_is_refused(there: Registry, data: Path, tmp_path: Path) -> None:
    there.add_python("server", "server-1.0.0.tar.gz", source_only())
    environ = pointed_at(there.url)
    words = ["uv", "pip", "install", "--target", "x", "--python", sys.executable, "--no-cache", "server"]
    await run(words, tmp_path / "unguarded", environ)
    assert it_ran(there), "uv on its own runs it"
    there.asked.clear()
    for sandbox in (works().sandbox, None):
        with nothing_left(data), pytest.raises(NotInstalled, match=r"server cannot be installed: .*no usable wheels"):
            await install(package("uvx", "server"), way(data, sandbox, environ))
    assert not it_ran(there)
    assert "/simple/server/" in there.asked


async def test_a_dependency_that_would_have_to_be_built_is_refused_too(there: Registry, data: Path) -> None:
    there.add_python("server", "server-1.0.0.tar.gz", source_only())
    info = "main_one-1.0.0.dist-info/METADATA"
    needs = "Metadata-Version: 2.1\nName: main-one\nVersion: 1.0.0\nRequires-Dist: server\n"
    there.add_python("main-one", "main_one-1.0.0-py3-none-any.whl", wheel("main-one", {info: needs}))
    with nothing_left(data), pytest.raises(NotInstalled, match="no usable wheels"):
        await install(package("uvx", "main-one"), way(data, works().sandbox, pointed_at(there.url)))
    assert not it_ran(there)


async def test_a_dependency_from_a_repository_is_refused(there: Registry, data: Path, tmp_path: Path) -> None:
    """It would be fetched by git, which runs what its address says."""
    marker = tmp_path / "marker"
    about = {"dependencies": {"deep": f"git+ext::sh -c touch% {marker}"}}
    there.add_npm("server", npm_package("server", **about), more=about)
    with nothing_left(data), pytest.raises(NotInstalled, match="server cannot be installed"):
        await install(package("npx", "server"), way(data, None, pointed_at(there.url)))
    assert not marker.exists()


HOSTILE: dict[str, list[Entry]] = {
    "above": [file("package/../../../../escaped", "x"), file("../../../escaped", "x")],
    "absolute": [file("/opt/package/escaped", "x"), file("/var/escaped", "x")],
    "through a link": [link("package/out", "../../../.."), file("package/out/escaped", "x")],
    "through a hard link": [link("package/out", "/etc/hosts", tarfile.LNKTYPE), file("package/out", "escaped")],
    "a link": [link("package/secrets", "/etc/passwd"), link("package/up", "../../../..")],
    "a device": [link("package/null", "", tarfile.CHRTYPE), link("package/pipe", "", tarfile.FIFOTYPE)],
    "rights": [file("package/rights", "x", 0o6755)],
}


def escaped(around: Path) -> list[Path]:
    """What was written anywhere but into a tree."""
    found = [path for path in around.rglob("escaped") if "tree" not in path.parts]
    return [*found, *(path for path in (Path("/var/escaped"), Path("/opt/package")) if path.exists())]


@pytest.mark.parametrize("entries", HOSTILE.values(), ids=HOSTILE.keys())
async def test_an_archive_that_leads_elsewhere_leads_nowhere(
    entries: list[Entry], there: Registry, data: Path, tmp_path: Path
) -> None:
    there.add_npm("server", npm_package("server", *entries))
    try:
        tree = await install(package("npx", "server"), way(data, None, pointed_at(there.url)))
    except NotInstalled:
        assert list(folder(data).iterdir()) == []
    else:
        verify_tree(tree, tree.artifact)
        everything = list(tree.folder.rglob("*"))
        assert not [path for path in everything if path.is_symlink() and "node_modules/.bin" not in str(path)]
        assert not [path for path in everything if path.stat().st_mode & 0o7022]
        assert {each.name for each in tree.folder.parent.iterdir()} == {"tree", "package.json"}
    assert escaped(tmp_path) == []


@pytest.mark.parametrize("name", ["../../escaped", "/var/escaped", "bin/../../../escaped"])
async def test_a_wheel_that_leads_elsewhere_leads_nowhere(
    name: str, there: Registry, data: Path, tmp_path: Path
) -> None:
    there.add_python("server-one", "server_one-1.0.0-py3-none-any.whl", wheel("server-one", {name: "x"}))
    try:
        tree = await install(package("uvx", "server-one"), way(data, None, pointed_at(there.url)))
    except NotInstalled:
        assert list(folder(data).iterdir()) == []
    else:
        assert {each.name for each in tree.folder.parent.iterdir()} == {"tree", "package.json"}
    assert escaped(tmp_path) == []


async def test_an_archive_that_is_not_what_the_registry_promised_is_refused(there: Registry, data: Path) -> None:
    there.add_npm("server", npm_package("server"))
    there._files["/files/server-1.0.0.tgz"] = npm_package("server", file("package/more.js", "evil"))
    with nothing_left(data), pytest.raises(NotInstalled, match=r"(?i)integrity"):
        await install(package("npx", "server"), way(data, works().sandbox, pointed_at(there.url)))


@pytest.mark.parametrize(
    ("bin", "why"),
    [
        ("../../../../../etc/passwd", "server declares the program server, but the file is missing"),
        ({"one": "server.js", "two": "server.js"}, "has no program 'server'; available: one, two"),
        ({}, "has no program 'server'; available: none"),
        (["server.js"], "has no program 'server'; available: none"),
        ("missing.js", "server declares the program server, but the file is missing"),
        ("script.sh", "is not a Node.js program"),
    ],
)
async def test_a_program_that_is_none_is_not_run(bin: object, why: str, there: Registry, data: Path) -> None:  # noqa: A002
    there.add_npm("server", npm_package("server", file("package/script.sh", "#!/bin/sh\nid\n", 0o755), bin=bin))
    with nothing_left(data), pytest.raises(NotInstalled, match=why):
        await install(package("npx", "server"), way(data, None, pointed_at(there.url)))
