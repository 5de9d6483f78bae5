"""The guard in a container: without rights, on a root that nobody can write to, and as closed as anywhere else."""

import json
import re

import pytest
import yaml  # type: ignore[import-untyped]

from tests.deploying.containers import container, dockerfile, done, image, inside, log_of, podman
from tests.process import ROOT, until

ASK = """
import json, sys, urllib.error, urllib.request
hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "somebody", "version": "1"}}
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
request = urllib.request.Request("http://127.0.0.1:8080/mcp", body, accept)
try:
    print(urllib.request.urlopen(request, timeout=20).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""
"""Says hello as an agent without a token, and prints the status of the answer."""
LIVES = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8080/healthz', timeout=20).status)"
PYTHON = "/opt/mcpguard/bin/python"


def begun(name: str) -> str:
    """What the guard in a container says when it runs."""
    until(lambda: "is running" in log_of(name) or ended(name), "it says that it runs")
    assert not ended(name), log_of(name)
    return log_of(name)


def ended(name: str) -> bool:
    return podman("inspect", "--format", "{{.State.Running}}", name).stdout.strip() == "false"


def sandbox(said: str) -> str:
    found = re.search(r"^ *sandbox +(.*)$", said, re.MULTILINE)
    assert found is not None, said
    return found[1]


def test_it_is_of_an_account_without_rights_and_opens_nothing() -> None:
    (found,) = json.loads(done("image", "inspect", image()))
    config = found["Config"]
    assert config["User"] == "10001:10001"
    assert [*config["Volumes"]] == ["/data"]
    assert config["Entrypoint"] == ["mcpguard"]
    environ = dict(each.split("=", 1) for each in config["Env"])
    assert {name for name in environ if name.startswith("MCPGUARD_")} == {"MCPGUARD_DATA_DIR"}
    assert found["Healthcheck"]["Test"] == ["CMD", "mcpguard", "status", "--output", "json"]


def test_it_runs_without_rights_on_a_root_that_nobody_can_write_to() -> None:
    with container() as name:
        said = begun(name)
        assert sandbox(said).startswith("NONE: ")
        assert "--security-opt seccomp=unconfined (Docker, Podman)" in sandbox(said), "what is missing is told"
        assert inside(name, PYTHON, "-c", LIVES).stdout == "200\n"
        assert inside(name, PYTHON, "-c", "import hatchling").returncode == 1, "what built it is not there"
        assert inside(name, "mcpguard", "status", "--output", "json").returncode == 0, "the check of its health"
        written = inside(name, "sh", "-c", "id -u; touch /opt/x /etc/x /usr/x; ls /opt/x /etc/x /usr/x")
        assert written.stdout == "10001\n"
        assert done("stop", "--time", "30", name)
        assert podman("inspect", "--format", "{{.State.ExitCode}}", name).stdout == "0\n"


def test_with_the_options_that_it_names_servers_are_confined() -> None:
    with container("--security-opt", "seccomp=unconfined") as name:
        assert "--security-opt unmask=ALL" in sandbox(begun(name))
    with container("--security-opt", "seccomp=unconfined", "--security-opt", "unmask=ALL") as name:
        assert sandbox(begun(name)) == "works"


def test_a_container_switches_no_authentication_off() -> None:
    with container("--env", "MCPGUARD_LISTEN=0.0.0.0:8080") as name:
        until(lambda: ended(name), "it refuses to start")
        assert "tls.certificate" in log_of(name)
    behind = ("--env", "MCPGUARD_LISTEN=0.0.0.0:8080", "--env", "MCPGUARD_PROXIES=10.0.0.5/32")
    with container(*behind, "--env", "MCPGUARD_ANONYMOUS__ENABLED=true") as name:
        begun(name)
        assert inside(name, PYTHON, "-c", ASK).stdout == "401\n"


def test_the_guard_of_the_compose_file_starts_behind_its_proxy() -> None:
    """With SQLite in place of the database, which is in another container."""
    environ = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["guard"]["environment"]
    assert environ.pop("MCPGUARD_STORE__URL_FILE") == "/run/secrets/database_url"
    texts = {name: str(value).replace("${GUARD_NAME:-localhost}", "localhost") for name, value in environ.items()}
    given = [f"--env={name}={value}" for name, value in texts.items()]
    with container(*given) as name:
        assert "https://localhost/setup?key=" in begun(name), "people enter by the proxy"
        assert inside(name, PYTHON, "-c", LIVES).stdout == "200\n"
        assert inside(name, PYTHON, "-c", ASK).stdout == "401\n"


@pytest.mark.parametrize("word", ["latest", "ADD ", "--privileged", "USER root", "PASSWORD", "TOKEN"])
def test_the_dockerfile_has_nothing_of_the_kind(word: str) -> None:
    assert word not in dockerfile()
