"""The three blocks of the page for operators: what can run here is run, and the rest is rendered or read."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from mcpguard import __version__
from mcpguard.settings.values import database_url
from tests.deploying.charts import rendered
from tests.deploying.containers import base, done, limits, network_of_builds, podman
from tests.documents import DOCS
from tests.process import ROOT, until

NAME = "mcpguard-one-machine"
WITHOUT_SYSTEMD = """
sudo() { "$@"; }
systemctl() { echo "systemctl $*"; }
journalctl() { echo "journalctl $*"; }
grep() { cat; }
"""
"""Stands in for what a container has not: no systemd runs there, and root needs no sudo."""


def block(heading: str) -> list[str]:
    """The commands below a heading of the page."""
    text = (DOCS / "deploying.md").read_text()
    found = re.search(rf"^## {heading}\n\n```\n(.*?)```\n", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    lines = found[1].splitlines()
    assert all(line.startswith("$ ") for line in lines)
    return [line.removeprefix("$ ") for line in lines]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[str]:
    """A machine with Debian, the wheel and the documents, as somebody has them who begins."""
    shop = tmp_path / "shop"
    (shop / "docs" / "deploying").mkdir(parents=True)
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(shop)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=300)
    unit = ROOT / "docs" / "deploying" / "mcpguard.service"
    (shop / "docs" / "deploying" / unit.name).write_bytes(unit.read_bytes())
    try:
        mounted = ["--volume", f"{shop}:/shop:ro", "--workdir", "/shop", *network_of_builds()]
        done("run", "--detach", "--name", NAME, *limits(), *mounted, base(), "sleep", "infinity")
        yield NAME
    finally:
        podman("rm", "--force", "--time", "0", NAME)


def test_one_machine(machine: str) -> None:
    """Its unit is checked by systemd elsewhere; here its command is started by its account."""
    said = done("exec", machine, "bash", "-euc", WITHOUT_SYSTEMD + "\n".join(block("One machine")), timeout=600)
    assert "systemctl enable --now mcpguard" in said
    unit = done("exec", machine, "cat", "/etc/systemd/system/mcpguard.service")
    settings = re.findall(r"^Environment=(.*)$", unit, re.MULTILINE)
    (command,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    folders = ["/var/lib/mcpguard", "/var/log/mcpguard-anchors"]
    done("exec", machine, "install", "-d", "-m", "700", "-o", "mcpguard", "-g", "mcpguard", *folders)
    given = [f"--env={each}" for each in settings]
    done("exec", "--detach", "--user", "mcpguard", *given, machine, "sh", "-c", f"exec {command} >/tmp/log 2>&1")
    shown = until(lambda: _text(machine, "first admin"), "it says that it runs")
    assert f"mcpguard {__version__} is running" in shown
    status = done("exec", "--user", "mcpguard", *given, machine, "/opt/mcpguard/bin/mcpguard", "status", "-o", "json")
    assert json.loads(status)["ready"]["ready"] is True


def _text(machine: str, wanted: str) -> str:
    found = podman("exec", machine, "cat", "/tmp/log").stdout  # noqa: S108 - of the container
    return found if wanted in found else ""


def test_in_a_container(tmp_path: Path) -> None:
    """The secrets are made as the page says. Docker's own lines are not run: its images cannot be had everywhere."""
    lines = block("In a container")
    own, dockers = [line for line in lines if "docker" not in line], [line for line in lines if "docker" in line]
    assert [line.split()[:3] for line in dockers] == [["docker", "compose", "up"], ["docker", "compose", "logs"]]
    shell = shutil.which("bash")
    assert shell
    subprocess.run([shell, "-euc", "\n".join(own)], cwd=tmp_path, check=True, timeout=60)
    folder = tmp_path / "secrets"
    assert folder.stat().st_mode & 0o777 == 0o700, "only their owner gets at them on the host"
    assert (folder / "database_url").stat().st_mode & 0o004, "and the account in the container can read them"
    password, url = (folder / "database_password").read_text().strip(), (folder / "database_url").read_text()
    assert re.fullmatch(r"[0-9a-f]{48}", password)
    assert url == f"postgresql://mcpguard:{password}@database/mcpguard"
    assert database_url(SecretStr(url)) is not None


def test_on_kubernetes() -> None:
    (install,) = [shlex.split(line) for line in block("On Kubernetes") if line.startswith("helm install")]
    assert install[3] == "docs/deploying/chart"
    values: dict[str, Any] = {}
    for given in (install[at + 1] for at, word in enumerate(install) if word == "--set"):
        path, _, text = given.partition("=")
        *above, name = path.split(".")
        at = values
        for each in above:
            at = at.setdefault(each, {})
        at[name] = text.strip("{}").split(",") if text.startswith("{") else text
    answer = rendered(values, name=install[2])
    assert answer["complaints"] == []
    assert f"deploy/{_named(answer, 'Deployment')}" in " ".join(block("On Kubernetes"))


def _named(answer: dict[str, Any], kind: str) -> str:
    return str(next(each["metadata"]["name"] for each in answer["manifests"] if each["kind"] == kind))
