"""From inside a sandbox: the guard's own files and sockets, others' files, and the system's cannot be had."""

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.servers.launches import Mount, Profile
from mcpguard.upstreams.sandbox.bwrap_command import HOME, SHARED_MEMORY, TEMPORARY
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from tests.attacks.sandboxed import EACH_PROFILE, started, told, tried
from tests.process import Served, serving

pytestmark = pytest.mark.anyio
NOT_THERE = "ENOENT"
NO_SUCH_SOCKET = "EAFNOSUPPORT"
GUARDS = ("mcpguard.db", "mcpguard.db-wal", "audit.key", "digest.key", "guard.lock")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mg-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def listening(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        listener.setblocking(False)
        if not address.startswith("\0"):
            Path(address).chmod(0o666)
        yield listener


@contextmanager
def taking(place: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(str(place / "log"))
        log.setblocking(False)
        (place / "log").chmod(0o666)
        yield log


@pytest.fixture
def guard(place: Path) -> Iterator[Served]:
    with serving(place / "data") as served:
        yield served


@EACH_PROFILE
async def test_the_guards_files_and_sockets(guard: Served, place: Path, profile: Profile) -> None:
    data = place / "data"
    files = [("read", str(data / name)) for name in GUARDS]
    sockets = [("unix", str(data / name)) for name in ("operator.sock", "agents.sock")]
    outside = await tried(place, *files, *sockets, profile=Profile.NONE)
    assert not {NOT_THERE, NO_SUCH_SOCKET} & set(outside), "they are there, and whoever is not confined gets them"
    assert (outside[0][:13], outside[-1]) == ("SQLite format", "connected")
    got = await tried(place, *files, *sockets, ("listed", str(place)), profile=profile, data=data)
    assert got == [NOT_THERE] * len(files) + [NO_SUCH_SOCKET] * len(sockets) + [NOT_THERE]
    assert guard.process.poll() is None


@EACH_PROFILE
async def test_sockets_of_others_wherever_they_are(place: Path, profile: Profile) -> None:
    """One like Docker's, one without a file, and one that takes datagrams, like that of the system's log."""
    with listening(str(place / "docker.sock")) as docker, listening(f"\0{place}") as unnamed, taking(place) as log:
        attempts = [("unix", str(place / "docker.sock")), ("unix", f"@{place}"), ("pair", str(place / "log"))]
        assert await tried(place, *attempts, profile=Profile.NONE) == ["connected", "connected", "sent"]
        assert log.recv(9) == b"x"
        for each in (docker, unnamed):
            each.accept()[0].close()
        got = await tried(place, *attempts, profile=profile)
        assert got == [NO_SUCH_SOCKET, NO_SUCH_SOCKET, "EPROTONOSUPPORT"]
        for each in (docker, unnamed):
            with pytest.raises(BlockingIOError):
                each.accept()
        with pytest.raises(BlockingIOError):
            log.recv(9)


async def test_a_socket_that_appears_in_what_is_mounted_already(place: Path) -> None:
    """What holds a socket is not mounted. One that comes later can be seen, and cannot be used."""
    shared = place / "shared"
    shared.mkdir(mode=0o755)
    path = str(shared / "s")
    async with started(place, ("wait_for", path), ("unix", path), mounts=[Mount(str(shared))]) as server:
        with listening(path) as late:
            assert [await told(server), await told(server)] == ["there", NO_SUCH_SOCKET]
            with pytest.raises(BlockingIOError):
                late.accept()
            with pytest.raises(NotConfined, match=f"{path} is a socket"):
                await tried(place, ("unix", path), mounts=[Mount(str(shared))])
    assert await tried(place, ("unix", path), mounts=[Mount(str(shared))]) == [NO_SUCH_SOCKET], "left by nobody"


@EACH_PROFILE
async def test_what_another_server_has(place: Path, profile: Profile) -> None:
    """Only what is mounted for this one is there, and only as it was mounted."""
    for name in ("ours", "theirs", "writable"):
        (place / name).mkdir()
        (place / name).chmod(0o777)
        (place / name / "file").write_text(name)
    mounts = [Mount(str(place / "ours")), Mount(str(place / "writable"), writable=True)]
    got = await tried(
        place,
        ("read", str(place / "theirs" / "file")),
        ("read", f"{place}/ours/../theirs/file"),
        ("listed", str(place)),
        ("read", str(place / "ours" / "file")),
        ("write", str(place / "ours" / "new")),
        ("write", str(place / "writable" / "new")),
        profile=profile,
        mounts=mounts,
    )
    assert got == [NOT_THERE, NOT_THERE, ["ours", "writable"], "ours", "EROFS", "written"]
    assert not any((place / name / "new").exists() for name in ("ours", "theirs"))
    assert (place / "writable" / "new").read_text() == "x"


@EACH_PROFILE
async def test_what_is_the_systems_or_somebodys(place: Path, profile: Profile) -> None:
    paths = ("/home", "/run", "/var", "/sys", "/srv", "/etc/shadow", "/etc/passwd", "/dev/kmsg", "/dev/vda", "/dev/mem")
    got = await tried(place, *(("listed", path) for path in paths), profile=profile)
    assert got == [NOT_THERE] * len(paths)
    above: Any
    (above, dev) = await tried(place, ("listed", "/"), ("listed", "/dev"), profile=profile)
    assert not {"home", "run", "var", "sys", "srv", "mnt", "media", "boot"} & set(above)
    assert set(dev) == {
        *("core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty"),
        *("urandom", "zero"),
    }


@EACH_PROFILE
async def test_writing_anywhere_but_to_its_own(place: Path, profile: Profile) -> None:
    denied = ("/new", "/usr/new", "/etc/new", "/dev/new", "/proc/new", "/usr/bin/env", "/etc/ssl/certs/new")
    kernel = ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/self/oom_score_adj")
    own = [f"{folder}/{place.name}-new" for folder in (TEMPORARY, HOME, SHARED_MEMORY)]
    got = await tried(place, *(("write", path) for path in (*denied, *kernel, *own)), profile=profile)
    assert set(got[: len(denied)]) <= {"EROFS", NOT_THERE, "EACCES", "ETXTBSY"}
    assert "written" not in got[len(denied) : len(denied) + 2]
    assert got[-len(own) :] == ["written"] * len(own)
    assert await tried(place, *(("read", path) for path in own), profile=Profile.NONE) == [NOT_THERE] * len(own)
    again = await tried(place, *(("read", path) for path in own), profile=profile)
    assert again == [NOT_THERE] * len(own), "what it wrote went with it"


async def test_it_finds_nothing_open_but_its_three_streams(place: Path) -> None:
    (found,) = await tried(place, ("files",))
    assert len(found) == 3 or (len(found) == 4 and any("/proc/" in each for each in found))
    assert all(each.startswith(("pipe:", "/proc/")) for each in found)
