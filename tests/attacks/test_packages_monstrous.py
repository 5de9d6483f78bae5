"""Packages that are monstrous: too deep, too large when unpacked, without an end, with names of any kind."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.trees import remove_other_trees, verify_tree
from mcpguard.upstreams.sandbox.limits import MEBIBYTE
from tests.attacks.sandboxed import works
from tests.simulators.registry import Registry, endless, file, npm_package, redirect, registry, wheel
from tests.upstreams.packages.installations import folder, install, nothing_left, package, pointed_at, way

pytestmark = pytest.mark.anyio
WHEEL = "server_one-1.0.0-py3-none-any.whl"
INFO = "server_one-1.0.0.dist-info"
MOST_SAID = 700
EACH_RUNNER = pytest.mark.parametrize(
    ("runner", "name", "archive"),
    [("npx", "server", "/files/server-1.0.0.tgz"), ("uvx", "server-one", f"/files/{WHEEL}")],
    ids=["npx", "uvx"],
)


@pytest.fixture
async def there() -> AsyncIterator[Registry]:
    async with registry() as one:
        yield one


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def publish(there: Registry, files: dict[str, str]) -> None:
    there.add_npm("server", npm_package("server", *(file(f"package/{name}", text) for name, text in files.items())))
    there.add_python("server-one", WHEEL, wheel("server-one", files))


@pytest.mark.parametrize("depth", [1100, 1900])
async def test_however_deep_a_package_is_it_goes_without_a_trace(depth: int, there: Registry, data: Path) -> None:
    """A walk that calls itself ends at a thousand levels, and a path at 4,096 bytes."""
    publish(there, {"a/" * depth + "x": "deep"})
    tree = await install(package("uvx", "server-one"), way(data, works().sandbox, pointed_at(there.url)))
    verify_tree(tree, tree.artifact)
    remove_other_trees(folder(data), [])
    assert list(folder(data).iterdir()) == []


async def test_what_lies_deeper_than_can_be_looked_at_is_too_much(there: Registry, data: Path) -> None:
    """Its path is shorter in the sandbox, so there it can be written."""
    publish(there, {"a/" * 1990 + "x": "deep"})
    with (
        nothing_left(data),
        pytest.raises(NotInstalled, match="it wrote an entry that cannot be read: File name too long"),
    ):
        await install(package("uvx", "server-one"), way(data, works().sandbox, pointed_at(there.url)))


@EACH_RUNNER
async def test_what_unpacks_to_more_than_there_is_room_for_is_refused(
    runner: str, name: str, archive: str, there: Registry, data: Path
) -> None:
    """However quickly: what came since it was looked at last counts too."""
    publish(there, {"bomb.js": "0" * 64 * MEBIBYTE})
    how = way(data, works().sandbox, pointed_at(there.url), room=32 * MEBIBYTE)
    with nothing_left(data), pytest.raises(NotInstalled, match="it uses more than 32 MiB"):
        await install(package(runner, name), how)
    assert archive in there.asked


@EACH_RUNNER
async def test_an_archive_without_an_end_is_ended(
    runner: str, name: str, archive: str, there: Registry, data: Path
) -> None:
    publish(there, {})
    there.answers[archive] = endless(b"\x1f\x8b\x08" + bytes(65_536))
    with nothing_left(data), pytest.raises(NotInstalled):
        await install(package(runner, name), way(data, works().sandbox, pointed_at(there.url)))


@EACH_RUNNER
async def test_redirections_without_an_end_are_ended(
    runner: str, name: str, archive: str, there: Registry, data: Path
) -> None:
    publish(there, {})
    there.answers[archive] = redirect(archive)
    with nothing_left(data), pytest.raises(NotInstalled):
        await install(package(runner, name), way(data, works().sandbox, pointed_at(there.url)))
    assert there.asked.count(archive) < 100


@EACH_RUNNER
async def test_a_registry_that_says_a_little_for_ever_is_given_up(
    runner: str, name: str, archive: str, there: Registry, data: Path
) -> None:
    publish(there, {})
    there.hanging |= {"/server", "/simple/server-one/"}
    how = way(data, works().sandbox, pointed_at(there.url), seconds=2.0)
    with nothing_left(data), pytest.raises(NotInstalled, match="did not finish within 2 seconds"):
        await install(package(runner, name), how)
    assert archive not in there.asked


async def test_a_wheel_that_is_not_what_the_index_promised_is_refused(there: Registry, data: Path) -> None:
    there.add_python("server-one", WHEEL, wheel("server-one", {}), f"/files/{WHEEL}#sha256={'0' * 64}")
    with nothing_left(data), pytest.raises(NotInstalled, match=r"(?i)hash mismatch"):
        await install(package("uvx", "server-one"), way(data, works().sandbox, pointed_at(there.url)))


NO_VERSIONS = {
    "words": "1.0.0 sha256:" + "0" * 64 + " (verified)",
    "lines": "1.0.0\n\x1b[2Jpython:good==1",
    "long": "1" * 500_000,
    "none": "",
    "a number": 7,
    "half a character": "\ud800",
}


@pytest.mark.parametrize("version", NO_VERSIONS.values(), ids=NO_VERSIONS.keys())
async def test_a_version_that_is_none_is_no_part_of_what_is_approved(
    version: object, there: Registry, data: Path
) -> None:
    """The registry says 1.0.0; the package says this of itself."""
    there.add_npm("server", npm_package("server", version=version))
    with (
        nothing_left(data),
        pytest.raises(NotInstalled, match="server has no valid version in its metadata") as refused,
    ):
        await install(package("npx", "server"), way(data, works().sandbox, pointed_at(there.url)))
    assert len(str(refused.value)) < MOST_SAID


async def test_nobody_else_says_which_version_a_package_is(there: Registry, data: Path) -> None:
    """What a package needs may bring a description of it, too."""
    needs = "Metadata-Version: 2.1\nName: server-one\nVersion: 1.0.0\nRequires-Dist: deep-one\n"
    there.add_python("server-one", WHEEL, wheel("server-one", {f"{INFO}/METADATA": needs}))
    forged = "deep_one-1.0.0.data/purelib/server_one-0.9.dist-info/METADATA"
    deep = wheel("deep-one", {forged: "Name: server-one\nVersion: 0.9\n"})
    there.add_python("deep-one", "deep_one-1.0.0-py3-none-any.whl", deep)
    with nothing_left(data), pytest.raises(NotInstalled, match="server-one is installed more than once"):
        await install(package("uvx", "server-one"), way(data, works().sandbox, pointed_at(there.url)))


ODD_BINS: dict[str, object] = {
    "long": {"server": "a/" * 100_000},
    "long name": {"x" * 300_000: "server.js", "y" * 300_000: "server.js"},
    "nothing": {"server": "a\0b"},
    "half a character": {"server": "\ud800"},
    "lines": {"\x1b[2J\nserver": "server.js", "other\u202e": "server.js"},
}


@pytest.mark.parametrize("bins", ODD_BINS.values(), ids=ODD_BINS.keys())
async def test_a_program_of_any_name_is_refused_in_a_short_sentence(
    bins: object,
    there: Registry,
    data: Path,
) -> None:
    there.add_npm("server", npm_package("server", bin=bins))
    with nothing_left(data), pytest.raises(NotInstalled) as refused:
        await install(package("npx", "server"), way(data, works().sandbox, pointed_at(there.url)))
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < MOST_SAID


async def test_what_replaces_the_interpreter_is_not_run_as_one(there: Registry, data: Path) -> None:
    """`.bin/node` and `.bin/npm` come first where npx itself runs a package."""
    bins = dict.fromkeys(("node", "npm", "npx", "sh", "server"), "server.js")
    there.add_npm("server", npm_package("server", bin=bins))
    tree = await install(package("npx", "server"), way(data, works().sandbox, pointed_at(there.url)))
    assert not Path(tree.interpreter).is_relative_to(data)
    assert tree.program.path == "node_modules/server/server.js"


def escaped(around: Path) -> list[Path]:
    found = [each for each in around.rglob("*escaped*") if "tree" not in each.parts]
    return [*found, *(each for each in (Path("/opt/package"), Path("/escaped")) if each.exists())]


SCRIPTS = ("../../escaped", "/opt/package/escaped", "python3\nescaped", "bin/../../../escaped")


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("confined", [True, False])
async def test_a_script_whose_name_is_a_path_is_not_written_there(
    script: str, there: Registry, data: Path, tmp_path: Path, *, confined: bool
) -> None:
    scripts = f"[console_scripts]\nserver-one = server:main\n{script} = server:main\n"
    there.add_python("server-one", WHEEL, wheel("server-one", {f"{INFO}/entry_points.txt": scripts}))
    try:
        tree = await install(
            package("uvx", "server-one"), way(data, works().sandbox if confined else None, pointed_at(there.url))
        )
    except NotInstalled:
        assert list(folder(data).iterdir()) == []
    else:
        assert {each.name for each in tree.folder.parent.iterdir()} == {"tree", "package.json"}
    assert escaped(tmp_path) == []


NAMES = ["line\nbreak", "bell\x07", "\u202egnp.js", "e\u0301", "x" * 250, "back\\slash", "-rf", "con:"]


@pytest.mark.parametrize("odd", NAMES)
@EACH_RUNNER
async def test_files_of_any_name_are_part_of_the_tree_or_refused(
    odd: str, runner: str, name: str, archive: str, there: Registry, data: Path
) -> None:
    publish(there, {odd: "x"})
    said = ""
    try:
        tree = await install(package(runner, name), way(data, works().sandbox, pointed_at(there.url)))
    except NotInstalled as refused:
        said = str(refused)
    else:
        verify_tree(tree, tree.artifact)
        remove_other_trees(folder(data), [])
    assert list(folder(data).iterdir()) == []
    assert said.isprintable()
    assert len(said) < MOST_SAID
    assert archive in there.asked
