"""Installations that never end, take everything, or leave what no tree may hold; and what one gets to see."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.process.tree import descendants
from mcpguard.upstreams.sandbox.limits import MEBIBYTE
from tests.attacks.sandboxed import works
from tests.patience import PATIENCE
from tests.simulators.registry import Registry, npm_package, registry, wheel
from tests.upstreams.packages.installations import (
    folder,
    install,
    nothing_left,
    package,
    pointed_at,
    way,
    with_uv,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def there() -> AsyncIterator[Registry]:
    async with registry() as one:
        yield one


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


async def test_an_installation_that_never_ends_is_ended(there: Registry, data: Path) -> None:
    there.add_npm("server", npm_package("server"))
    there.hanging.add("/files/server-1.0.0.tgz")
    how = way(data, works().sandbox, pointed_at(there.url), seconds=4.0)
    with (
        nothing_left(data),
        pytest.raises(NotInstalled, match="installation of server did not finish within 4 seconds"),
    ):
        await install(package("npx", "server"), how)


@pytest.mark.parametrize("confined", [True, False])
async def test_one_that_is_given_up_leaves_nothing(there: Registry, data: Path, *, confined: bool) -> None:
    there.add_python("server-one", "server_one-1.0.0-py3-none-any.whl", wheel("server-one", {}))
    there.hanging.add("/files/server_one-1.0.0-py3-none-any.whl")
    how = way(data, works().sandbox if confined else None, pointed_at(there.url))
    with nothing_left(data):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(install, package("uvx", "server-one"), how)
            with anyio.fail_after(PATIENCE):
                await there.hung.wait()
            assert len(descendants(os.getpid())) > 0
            assert len(list(folder(data).iterdir())) == 1
            tasks.cancel_scope.cancel()


GOOD = """
mkdir -p bin server-1.0.dist-info
printf 'Name: server\\nVersion: 1.0\\n' > server-1.0.dist-info/METADATA
printf '#!/usr/bin/python3\\n' > bin/server; chmod 755 bin/server
"""
ENDLESS: dict[str, tuple[str, str]] = {
    "says too much": (
        "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
        "printed more than",
    ),
    "complains too much": ("exec cat /dev/zero >&2", "printed more than"),
    "writes too much": (
        "for i in 1 2 3 4 5 6 7 8; do head -c 8388608 /dev/zero > $i; done; sleep 600",
        "it uses more than 32 MiB",
    ),
    "leaves something": ("setsid sleep 600 & exit 7", "no error message"),
    "cannot be killed": ("trap '' TERM HUP INT; while :; do sleep 600; done", "did not finish within"),
    "takes its folder away": ("rm -r /opt/package/tree; ln -s / /opt/package/tree", "left no folder"),
}


@pytest.mark.parametrize(("script", "why"), ENDLESS.values(), ids=ENDLESS.keys())
async def test_one_without_bounds_is_ended(script: str, why: str, data: Path, tmp_path: Path) -> None:
    seconds = 3.0 if "within" in why else PATIENCE
    how = way(data, works().sandbox, with_uv(tmp_path, script), seconds=seconds, room=32 * MEBIBYTE)
    with nothing_left(data), pytest.raises(NotInstalled, match=why):
        await install(package("uvx", "server"), how)


ODD: dict[str, tuple[str, str]] = {
    "a link out": ("ln -s /etc/passwd x", "the package contains x, a link that leads out of it"),
    "a link up": ("ln -s ../../.. x", "the package contains x, a link that leads out of it"),
    "a pipe": ("mkfifo x || exit 9", "mkfifo: cannot create fifo 'x': Operation not permitted"),
    "rights": ("touch x; chmod 4755 x || exit 9", "chmod: changing permissions of 'x': Operation not permitted"),
    "a program elsewhere": ("rm bin/server; ln -s /bin/sh bin/server", "link that leads out"),
    "a program that is none": ("rm bin/server; mkdir bin/server", "has no program"),
    "another package": ("rm -r *.dist-info", "the installer did not install server"),
}


@pytest.mark.parametrize(("script", "why"), ODD.values(), ids=ODD.keys())
async def test_a_tree_that_is_not_whole_in_itself_is_refused(script: str, why: str, data: Path, tmp_path: Path) -> None:
    environ = with_uv(tmp_path, f"{GOOD}\n{script}")
    with nothing_left(data), pytest.raises(NotInstalled, match=rf"server cannot be (used|installed): .*{why}"):
        await install(package("uvx", "server"), way(data, works().sandbox, environ))


SEEN = """
{ env | grep -c canary
env | cut -d= -f1 | sort | tr '\\n' ' '; echo
echo :; cat DATA/audit.key 2>/dev/null; ls -d DATA 2>/dev/null; ls /opt /opt/package
for each in /x /opt/x /usr/x /etc/x /opt/package/x; do touch $each 2>/dev/null && echo $each; done; } >&2
exit 9
"""


async def test_what_an_installation_sees(data: Path, tmp_path: Path) -> None:
    """The folder it writes to, and nothing of the guard: no file, no variable."""
    await anyio.Path(data).mkdir()
    await anyio.Path(data / "audit.key").write_text("canary")
    environ = {**with_uv(tmp_path, SEEN.replace("DATA", str(data))), "TOKEN": "canary", "UV_PUBLISH_TOKEN": "canary"}
    with pytest.raises(NotInstalled) as refused:
        await install(package("uvx", "server"), way(data, works().sandbox, environ))
    said = str(refused.value).removeprefix("server cannot be installed: ").split()
    at = said.index(":")
    assert said[0] == "0"
    ours = {"MCPGUARD_STARTED", "PYTHONDONTWRITEBYTECODE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}
    assert set(said[1:at]) == {"HOME", "PATH", "PWD", "TMPDIR", "XDG_CACHE_HOME", *ours}
    assert said[at + 1 :] == ["/opt:", "package", "/opt/package:", "cache", "home", "tree", "/opt/package/x"]


async def test_what_installs_has_to_be_there(data: Path, tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    for words, why in (
        (("npx", "server"), "install Node.js"),
        (("uvx", "server"), "was not found on this host"),
    ):
        with nothing_left(data), pytest.raises(NotInstalled, match=why):
            await install(package(*words), way(data, works().sandbox, environ))
