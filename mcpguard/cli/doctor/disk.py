"""Checks the disk: free space for records, and whether it can hold a database.

Rules kept here:
1. Without free space nothing can be recorded, so every call is refused: low space is reported before it runs out.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mcpguard.app.places import database, server_logs
from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem

MIB: Final = 1024 * 1024
TOO_LITTLE: Final = 100 * MIB
LITTLE: Final = 1024 * MIB
TOO_FEW: Final = 100
FEW: Final = 1000
SHARED: Final = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|lustre|gpfs|vboxsf|drvfs|fuse\.(sshfs|glusterfs|s3fs|rclone|gcsfuse|.*fs-fuse)"
)
MEMORY: Final = frozenset({"tmpfs", "ramfs"})
ROOM: Final = "free space, prune old records (retention.*, mcpguard audit prune), or move the data directory"


def room(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether more can be written."""
    folder = _existing(evidence.settings.data_dir)
    about = os.statvfs(folder)
    free = about.f_bavail * about.f_frsize
    if about.f_flag & os.ST_RDONLY or not os.access(folder, os.W_OK | os.X_OK):
        yield problem(
            "disk.writable",
            f"{folder} cannot be written by this account",
            "make it writable for the guard's account",
        )
    if free < TOO_LITTLE:
        yield problem("disk.space", f"only {_size(free)} are free for {folder}: without space, calls are refused", ROOM)
    elif free < LITTLE:
        yield notice("disk.space", f"{_size(free)} are free for {folder}", ROOM)
    else:
        yield ok("disk.space", f"{_size(free)} are free for {folder}")
    if about.f_files and about.f_favail < FEW:  # some file systems count none
        tell = problem if about.f_favail < TOO_FEW else notice
        yield tell("disk.files", f"only {about.f_favail:,} more files can be made in {folder}", ROOM)


def sizes(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """How large the database and the logs are."""
    where = database(evidence.settings)
    if isinstance(where, Path) and where.exists():
        wal = where.with_name(f"{where.name}-wal")
        size = where.stat().st_size + (wal.stat().st_size if wal.exists() else 0)
        records = f", {evidence.stored.records:,} records" if evidence.stored.records else ""
        yield ok("disk.database", f"the size of the database is {_size(size)}{records}")
    logs = server_logs(evidence.settings)
    if logs.is_dir():
        size = sum(each.stat().st_size for each in logs.iterdir() if each.is_file())
        yield ok("disk.logs", f"the logs of servers take {_size(size)}")


def kind(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether a database is safe on this file system."""
    folder = _existing(evidence.settings.data_dir)
    found = file_system(folder, Path("/proc/self/mountinfo").read_text(errors="surrogateescape"))
    if SHARED.fullmatch(found) and evidence.settings.store.url is None:
        yield notice(
            "disk.kind", f"{folder} is on {found}, where the locks and the WAL of SQLite are not reliable",
            "move the data directory to a local disk, or use PostgreSQL (store.url)",
        )  # fmt: skip
    elif found in MEMORY:
        yield notice(
            "disk.kind", f"{folder} is in memory ({found}): the audit log is gone when the host stops",
            "move the data directory to a disk",
        )  # fmt: skip
    else:
        yield ok("disk.kind", f"{folder} is on {found or 'a file system that is not named'}")


def file_system(folder: Path, mounts: str) -> str:
    """The type of the file system with this folder, by the mounts of Linux; empty if they do not say."""
    best, found = -1, ""
    for line in mounts.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda each: chr(int(each[1], 8)), fields[4]))
        if folder.is_relative_to(point) and len(point.parts) >= best:  # the later one is on top
            best, found = len(point.parts), after.split(" ")[0]
    return found


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(each for each in (folder, *folder.parents) if each.is_dir())


def _size(count: int) -> str:
    return f"{count / MIB / 1024:,.1f} GiB" if count >= 1024 * MIB else f"{count / MIB:,.1f} MiB"
