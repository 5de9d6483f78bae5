"""A guard whose package comes from a hostile registry: it says why nothing was installed, and all else goes on."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.servers.launches import DeclaredServer, StdioLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from tests.attacks.quarantined import records, standing, upstream
from tests.attacks.sandboxed import works
from tests.gate import Gate, gate
from tests.gateway.speaking import played
from tests.patience import PATIENCE
from tests.review import DECISION
from tests.simulators.registry import Registry, npm_package, redirect, registry, wheel
from tests.simulators.script import Script
from tests.upstreams.packages.installations import environ

pytestmark = pytest.mark.anyio
ARCHIVE = "/files/server-1.0.0.tgz"
WHEEL = "server_one-1.0.0-py3-none-any.whl"
CANARY = "canary-of-the-environment"
EACH_RUNNER = pytest.mark.parametrize(
    ("words", "archive"),
    [(("npx", "-y", "server"), ARCHIVE), (("uvx", "server-one"), f"/files/{WHEEL}")],
    ids=["npx", "uvx"],
)


@pytest.fixture(autouse=True)
def _there_are_a_sandbox_and_installers(monkeypatch: pytest.MonkeyPatch) -> None:
    works()
    monkeypatch.setenv("PATH", environ()["PATH"])


@pytest.fixture
async def there() -> AsyncIterator[Registry]:
    async with registry() as one:
        one.add_npm("server", npm_package("server"))
        one.add_python("server-one", WHEEL, wheel("server-one", {}))
        yield one


def of(there: Registry) -> dict[str, str]:
    return {"NPM_CONFIG_REGISTRY": there.url, "UV_INDEX_URL": f"{there.url}/simple"}


def declared(words: tuple[str, ...], **environment: str) -> DeclaredServer:
    return DeclaredServer("pack", "pack", StdioLaunch(words[0], words[1:], {"API_KEY": CANARY, **environment}))


async def refused(guard: Gate, why: str) -> None:
    """It is looked at, comes to nothing, and nothing is left of it but the record that it was looked at."""
    told = await guard.now.guard.inspecting.inspect("pack", DECISION, consent=False, give=frozenset())
    assert why in told.error
    assert not told.started
    assert standing(guard, "pack") is UpstreamStanding.QUARANTINED
    assert upstream(guard, "pack").artifact is None
    assert len(records(guard, "inspected", server="pack")) == 1
    assert records(guard, "listed", server="pack") == []
    packages = guard.now.settings.data_dir / "packages"
    assert list(packages.glob("*/*")) == []


def nothing_told(*registries: Registry) -> None:
    assert CANARY not in str([each.heard for each in registries])
    for each in (request for one in registries for request in one.heard):
        assert not {"authorization", "proxy-authorization", "cookie"} & each.headers.keys()


@EACH_RUNNER
async def test_a_registry_of_ours_that_leads_inside_is_not_followed(
    words: tuple[str, ...], archive: str, there: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in of(there).items():
        monkeypatch.setenv(name, value)
    async with registry() as inside, gate(tmp_path, upstreams__networks=[]) as guard:
        there.answers[archive] = redirect(f"{inside.url}/latest/meta-data")
        await guard.declare(declared(words))
        await refused(guard, "resolves to 127.0.0.1, which is not a public address")
        assert archive in there.asked
        assert inside.heard == []
        nothing_told(there)


@EACH_RUNNER
async def test_a_registry_inside_that_only_a_server_declares_is_not_asked(
    words: tuple[str, ...], archive: str, there: Registry, tmp_path: Path
) -> None:
    del archive
    async with gate(tmp_path, upstreams__networks=[]) as guard:
        await guard.declare(declared(words, **of(there)))
        await refused(guard, "127.0.0.1, which is not a public address; the operator can allow its network")
        assert there.heard == []


@EACH_RUNNER
@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY", "NPM_CONFIG_PROXY", "NO_PROXY"])
async def test_a_proxy_that_a_server_declares_is_no_way_around(
    name: str, words: tuple[str, ...], archive: str, there: Registry, tmp_path: Path
) -> None:
    del archive
    async with registry() as inside, gate(tmp_path, upstreams__networks=[]) as guard:
        around = {name: "*" if name == "NO_PROXY" else inside.url}
        await guard.declare(declared(words, **of(there), **around))
        await refused(guard, "is not a public address")
        assert inside.heard == []
        assert there.heard == []


@EACH_RUNNER
async def test_the_guard_itself_is_no_registry(words: tuple[str, ...], archive: str, tmp_path: Path) -> None:
    del archive
    async with gate(tmp_path) as guard:
        entries = len(guard.said())
        url = guard.where.url
        await guard.declare(declared(words, NPM_CONFIG_REGISTRY=url, UV_INDEX_URL=f"{url}/simple"))
        await refused(guard, "leads to mcpguard itself")
        assert not [each for each in guard.said()[entries:] if each["kind"] == "turned_away"]


@EACH_RUNNER
async def test_a_registry_that_never_answers_holds_up_nobody(
    words: tuple[str, ...], archive: str, there: Registry, tmp_path: Path
) -> None:
    there.hanging.add(archive)
    script = Script()
    async with played(tmp_path, script, "web") as server, gate(tmp_path, server) as guard:
        await guard.declare(server, declared(words, **of(there)))
        client = await guard.legacy()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(refused, guard, "never to be asked")
            with anyio.fail_after(PATIENCE):
                await there.hung.wait()
                for _ in range(3):
                    assert not (await client.call("web::echo", {"n": 1})).result.get("isError")
                assert (await guard.http.get(f"{guard.where.url}/healthz")).status_code == 200
            tasks.cancel_scope.cancel()
        assert standing(guard, "pack") is UpstreamStanding.QUARANTINED
        assert list((guard.now.settings.data_dir / "packages").glob("*/*")) == []
        nothing_told(there)
