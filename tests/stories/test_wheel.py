"""What is released works where there is no checkout: the wheel brings its pages, its migrations and its command."""

import email
import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcpguard import __version__
from tests.browser.desk import COOKIE, signed_in
from tests.process import ROOT, run, serving, whole

MOST = 300.0  # seconds for an installer that has to fetch everything
ISOLATED = {"PYTHONPATH": "", "PYTHONSAFEPATH": "1"}
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Installed:
    """A wheel and the environment that it was installed into, and the sources that it was made from."""

    wheel: Path
    sdist: Path
    bin: Path
    elsewhere: Path


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Made once, whichever of the processes that share these tests comes first."""
    shared = tmp_path_factory.getbasetemp()
    folder = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / "released"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "elsewhere").exists():
            _release(folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    return Installed(wheel, sdist, folder / "environment" / "bin", folder / "elsewhere")


def _release(folder: Path) -> None:
    source = copied(folder / "source")
    for target in ("sdist", "wheel"):
        do(sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", folder / "dist", cwd=source)
    (wheel,) = (folder / "dist").glob("*.whl")
    environment = folder / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    install(environment, "--require-hashes", "-r", source / "requirements.txt")
    install(environment, "--no-deps", "--no-index", wheel)
    shutil.rmtree(source)
    (folder / "elsewhere").mkdir()


def copied(target: Path) -> Path:
    """The checkout as git knows it: what lies about ignored must not be needed."""
    listed = do("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    return target


def install(environment: Path, *what: str | Path) -> None:
    """Into an environment that has no installer of its own, by one that is there."""
    into = environment / "bin" / "python"
    for python in (sys.executable, getattr(sys, "_base_executable", sys.executable)):
        if subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
            do(python, "-m", "pip", "--python", into, "install", "--quiet", *what, environ=ISOLATED)
            return
    do("uv", "pip", "install", "--quiet", "--python", into, *what, environ=ISOLATED)


def do(*command: str | Path, cwd: Path = ROOT, environ: Mapping[str, str] = NOTHING) -> str:
    env = {**os.environ, **environ}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=MOST)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def test_the_wheel_holds_what_the_program_needs_and_nothing_else(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = set(wheel.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        said = email.message_from_bytes(wheel.read(metadata))
    assert said["Version"] == __version__
    assert {name.partition("/")[0] for name in names} == {"mcpguard", metadata.partition("/")[0]}
    brought = {"_webui": ROOT / "webui", "_migrations": ROOT / "migrations"}
    for name, folder in brought.items():
        files = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
        needed = {f"mcpguard/{name}/{file}" for file in files if "__pycache__" not in file}
        assert needed <= names
    documents = {f"mcpguard/_docs/{file.name}" for file in (ROOT / "docs").glob("*.md")}
    assert {name for name in names if name.startswith("mcpguard/_docs/")} == documents
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".db", ".key"))]
    assert [name for name in names if name.endswith("licenses/LICENSE")]
    assert {file.relative_to(ROOT).as_posix() for file in (ROOT / "mcpguard").rglob("*.txt")} <= names
    assert {f"mcpguard/demo/{file.name}" for file in (ROOT / "mcpguard" / "demo").glob("*.py")} <= names


def test_the_sources_are_what_is_kept_of_them_and_make_the_same_wheel(installed: Installed, tmp_path: Path) -> None:
    with tarfile.open(installed.sdist) as sources:
        files = {name.partition("/")[2] for name in sources.getnames()}
        sources.extractall(tmp_path, filter="data")
    listed = do("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    kept = {name for name in listed.split("\0") if (ROOT / name).is_file()}
    assert files - {"PKG-INFO"} <= kept, "nothing comes along that is in no commit"
    needed = ("mcpguard/", "webui/", "migrations/", "tests/", "docs/")
    assert {name for name in kept if name.startswith(needed)} <= files
    assert {"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "pyproject.toml"} <= files
    (source,) = tmp_path.iterdir()
    do(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path / "dist", cwd=source)
    (again,) = (tmp_path / "dist").iterdir()
    with zipfile.ZipFile(installed.wheel) as one, zipfile.ZipFile(again) as other:
        assert {name: one.read(name) for name in one.namelist()} == {
            name: other.read(name) for name in other.namelist()
        }


def test_it_is_the_installed_program_that_runs(installed: Installed) -> None:
    where = "import mcpguard; print(mcpguard.__file__)"
    found = run("-c", where, command=(str(installed.bin / "python"),), cwd=installed.elsewhere, environ=ISOLATED)
    assert Path(found.stdout.strip()).is_relative_to(installed.bin.parent)
    told = run("--version", command=(str(installed.bin / "mcpguard"),), cwd=installed.elsewhere, environ=ISOLATED)
    assert (told.returncode, told.stdout, told.stderr) == (0, f"mcpguard {__version__}\n", "")


def test_it_says_what_to_do_next_where_only_a_link_leads_to_its_command(installed: Installed, tmp_path: Path) -> None:
    """As pipx and uv install it: what is on the PATH is a link into an environment that lies elsewhere."""
    link = tmp_path / "bin" / "mcpguard"
    link.parent.mkdir()
    link.symlink_to(installed.bin / "mcpguard")
    environ = {**ISOLATED, "PATH": f"{link.parent}{os.pathsep}{os.environ['PATH']}"}
    told = run(command=("mcpguard",), cwd=installed.elsewhere, environ=environ)
    assert (told.returncode, told.stderr) == (0, "")
    assert "\n  mcpguard serve  " in told.stdout


def test_it_brings_servers_to_try_it_with(installed: Installed) -> None:
    command = (str(installed.bin / "python"), "-m", "mcpguard.demo")
    told = run("--help", command=command, cwd=installed.elsewhere, environ=ISOLATED)
    assert (told.returncode, told.stderr) == (0, "")
    assert "honest" in told.stdout


def test_it_serves_its_pages_and_makes_its_database(installed: Installed) -> None:
    data_dir = installed.elsewhere / "data"
    command = (str(installed.bin / "mcpguard"),)
    with serving(data_dir, command=command, cwd=installed.elsewhere, environ=ISOLATED) as guard:
        page = guard.get("/login")
        assert (page.status_code, "No users yet" in page.text) == (200, True)
        assert [guard.get(f"/static/guard.{kind}").status_code for kind in ("css", "js")] == [200, 200]
        assert "Not found" in guard.get("/nowhere").text
        document = guard.get("/help/reviewing", cookie=f"{COOKIE}={signed_in(guard)}")
        assert (document.status_code, "<h1>Reviewing</h1>" in document.text) == (200, True)
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
    with closing(sqlite3.connect(data_dir / "mcpguard.db")) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"alembic_version", "chains", "records", "bodies", "checkpoints"} <= tables
    assert whole(data_dir)
    assert not [path for path in installed.elsewhere.iterdir() if path != data_dir]
