"""Installations as the guard makes them, from registries of all kinds."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcpguard.domain.servers.launches import Profile
from mcpguard.upstreams.packages.installation import InstallContext, install_package
from mcpguard.upstreams.packages.package import Package
from mcpguard.upstreams.packages.package_commands import recognise_package
from mcpguard.upstreams.packages.tree_launch import from_tree, tree_place
from mcpguard.upstreams.packages.trees import Tree
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.process.tree import descendants
from mcpguard.upstreams.sandbox.bwrap_command import Sandbox
from mcpguard.upstreams.sandbox.confined_launch import confine_launch
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.transports.dialing import Dialing
from tests.conformance import own_uv, tools
from tests.patience import PATIENCE

SOURCES = ("NPM_CONFIG_", "UV_", "PIP_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def environ() -> dict[str, str]:
    """This machine's, with a Node, an npm and a uv before any other."""
    ours = tools.environment()
    return {**ours, "PATH": f"{own_uv.folder()}{os.pathsep}{ours['PATH']}"}


def pointed_at(url: str) -> dict[str, str]:
    """The same, where packages come from there and from nowhere else."""
    ours = {name: value for name, value in environ().items() if not name.upper().startswith(SOURCES)}
    return {**ours, "NPM_CONFIG_REGISTRY": url, "UV_DEFAULT_INDEX": f"{url}/simple"}


def package(*words: str) -> Package:
    found = recognise_package(words[0], words[1:])
    assert isinstance(found, Package)
    return found


def way(data: Path, sandbox: Sandbox | None, environ: Mapping[str, str], **more: Any) -> InstallContext:  # noqa: ANN401
    return replace(InstallContext(sandbox, data, environ, {}, PATIENCE, Dialing()), **more)


def folder(data: Path) -> Path:
    return data / "packages" / "one"


async def install(wanted: Package, how: InstallContext) -> Tree:
    return await install_package(wanted, folder(how.data), how)


def launched(wanted: Package, tree: Tree, data: Path, sandbox: Sandbox, profile: Profile) -> ProcessLaunch:
    """How it is started, as the guard would."""
    inside = profile is not Profile.NONE
    declared = ProcessLaunch(wanted.runner, (), {"PATH": os.environ["PATH"]})
    launch = from_tree(wanted, tree, declared, inside=inside)
    return confine_launch(launch, profile, (), sandbox, data, ProcessLimits(), own=[tree_place(tree)] if inside else [])


@contextmanager
def nothing_left(data: Path) -> Iterator[None]:
    """Of an installation that came to nothing: no process and no file."""
    before = descendants(os.getpid())
    yield
    assert descendants(os.getpid()) <= before
    assert list(folder(data).iterdir()) == []


def with_uv(tmp_path: Path, script: str) -> dict[str, str]:
    """An installer that is as bad as can be: whatever a package could make of it."""
    (tmp_path / "bin").mkdir()
    uv = tmp_path / "bin" / "uv"
    uv.write_text(f"#!/bin/sh\n{script}\n")
    uv.chmod(0o755)
    return {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
