"""Which package a command runs, told from its words."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcpguard.upstreams.packages.package import Ecosystem, Package
from mcpguard.upstreams.packages.package_commands import UnsupportedCommand, recognise_package

NPM, PYTHON = Ecosystem.NPM, Ecosystem.PYTHON


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("npx server", Package(NPM, ("server",))),
        ("npx -y @scope/server@1.2.3 --port 1 -y", Package(NPM, ("@scope/server@1.2.3",), None, ("--port", "1", "-y"))),
        ("npx --yes -q server@^1.0 -- --flag", Package(NPM, ("server@^1.0",), None, ("--", "--flag"))),
        ("npx -y -- server@latest x", Package(NPM, ("server@latest",), None, ("x",))),
        ("npx -p one@1 --package=two run it", Package(NPM, ("one@1", "two"), "run", ("it",))),
        ("/opt/node/bin/npx server", Package(NPM, ("server",))),
        ("npm exec --yes -- server --flag", Package(NPM, ("server",), None, ("--flag",))),
        ("npm x server one -- --two", Package(NPM, ("server",), None, ("one", "--two"))),
        ("uvx server", Package(PYTHON, ("server",))),
        ("uvx server@1.2.3 --port 1", Package(PYTHON, ("server==1.2.3",), None, ("--port", "1"))),
        ("uvx server@latest", Package(PYTHON, ("server",))),
        ("uvx server[all]@2.0", Package(PYTHON, ("server[all]==2.0",))),
        ("uvx --from pkg[a,b]>=1,<2 tool x", Package(PYTHON, ("pkg[a,b]>=1,<2",), "tool", ("x",))),
        (
            "uvx --from=pkg==1.* --with=more,most --with last tool",
            Package(PYTHON, ("pkg==1.*", "more", "most", "last"), "tool"),
        ),
        ("uvx --python 3.12 -q server", Package(PYTHON, ("server",), python="3.12")),
        ("uvx -p /opt/python server", Package(PYTHON, ("server",), python="/opt/python")),
        ("uv tool run server --flag", Package(PYTHON, ("server",), None, ("--flag",))),
    ],
)
def test_what_is_recognised(line: str, package: Package) -> None:
    command, *arguments = line.split()
    found = recognise_package(command, arguments)
    assert isinstance(found, Package)
    assert (found.ecosystem, found.specifications, found.program, found.arguments, found.python, found.runner) == (
        package.ecosystem,
        package.specifications,
        package.program,
        package.arguments,
        package.python,
        command,
    )


@pytest.mark.parametrize(
    "line",
    [
        "node server.js",
        "npm install server",
        "npm run x",
        "uv run server",
        "uv",
        "npm",
        "python -m npx",
        "pipx run x",
        "npxx server",
    ],
)
def test_what_runs_no_package(line: str) -> None:
    command, *arguments = line.split()
    assert recognise_package(command, arguments) is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("npx", "does not say which package"),
        ("npx -y", "does not say which package"),
        ("npx -c command", "option -c is not supported"),
        ("npx --registry=https://r.example server", "option --registry is not supported"),
        ("npx --no server", "option --no is not supported"),
        ("npx -p", "option -p has no value"),
        ("npx -p one ../run", "is not a valid program name"),
        ("npx -p one --call x", "option --call is not supported"),
        ("npx user/repository", "is not a package name"),
        ("npx github:user/repository", "is not a package name"),
        ("npx git+https://git.example/x.git", "is not a package name"),
        ("npx https://x.example/x.tgz", "is not a package name"),
        ("npx ./folder", "is not a package name"),
        ("npx file:folder", "is not a package name"),
        ("npx server@file:../x", "is not a package name"),
        ("npx server@npm:other@1", "is not a package name"),
        ("npx x.tgz", "is not a package name"),
        ("npx @scope/../../x", "is not a package name"),
        ("npx @scope/..", "is not a package name"),
        ("npx ..", "is not a package name"),
        ("npx @/x", "is not a package name"),
        ("npx -p --scripts x", "is not a package name"),
        ("npx -p -g x", "is not a package name"),
        ("npm exec server --flag", "put -- before it"),
        ("uvx --index-url https://i.example server", "option --index-url is not supported"),
        ("uvx --refresh server", "option --refresh is not supported"),
        ("uvx --from git+https://git.example/x tool", "is not a package name"),
        ("uvx --from ./folder tool", "is not a package name"),
        ("uvx --from one --from two tool", "twice"),
        ("uvx --python ../python server", "neither a version nor"),
        ("uvx --from --target=/ tool", "is not a package name"),
        ("uvx --with -r server", "is not a package name"),
        ("uvx server-1.0-py3-none-any.whl", "is not a package name"),
        ("uvx server@https://x.example/x.whl", "is not a package name"),
        ("uvx python -c x", "runs Python itself"),
        ("uvx python3.12", "runs Python itself"),
        ("uvx --from server tool@1.0", "is not a valid program name"),
    ],
)
def test_what_is_left_alone_and_why(line: str, why: str) -> None:
    command, *arguments = line.split()
    found = recognise_package(command, arguments)
    assert isinstance(found, UnsupportedCommand)
    assert why in found.why


RUNNERS = st.sampled_from(
    [["npx"], ["npx", "-y"], ["npx", "-p"], ["npm", "exec", "--"], ["uvx"], ["uvx", "--from"], ["uvx", "--with"]]
)
WORDS = st.text(st.characters(codec="utf-8") | st.sampled_from("-@/.:~=<>[],;\n\0 "), max_size=20)


@given(RUNNERS, st.lists(WORDS, min_size=1, max_size=4))
@example(["npx", "-p"], ["a\n--scripts", "x"])
@example(["uvx"], ["a@1\n"])
@example(["npx"], ["server@1.0\n"])
def test_a_specification_is_never_anything_but_a_package(runner: list[str], words: list[str]) -> None:
    """No option, path, address or second word, wherever it comes to stand."""
    found = recognise_package(runner[0], [*runner[1:], *words])
    if isinstance(found, Package):
        for each in (*found.specifications, *([found.program] if found.program else [])):
            assert each.isascii()
            assert each.isprintable()
            assert not set(each) & set(" \\:;#?%'\"|&$`(){}")
            assert each[0].isalnum() or each[0] in "@_"
            assert ".." not in each.split("/")
            assert each.count("/") == (1 if each.startswith("@") else 0)


@given(st.lists(WORDS, max_size=4))
def test_the_servers_own_arguments_stay_as_they_are(words: list[str]) -> None:
    for runner in (["npx", "-y", "server"], ["uvx", "server"], ["uvx", "--from", "server", "tool"]):
        found = recognise_package(runner[0], [*runner[1:], *words])
        assert isinstance(found, Package)
        assert found.arguments == tuple(words)
