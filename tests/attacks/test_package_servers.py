"""A guard in front of servers that come as packages: what a person looked at runs, and nothing that comes after it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.servers.launches import DeclaredServer, Profile, StdioLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.review.admission import DeclarationSource
from mcpguard.upstreams.process.child import RUNNING
from tests.attacks.quarantined import connection, records, standing, until, upstream
from tests.attacks.sandboxed import works
from tests.gate import Gate, gate
from tests.review import DECISION, approved_as_listed, taken_in
from tests.simulators.registry import Registry, registry
from tests.simulators.weather import WEATHER, publish_weather
from tests.upstreams.packages.installations import environ

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _there_are_a_sandbox_and_npm(monkeypatch: pytest.MonkeyPatch) -> None:
    works()
    monkeypatch.setenv("PATH", environ()["PATH"])


@pytest.fixture
async def there() -> AsyncIterator[Registry]:
    async with registry() as one:
        publish_weather(one, "1.0.0")
        yield one


def declared(there: Registry, *words: str, profile: Profile = Profile.STRICT) -> DeclaredServer:
    environment = {"NPM_CONFIG_REGISTRY": there.url}
    launch = StdioLaunch("npx", words or ("-y", "weather"), environment, profile=profile)
    return DeclaredServer("web", "web", launch)


async def inspected(guard: Gate, *, consent: bool = False) -> Any:  # noqa: ANN401 - see Inspecting
    return await guard.now.guard.inspecting.inspect("web", DECISION, consent=consent, give=frozenset())


async def running(guard: Gate, there: Registry) -> None:
    await guard.declare(declared(there))
    assert not (await inspected(guard)).error
    await approved_as_listed(guard.now, "web")
    await taken_in(guard.now, ["web"])


async def said(guard: Gate) -> Any:  # noqa: ANN401 - a reply
    return (await (await guard.legacy()).call("web::weather", {})).result


async def test_what_was_looked_at_is_what_runs_whatever_is_published_later(there: Registry, tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, there)
        assert (await said(guard))["content"][0]["text"] == "1.0.0"
        (listed, *_) = records(guard, "listed")
        assert listed["artifact"].startswith("npm:weather@1.0.0 sha256:")
        assert listed["artifact"] == upstream(guard).artifact
    asked = len(there.asked)
    publish_weather(there, "1.0.1")
    async with gate(tmp_path) as guard:
        await guard.declare(declared(there))
        await taken_in(guard.now, ["web"])
        assert (await said(guard))["content"][0]["text"] == "1.0.0"
        assert standing(guard) is UpstreamStanding.APPROVED
    assert len(there.asked) == asked, "nothing was resolved again"


async def test_a_server_is_pinned_to_what_was_looked_at_and_reviewed_again(there: Registry, tmp_path: Path) -> None:
    """The newest version is another one by then, and it is not what is declared."""
    async with gate(tmp_path) as guard:
        launch = declared(there).launch
        assert isinstance(launch, StdioLaunch)
        config = {"command": "npx", "args": [*launch.arguments], "env": dict(launch.environment)}
        await guard.now.guard.admission.add("web", config, DeclarationSource(Origin.CLI, DECISION.by))
        assert not (await inspected(guard)).error
        await approved_as_listed(guard.now, "web")
        await taken_in(guard.now, ["web"])
        publish_weather(there, "1.0.1")
        await guard.now.guard.admission.pin_version("web", upstream(guard).revision, DECISION.by)
        known = guard.now.guard.servers.find("web")
        assert known is not None
        assert known.declared.launch == StdioLaunch("npx", ("-y", "weather@1.0.0"), launch.environment)
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert not (await inspected(guard)).error
        await approved_as_listed(guard.now, "web")
        await taken_in(guard.now, ["web"])
        assert (await said(guard))["content"][0]["text"] == "1.0.0"
        with pytest.raises(Undecidable, match="no version"):
            await guard.now.guard.admission.pin_version("web", upstream(guard).revision, DECISION.by)


async def test_a_new_version_is_another_server_when_it_is_looked_at(there: Registry, tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, there)
        publish_weather(there, "1.0.1")
        await guard.now.guard.decisions.disable("web", DECISION)
        assert not (await inspected(guard)).error
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert str(upstream(guard).artifact).startswith("npm:weather@1.0.1 ")
        await guard.now.guard.decisions.enable("web", DECISION)
        assert (await said(guard))["isError"]
        assert not RUNNING
        (moved,) = (each for each in records(guard, "moved") if "capability" not in each)
        assert (moved["move"], moved["before"], moved["after"]) == ("identity_changed", "approved", "quarantined")


async def test_the_same_version_looked_at_again_stays_approved(there: Registry, tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, there)
        await guard.now.guard.decisions.disable("web", DECISION)
        assert not (await inspected(guard)).error
        assert standing(guard) is UpstreamStanding.APPROVED
        await guard.now.guard.decisions.enable("web", DECISION)
        await taken_in(guard.now, ["web"])
        assert (await said(guard))["content"][0]["text"] == "1.0.0"


async def test_a_tree_that_was_changed_does_not_run_and_can_be_made_whole(there: Registry, tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, there)
        (program,) = (guard.now.settings.data_dir / "packages" / "web").glob("*/tree/node_modules/weather/weather.js")
        program.write_text(WEATHER.replace("VERSION", "changed"))
        assert guard.now.fleet.restart("web")
        await until(guard, lambda: "was modified after its approval" in connection(guard).error)
        assert not RUNNING
        assert (await said(guard))["isError"]
        (*_, entry) = guard.entries()
        assert (entry["outcome"], entry["executed"]) == ("refused", "no")
        await guard.now.guard.decisions.disable("web", DECISION)
        assert not (await inspected(guard)).error
        await guard.now.guard.decisions.enable("web", DECISION)
        await taken_in(guard.now, ["web"])
        assert (await said(guard))["content"][0]["text"] == "1.0.0"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("-c", "touch MARK"), "its option -c is not supported"),
        (("--node-options=--require=MARK", "weather"), "its option --node-options"),
        (("-y", "github:somebody/something"), "is not a package name"),
        (("-y", "https://example.com/x.tgz"), "is not a package name"),
    ],
)
async def test_what_cannot_be_kept_does_not_run_confined(
    there: Registry, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    mark = tmp_path / "it-ran"
    async with gate(tmp_path) as guard:
        await guard.declare(declared(there, *(word.replace("MARK", str(mark)) for word in words)))
        done = await inspected(guard)
        assert why in done.error
        assert (done.started, standing(guard)) == (False, UpstreamStanding.QUARANTINED)
        assert not mark.exists()
        assert there.asked == []


async def test_nothing_is_fetched_before_a_person_looks_or_for_who_is_blocked(there: Registry, tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(declared(there))
        assert (await said(guard))["isError"]
        await guard.now.guard.decisions.block("web", DECISION)
        with pytest.raises(Exception, match="is blocked"):
            await inspected(guard)
        assert there.asked == []
        assert not (guard.now.settings.data_dir / "packages").exists()


async def test_what_is_installed_unconfined_runs_from_its_tree_too(there: Registry, tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(declared(there))
        assert not (await inspected(guard, consent=True)).error
        await approved_as_listed(guard.now, "web")
        publish_weather(there, "1.0.1")
        await taken_in(guard.now, ["web"])
        assert (await said(guard))["content"][0]["text"] == "1.0.0"
        known = guard.now.guard.servers.find("web")
        assert known is not None
        assert known.sandbox is Profile.NONE


async def test_a_server_that_is_gone_leaves_no_tree_behind_for_long(there: Registry, tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await running(guard, there)
        packages = guard.now.settings.data_dir / "packages"
        (kept,) = packages.iterdir()
        assert json.loads(next(kept.glob("*/package.json")).read_text())["digest"] in str(upstream(guard).artifact)
        (packages / "gone").mkdir()
    async with gate(tmp_path):
        assert [each.name for each in packages.iterdir()] == ["web"], "what is known stays, though it is switched off"


async def test_a_registry_without_the_package_is_said_plainly(there: Registry, tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(declared(there, "-y", "wether"))
        done = await inspected(guard)
        assert done.error.startswith("wether cannot be installed: ")
        assert not done.started
        assert (upstream(guard).artifact, records(guard, "listed")) == (None, [])
