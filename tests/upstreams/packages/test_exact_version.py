"""Which word of a command names its package, and what names exactly the version that was installed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.upstreams.packages.exact_version import arguments_with_version
from mcpguard.upstreams.packages.package import Package
from mcpguard.upstreams.packages.package_commands import recognise_package

SUM = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("line", "installed", "pinned"),
    [
        ("npx server", "npm:server@1.2.3", "server@1.2.3"),
        ("npx -y @scope/server --port 1", "npm:@scope/server@1.2.3", "-y @scope/server@1.2.3 --port 1"),
        ("npx server@^1.0 server", "npm:server@1.4.0-rc.1", "server@1.4.0-rc.1 server"),
        ("npx -p one --package=two run one", "npm:one@1.0.0", "-p one@1.0.0 --package=two run one"),
        ("npx --package=one run", "npm:one@1.0.0", "--package=one@1.0.0 run"),
        ("npm exec --yes -- server --flag", "npm:server@2.0.0", "exec --yes -- server@2.0.0 --flag"),
        ("uvx server@latest x", "python:server==1.2", "server==1.2 x"),
        ("uvx --from server[all]>=1 tool server", "python:server==1.2", "--from server[all]==1.2 tool server"),
        ("uv tool run --from=server server", "python:server==1.2", "tool run --from=server==1.2 server"),
    ],
)
def test_only_the_word_that_names_the_package_is_replaced(line: str, installed: str, pinned: str) -> None:
    command, *words = line.split()
    assert arguments_with_version(command, words, f"{installed} {SUM}") == (*pinned.split(),)


@pytest.mark.parametrize(
    ("line", "artifact"),
    [
        ("npx server@1.2.3", f"npm:server@1.2.3 {SUM}"),
        ("uvx server@1.2.3", f"python:server==1.2.3 {SUM}"),
        ("npx server", f"npm:other@1.2.3 {SUM}"),
        ("npx server", f"python:server==1.2.3 {SUM}"),
        ("npx server", "script:" + SUM),
        ("npx server", f"npm:server@1.2.3;rm {SUM}"),
        ("npx server", f"npm:server@https://evil.example/x.tgz {SUM}"),
        ("npx server", ""),
        ("npx server", None),
        ("npx --registry=https://evil.example server", f"npm:server@1.2.3 {SUM}"),
        ("node server", f"npm:server@1.2.3 {SUM}"),
    ],
)
def test_nothing_is_pinned_that_is_pinned_or_not_what_was_installed(line: str, artifact: str | None) -> None:
    command, *words = line.split()
    assert arguments_with_version(command, words, artifact) is None


WORDS = st.lists(st.sampled_from(["-y", "-q", "--", "-p", "one", "two", "one@^1", "--package=one", "run", "-x"]))


@given(WORDS, st.from_regex(r"[0-9]\.[0-9]\.[0-9](-[a-z0-9]{1,4})?", fullmatch=True))
def test_what_is_pinned_runs_the_same_package_with_the_same_arguments(words: list[str], version: str) -> None:
    found = arguments_with_version("npx", words, f"npm:one@{version} {SUM}")
    before = recognise_package("npx", words)
    if not isinstance(before, Package) or before.name != "one":
        assert found is None
        return
    assert found is not None
    after = recognise_package("npx", found)
    assert isinstance(after, Package)
    assert after.specification == f"one@{version}"
    same = ("program", "arguments", "python", "ecosystem")
    assert all(getattr(after, name) == getattr(before, name) for name in same)
    assert after.specifications[1:] == before.specifications[1:]
    assert arguments_with_version("npx", found, f"npm:one@{version} {SUM}") is None
