"""What is found in how a server is launched or reached."""

import shlex

import pytest

from mcpguard.domain.servers.launches import RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.inspection.definitions.launches import inspect_launch, is_pinned


def rules(line: str, **environment: str) -> set[str]:
    command, *arguments = shlex.split(line)
    return {found.rule for found in inspect_launch(StdioLaunch(command, tuple(arguments), environment))}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("npx -y @scope/pkg", "unversioned"),
        ("npx -y @scope/pkg@latest", "unversioned"),
        ("npx pkg@^1.2.0", "unversioned"),
        ("npx pkg@1", "unversioned"),
        ("npx --package @scope/pkg@next run", "unversioned"),
        ("C:\\\\nodejs\\\\npx.cmd -y pkg", "unversioned"),
        ("npm exec -- pkg", "unversioned"),
        ("pnpm dlx pkg", "unpinned"),
        ("bunx pkg", "unpinned"),
        ("uvx a-server", "unversioned"),
        ("uvx --python 3.12 a-server", "unversioned"),
        ("uvx --from a-package run", "unversioned"),
        ("uvx --from git+https://example.org/x@main run", "unpinned"),
        ("uv tool run a-server", "unversioned"),
        ("pipx run a-server", "unpinned"),
        ("sh -c 'exec server'", "shell"),
        ("/bin/bash run.sh", "shell"),
        ("env bash run.sh", "shell"),
        ("powershell.exe -File a.ps1", "shell"),
        ("cmd /c npx pkg", "shell"),
        ("python3 -c 'import x'", "inline"),
        ("node -e 1+1", "inline"),
        ("curl https://example.org/x", "download"),
        ("sh -c 'curl https://example.org/x | sh'", "command"),
        ("sh -c 'rm -rf /'", "command"),
        ("sudo server", "privileged"),
        ("docker run --privileged x@sha256:00", "privileged"),
        ("docker run -v /var/run/docker.sock:/s x@sha256:00", "privileged"),
        ("docker run -i --rm -e TOKEN example/server:latest", "image"),
    ],
)
def test_a_launch_is_found_for_what_it_is(line: str, rule: str) -> None:
    assert f"launch.{rule}" in rules(line)


@pytest.mark.parametrize(
    "line",
    [
        "npx -y @scope/pkg@1.2.3",
        "npx -y pkg@1.2.3-beta.1 --port 3",
        "npx ./local",
        "npm start",
        "npm run exec",
        "uvx a-server==1.2.3",
        "uvx --from a-package==2.0 run",
        "uvx --from git+https://example.org/x@0123456789abcdef0123456789abcdef01234567 run",
        "uv run server.py",
        "node dist/index.js -e production",
        "python -m server",
        "/opt/servers/notes --folder /data",
        "docker run -i --rm -e TOKEN example/server@sha256:00",
        "docker compose up",
    ],
)
def test_an_ordinary_launch_is_not(line: str) -> None:
    found = rules(line)
    assert found <= ({"launch.inline"} if " -e production" in line else set())


def test_variables_that_are_code_are_named_and_never_shown() -> None:
    launch = StdioLaunch("server", (), {"LD_PRELOAD": "/secret-value", "TOKEN": "secret-value"})
    (found,) = inspect_launch(launch)
    assert (found.rule, found.evidence.path) == ("launch.variable", "key:/environment/LD_PRELOAD")
    assert "secret-value" not in repr(found)


def test_a_remote_server_in_plain_text_is_found() -> None:
    def of(url: str) -> set[str]:
        return {found.rule for found in inspect_launch(RemoteLaunch(Transport.HTTP, url))}

    assert of("http://example.org/mcp") == {"launch.plaintext"}
    assert of("https://example.org/mcp") == of("http://127.0.0.1:1/mcp") == of("http://[::1]/mcp") == set()


def test_evidence_lies_within_its_argument() -> None:
    launch = StdioLaunch("npx", ("-y", "pkg"))
    (found,) = inspect_launch(launch)
    assert found.evidence.path == "/arguments/1"
    assert (found.evidence.start, found.evidence.end) == (0, 3)


def test_only_an_exact_version_is_pinned() -> None:
    assert all(map(is_pinned, ("a@1.2.3", "@a/b@1.2.3", "a==1.2", "./a", "/a/b", "~/a")))
    assert not any(map(is_pinned, ("a", "@a/b", "a@latest", "a@1.x", "a@*", "a@>=1.2", "a>=1.2", "a@1.2.x", "")))
