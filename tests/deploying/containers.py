"""The guard's image, built by Podman from the Dockerfile of this checkout, and containers of it.

The base is made of Debian's packages (debootstrap), so that no registry is needed. Everything is kept below .tools.
"""

import fcntl
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final
from uuid import uuid4

from tests.process import ROOT

PLACE: Final = ROOT / ".tools" / "containers"
BASE: Final = "localhost/mcpguard-base"
IMAGE: Final = "localhost/mcpguard"
HARDENED: Final = ("--read-only", "--read-only-tmpfs=false", "--tmpfs", "/tmp", "--cap-drop", "ALL")  # noqa: S108
NO_NEW_PRIVILEGES: Final = ("--security-opt", "no-new-privileges")
NEEDED: Final = "python3,python3-venv,bubblewrap,ca-certificates"
CERTIFICATES: Final = "/etc/ssl/certs"


def podman(*words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a command of Podman, with a store of our own."""
    program, runc = shutil.which("podman"), shutil.which("runc")
    assert program, "install podman, runc and debootstrap"
    own = ["--root", str(PLACE / "store"), "--runroot", str(PLACE / "run")]
    command = [program, *own, *(["--runtime", runc] if runc else []), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)


def done(*words: str, timeout: float = 120) -> str:
    """What a command of Podman printed, which must succeed."""
    found = podman(*words, timeout=timeout)
    assert found.returncode == 0, f"podman {words}: {found.stdout}\n{found.stderr}"
    return found.stdout


def limits() -> list[str]:
    """The limits of a container, below those of this process: Podman's usual ones may be above."""
    files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 16_384)
    return [f"--ulimit=nofile={files}:{files}", "--ulimit=nproc=4096:4096"]


@cache
def base() -> str:
    """An image of Debian with Python, and nothing of the guard."""
    with _alone():
        if podman("image", "exists", BASE).returncode:
            _make_base()
    return BASE


@cache
def image() -> str:
    """The image of this checkout, built once for all processes of a test run."""
    words = ["build", "--format", "docker", "--layers=false", *limits(), *network_of_builds()]
    name = f"{IMAGE}:{os.environ.get('PYTEST_XDIST_TESTRUNUID', str(os.getpid()))}"
    based = f"BASE={base()}"
    with _alone():
        if podman("image", "exists", name).returncode:
            for old in done("images", "--quiet", "--filter", f"reference={IMAGE}").split():
                podman("rmi", "--force", old)
            done(*words, "--build-arg", based, "--tag", name, str(ROOT), timeout=900)
    return name


def network_of_builds() -> list[str]:
    """The options with which a container installs packages as this host does."""
    settings = [f"--env={name}={os.environ[name]}" for name in ("PIP_CERT", "PIP_INDEX_URL") if name in os.environ]
    return ["--network", "host", "--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro", *settings]


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process at a time make images."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make_base() -> None:
    folder = PLACE / "base"
    shutil.rmtree(folder, ignore_errors=True)
    debootstrap, tar = shutil.which("debootstrap"), shutil.which("tar")
    assert debootstrap, "install podman, runc and debootstrap"
    assert tar
    subprocess.run(
        [debootstrap, "--variant=minbase", f"--include={NEEDED}", "stable", str(folder)],
        check=True,
        capture_output=True,
        timeout=900,
    )
    archive = PLACE / "base.tar"
    subprocess.run([tar, "-C", str(folder), "-cf", str(archive), "."], check=True, timeout=300)
    done("import", str(archive), BASE, timeout=300)
    archive.unlink()
    shutil.rmtree(folder)


@contextmanager
def container(*options: str, command: Sequence[str] = ()) -> Iterator[str]:
    """A container of the image, hardened as the documentation says and without a network. It is removed afterwards."""
    name = f"mcpguard-{uuid4().hex[:12]}"
    data = f"{name}:/data"
    own = ["--name", name, *limits(), *HARDENED, *NO_NEW_PRIVILEGES, "--network", "none", "--volume", data]
    try:
        done("run", "--detach", *own, *options, image(), *command)
        yield name
    finally:
        podman("rm", "--force", "--time", "0", name)
        podman("volume", "rm", "--force", name)


def inside(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a container."""
    return podman("exec", name, *words)


def log_of(name: str) -> str:
    """What a container has printed."""
    found = podman("logs", name)
    return found.stdout + found.stderr


def dockerfile() -> str:
    """The Dockerfile of this checkout."""
    return (Path(ROOT) / "Dockerfile").read_text()
