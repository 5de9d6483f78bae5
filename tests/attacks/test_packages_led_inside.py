"""A registry, or a package, that has an installation ask what only this machine or its network can reach."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from mcpguard.upstreams.packages.not_installed import NotInstalled
from tests.attacks.sandboxed import works
from tests.simulators.registry import Registry, npm_package, redirect, registry, wheel
from tests.upstreams.packages.installations import install, nothing_left, package, pointed_at, way

pytestmark = pytest.mark.anyio
WHEEL = "server_one-1.0.0-py3-none-any.whl"
METADATA = "169.254.169.254"
Hostile = Callable[[Registry, str], None]
"""Makes a registry lead to this address."""


@pytest.fixture
async def there() -> AsyncIterator[Registry]:
    async with registry() as one:
        yield one


@pytest.fixture
async def inside() -> AsyncIterator[Registry]:
    """A service of this machine, which has all that an attacker could ask it for."""
    async with registry() as one:
        one.add_npm("server", npm_package("server"))
        one.add_npm("deep", npm_package("deep"))
        one.add_python("server-one", WHEEL, wheel("server-one", {}))
        one.add_python("deep", "deep-1.0.0-py3-none-any.whl", wheel("deep", {}))
        yield one


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def needs(address: str) -> Hostile:
    def publish(there: Registry, where: str) -> None:
        about = {"dependencies": {"deep": address.replace("INSIDE", where)}}
        there.add_npm("server", npm_package("server", **about), more=about)

    return publish


def archive_elsewhere(there: Registry, where: str) -> None:
    there.add_npm("server", npm_package("server"), dist={"tarball": f"{where}/files/server-1.0.0.tgz"})


def archive_redirected(there: Registry, where: str) -> None:
    there.add_npm("server", npm_package("server"))
    there.answers["/files/server-1.0.0.tgz"] = redirect(f"{where}/files/server-1.0.0.tgz")


def packument_redirected(there: Registry, where: str) -> None:
    there.answers["/server"] = redirect(f"{where}/server", 307)


OF_NPM: dict[str, Hostile] = {
    "an archive elsewhere": archive_elsewhere,
    "an archive redirected": archive_redirected,
    "what is known of it redirected": packument_redirected,
    "a dependency by its address": needs("INSIDE/files/deep-1.0.0.tgz"),
    "a dependency over git": needs("git+INSIDE/deep.git"),
    "a dependency over ssh": needs("git+ssh://git@127.0.0.1/deep.git"),
    "a dependency in a file": needs("file:/etc/passwd"),
    "a dependency in a folder": needs("file:/usr/lib"),
}
EACH_OF_NPM = pytest.mark.parametrize("publish", OF_NPM.values(), ids=OF_NPM.keys())


def requires(address: str) -> Hostile:
    def publish(there: Registry, where: str) -> None:
        needed = f"Requires-Dist: deep @ {address.replace('INSIDE', where)}"
        about = f"Metadata-Version: 2.1\nName: server-one\nVersion: 1.0.0\n{needed}\n"
        there.add_python("server-one", WHEEL, wheel("server-one", {"server_one-1.0.0.dist-info/METADATA": about}))

    return publish


def wheel_elsewhere(there: Registry, where: str) -> None:
    there.add_python("server-one", WHEEL, b"", f"{where}/files/{WHEEL}")


def wheel_redirected(there: Registry, where: str) -> None:
    there.add_python("server-one", WHEEL, b"")
    there.answers[f"/files/{WHEEL}"] = redirect(f"{where}/files/{WHEEL}")


def page_redirected(there: Registry, where: str) -> None:
    there.answers["/simple/server-one/"] = redirect(f"{where}/simple/server-one/", 307)


OF_UV: dict[str, Hostile] = {
    "a wheel elsewhere": wheel_elsewhere,
    "a wheel redirected": wheel_redirected,
    "a page redirected": page_redirected,
    "a dependency by its address": requires("INSIDE/files/deep-1.0.0-py3-none-any.whl"),
    "a dependency over git": requires("git+INSIDE/deep.git"),
    "a dependency over ssh": requires("git+ssh://git@127.0.0.1/deep.git"),
    "a dependency in a file": requires("file:///usr/lib/deep-1.0.0-py3-none-any.whl"),
}
EACH_OF_UV = pytest.mark.parametrize("publish", OF_UV.values(), ids=OF_UV.keys())


@EACH_OF_NPM
async def test_npm_asks_nothing_inside(publish: Hostile, there: Registry, inside: Registry, data: Path) -> None:
    publish(there, inside.url)
    with nothing_left(data), pytest.raises(NotInstalled):
        await install(package("npx", "server"), way(data, works().sandbox, pointed_at(there.url)))
    assert there.asked, "the registry itself is inside too, and was named by who owns this machine"
    assert inside.asked == []


@EACH_OF_UV
async def test_uv_asks_nothing_inside(publish: Hostile, there: Registry, inside: Registry, data: Path) -> None:
    publish(there, inside.url)
    with nothing_left(data), pytest.raises(NotInstalled):
        await install(package("uvx", "server-one"), way(data, works().sandbox, pointed_at(there.url)))
    assert there.asked
    assert inside.asked == []


@pytest.mark.parametrize("runner", ["npx", "uvx"])
@pytest.mark.parametrize("confined", [True, False])
async def test_it_is_said_where_a_registry_leads(
    runner: str, there: Registry, inside: Registry, data: Path, *, confined: bool
) -> None:
    archive_redirected(there, inside.url)
    wheel_redirected(there, inside.url)
    how = way(data, works().sandbox if confined else None, pointed_at(there.url))
    with (
        nothing_left(data),
        pytest.raises(NotInstalled, match=r"resolves to 127\.0\.0\.1, which is not a public address"),
    ):
        await install(package(runner, "server" if runner == "npx" else "server-one"), how)
    assert inside.asked == []


@pytest.mark.parametrize("runner", ["npx", "uvx"])
@pytest.mark.parametrize(
    "host",
    [METADATA, "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0.0.0.0"],  # noqa: S104 - to be refused
)
async def test_however_it_is_written(runner: str, host: str, there: Registry, inside: Registry, data: Path) -> None:
    where = f"http://{host}:{inside.url.rpartition(':')[2]}"
    archive_redirected(there, where)
    wheel_redirected(there, where)
    with nothing_left(data), pytest.raises(NotInstalled, match="is not a public address"):
        await install(
            package(runner, "server" if runner == "npx" else "server-one"),
            way(data, works().sandbox, pointed_at(there.url)),
        )
    assert inside.asked == []
