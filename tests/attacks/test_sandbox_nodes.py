"""What a confined server makes in a folder that others use too takes no orders, and gives nobody its rights."""

import os
import platform
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpguard.domain.servers.launches import Mount, Profile
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from tests.attacks.sandboxed import EACH_PROFILE, started, told, tried

pytestmark = pytest.mark.anyio
AT_FOLDER = -100
CALLS = {"x86_64": {"creat": 85, "chmod": 90, "mknod": 133}}
"""Those that libraries do not use any more."""
OPENAT2, FCHMODAT2 = 437, 452


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mg-", dir="/tmp") as folder:
        place = Path(folder) / "shared"
        Path(folder).chmod(0o755)
        place.mkdir()
        place.chmod(0o777)
        yield place


@EACH_PROFILE
async def test_it_makes_files_and_nothing_else(tmp_path: Path, shared: Path, profile: Profile) -> None:
    kinds = (stat.S_IFSOCK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK)
    attempts: list[tuple[object, ...]] = [("node", str(shared / "node"), kind | 0o666) for kind in kinds]
    by_number = CALLS.get(platform.machine(), {})
    if "mknod" in by_number:
        attempts.append(("numbered", by_number["mknod"], str(shared / "node"), stat.S_IFSOCK | 0o666, 0))
    got = await tried(
        tmp_path,
        *attempts,
        ("node", str(shared / "file"), stat.S_IFREG | 0o644),
        ("node", str(shared / "plain"), 0o644),
        profile=profile,
        mounts=[Mount(str(shared), writable=True)],
    )
    assert got == [*["EPERM"] * len(attempts), "made", "made"]
    assert set(os.listdir(shared)) == {"file", "plain"}  # noqa: PTH208 - a Path would be told to block


@EACH_PROFILE
@pytest.mark.parametrize("bit", [stat.S_ISUID, stat.S_ISGID, stat.S_ISUID | stat.S_ISGID])
async def test_nothing_that_it_makes_gives_its_rights_to_whoever_runs_it(
    tmp_path: Path, shared: Path, profile: Profile, bit: int
) -> None:
    mode, file = bit | 0o755, str(shared / "file")
    refused: list[tuple[object, ...]] = [
        ("change", file, mode),
        ("change_open", file, mode),
        ("numbered", FCHMODAT2, AT_FOLDER, file, mode, 0),
        ("create", str(shared / "new"), mode),
        ("create", str(shared), mode, os.O_TMPFILE | os.O_RDWR),
        ("node", str(shared / "new"), stat.S_IFREG | mode),
    ]
    numbers = CALLS.get(platform.machine(), {})
    old = {"creat": str(shared / "new"), "chmod": file}
    refused.extend(("numbered", numbers[name], path, mode) for name, path in old.items() if name in numbers)
    got = await tried(
        tmp_path,
        ("create", file, 0o755),
        *refused,
        ("numbered", OPENAT2, AT_FOLDER, str(shared / "new"), file, 24),
        ("change", file, 0o1711),
        ("create", file, mode, os.O_RDWR),
        profile=profile,
        mounts=[Mount(str(shared), writable=True)],
    )
    assert got == ["made", *["EPERM"] * len(refused), "ENOSYS", "changed", "made"], "without O_CREAT no mode is meant"
    assert os.listdir(shared) == ["file"]  # noqa: PTH208 - likewise
    assert stat.S_IMODE((shared / "file").stat().st_mode) == 0o1711


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_SEQPACKET"])
@pytest.mark.parametrize("closed", [False, True])
async def test_a_socket_that_one_leaves_there_keeps_no_other_from_starting(
    tmp_path: Path, shared: Path, kind: str, closed: bool
) -> None:
    """One of a pair can be named, in a place too deep for an address, and closed to everybody."""
    deep = shared / ("d" * 100) / "deep"
    deep.mkdir(parents=True)
    for each in (deep, deep.parent):
        each.chmod(0o777)
    attempts = [("named_pair", str(deep / "s"), kind), *([("change", str(deep / "s"), 0)] if closed else [])]
    mounts = [Mount(str(shared), writable=True)]
    async with started(tmp_path, *attempts, mounts=mounts) as server:
        assert [await told(server) for _ in attempts] == ["named", *(["changed"] if closed else [])]
        assert stat.S_ISSOCK((deep / "s").stat().st_mode)
        assert await tried(tmp_path, ("listed", str(deep)), mounts=mounts) == [["s"]], "while it holds it"
    assert await tried(tmp_path, ("listed", str(deep)), mounts=mounts) == [["s"]], "and later"


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM])
async def test_one_at_which_somebody_listens_is_refused(tmp_path: Path, shared: Path, kind: int) -> None:
    path = str(shared / "s")
    with socket.socket(socket.AF_UNIX, kind) as service:
        service.bind(path)
        if kind != socket.SOCK_DGRAM:
            service.listen(0)
        for _ in range(3):  # also once its queue is full
            with pytest.raises(NotConfined, match=f"{path} is a socket"):
                await tried(tmp_path, ("listed", str(shared)), mounts=[Mount(str(shared))])
