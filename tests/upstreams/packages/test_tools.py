"""The programs of this machine that install and run packages."""

import sys
from pathlib import Path

import pytest

from mcpguard.upstreams.packages import own_uv, tools
from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.tools import Search, search
from tests.upstreams.packages.installations import environ

pytestmark = pytest.mark.anyio
BASE = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


def shim(folder: Path, name: str, text: str) -> Path:
    """As version managers leave it: a script of the name of the program."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)
    return folder


def looking(folder: Path) -> Search:
    path = f"{folder}:/usr/bin:/bin"
    return search("", {"PATH": path}, path)


def test_it_is_looked_for_beside_the_runner_first(tmp_path: Path) -> None:
    beside, elsewhere = (shim(tmp_path / name, "uv", "true") for name in ("beside", "elsewhere"))
    assert tools.uv(search(f"{beside}/uvx", {}, str(elsewhere))) == beside / "uv"
    assert tools.uv(search("uvx", {}, f"relative::{elsewhere}")) == elsewhere / "uv"
    assert search("./uvx", {}, "").path == ""


def test_a_uv_that_somebody_had_fetched_is_taken_where_there_is_no_other(tmp_path: Path) -> None:
    data, beside = tmp_path / "data", tmp_path / "beside"
    with pytest.raises(NotInstalled, match=r"uv, .* was not found on this host.*mcpguard server fetch-uv"):
        tools.uv(search("uvx", {}, str(beside), data))
    own = executable(own_uv.uv_folder(data) / "bin" / "uv")
    assert tools.uv(search("uvx", {}, str(beside), data)) == own
    assert not own.is_relative_to(data), "nothing that is confined may see the data directory"
    machines = executable(beside / "uv")
    assert tools.uv(search("uvx", {}, str(beside), data)) == machines


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(0o755)
    return path


async def test_a_program_says_where_it_really_is(tmp_path: Path) -> None:
    shim(tmp_path / "shims", "python3", f'exec {BASE} "$@"')
    assert await tools.python(looking(tmp_path / "shims"), None) == BASE
    assert await tools.python(looking(tmp_path / "shims"), "3") == BASE
    node = await tools.node(search("npx", environ(), environ()["PATH"]))
    shim(tmp_path / "shims", "node", f'exec {node} "$@"')
    assert await tools.node(looking(tmp_path / "shims")) == node
    shim(tmp_path / "shims", "npm", "exit 1")
    assert tools.npm(looking(tmp_path / "shims"), node).name == "npm-cli.js", "not the shim, but the one of that Node"


async def test_a_virtual_environment_is_never_taken_itself(tmp_path: Path) -> None:
    (tmp_path / "pyvenv.cfg").write_text(f"home = {BASE.parent}\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(BASE)
    found = await tools.python(looking(tmp_path / "bin"), None)
    assert (found.parent, found) == (BASE.parent, found.resolve())


async def test_where_there_is_no_python_that_works_it_is_the_guards_own(tmp_path: Path) -> None:
    shim(tmp_path / "shims", "python3", "echo no version is set >&2; exit 127")
    assert await tools.python(looking(tmp_path / "shims"), None) == BASE


async def test_the_version_that_was_asked_for(tmp_path: Path) -> None:
    shims = shim(tmp_path / "shims", f"python{VERSION}", f'exec {BASE} "$@"')
    whole = ".".join(map(str, sys.version_info[:3]))
    for wanted in (VERSION, f"python{VERSION}", whole, str(BASE)):
        assert await tools.python(looking(shims), wanted) == BASE
    with pytest.raises(NotInstalled, match=rf"Python {VERSION}\.99 was not found on this host: .* is {whole}"):
        await tools.python(looking(shims), f"{VERSION}.99")
    for wanted in ("3.99", "/no/python"):
        with pytest.raises(
            NotInstalled, match=r"python.* was not found on this host, and an installation does not fetch one"
        ):
            await tools.python(looking(shims), wanted)


async def test_one_that_does_not_say_where_it_is(tmp_path: Path) -> None:
    shim(tmp_path / "shims", "node", "echo no version is set >&2; exit 127")
    with pytest.raises(NotInstalled, match=r"cannot find node behind .*shims/node: no version is set"):
        await tools.node(looking(tmp_path / "shims"))
    shim(tmp_path / "shims", "node", "echo /no/such/node")
    with pytest.raises(NotInstalled, match="cannot find node behind "):
        await tools.node(looking(tmp_path / "shims"))


async def test_what_is_asked_gets_no_secret(tmp_path: Path) -> None:
    shim(tmp_path / "shims", "node", "env >&2; exit 1")
    where = search("", {"HOME": "/home/me", "TOKEN": "canary", "PATH": "/usr/bin:/bin"}, f"{tmp_path}/shims")
    said = (await where.ask("node", str(tmp_path / "shims" / "node"))).errors
    assert "HOME=/home/me" in said
    assert "canary" not in said


async def test_what_is_not_on_the_guards_own_path_is_never_asked(tmp_path: Path) -> None:
    """Its answer would be given outside of every sandbox."""
    marker = tmp_path / "it-ran"
    for name in ("node", "python3", f"python{VERSION}", "npm"):
        shim(tmp_path / "declared", name, f"touch {marker}; echo /usr/bin/true")
    for where in (
        search("npx", {"PATH": "/usr/bin:/bin"}, f"{tmp_path}/declared:/usr/bin:/bin"),
        search(f"{tmp_path}/declared/npx", {"PATH": "/usr/bin:/bin"}, "/usr/bin:/bin"),
    ):
        with pytest.raises(NotInstalled, match="declared/node is a script; put node itself there"):
            await tools.node(where)
        for wanted in (VERSION, f"{tmp_path}/declared/python3"):
            with pytest.raises(NotInstalled, match=r"is a script; put .* itself there"):
                await tools.python(where, wanted)
        assert await tools.python(where, None) == BASE
    (tmp_path / "declared" / "python3").unlink()
    (tmp_path / "declared" / "python3").symlink_to(BASE)
    assert await tools.python(where, f"{tmp_path}/declared/python3") == BASE, "it is known without being asked"
    assert not marker.exists()
