"""Checks who else has access to the guard's files.

Rules kept here:
1. Nothing is opened: only owners and modes are checked.
2. Each problem names the command that solves it. A link is checked itself, not its target, as the guard does.
"""

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Final

from mcpguard.app import places
from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem

MOST: Final = 1000
"""Files of one folder that are looked at."""
FOLDERS: Final = ("logs", "backups", "secrets", "secrets/*", "connected", "connected/*")
SERVE: Final = "mcpguard serve creates it"


def accounts(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """The guard's account, and who can decide like it."""
    if evidence.account == 0:
        yield notice(
            "account.root", "the guard runs as root: a flaw in it endangers the whole host",
            "run it in an account of its own",
        )  # fmt: skip
    elif evidence.account != os.geteuid():
        yield notice("account.other", f"the guard is user {evidence.account}, and this command is user {os.geteuid()}")
    if evidence.settings.authority.shell == "full":
        yield notice(
            "account.shell",
            "whoever has a shell in the guard's account can decide everything: an agent with one can approve itself",
            "give the guard an account in which no agent runs, or set authority.shell to tighten",
        )
    else:
        yield ok("account.shell", "a shell in the guard's account can only tighten protection")


def data_dir(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether everything in the data directory is only for the guard's account."""
    folder = evidence.settings.data_dir
    try:
        found = folder.lstat()
    except FileNotFoundError:
        yield notice("files.data_dir", f"there is no data directory {folder} yet", SERVE, of=str(folder))
        return
    if not stat.S_ISDIR(found.st_mode):
        yield problem("files.data_dir", f"{folder} is not a directory", "choose another with data_dir", of=str(folder))
        return
    wrong = [*_alone(folder, evidence.account)]
    for each in (folder, *islice((found for name in FOLDERS for found in folder.glob(name)), MOST)):
        wrong += _inside(each, evidence.account)
    for socket in (places.operator_socket(folder), places.agents_socket(folder)):
        if socket.parent != folder and socket.exists():
            wrong += [*_alone(socket.parent, evidence.account), *_alone(socket, evidence.account)]
    yield from wrong
    if not wrong:
        yield ok(
            "files.mode", "only the guard's account has access to keys, database, logs and sockets", of=str(folder)
        )


def above(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether somebody could replace the data directory."""
    for folder in evidence.settings.data_dir.parents:
        try:
            mode = folder.stat().st_mode
        except FileNotFoundError:
            continue
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            yield problem(
                "files.above", f"everybody can replace what is in {folder}",
                f"chmod o-w {quote(str(folder))}", of=str(folder),
            )  # fmt: skip


def keys(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Keys in other places, and the anchor file: if others can replace them, they are worth nothing."""
    key = places.signing_key(evidence.settings)
    if not key.is_relative_to(evidence.settings.data_dir) and key.exists():
        yield from _alone(key, evidence.account)
        yield from _fixed(key.parent, evidence.account)
    anchors = evidence.settings.audit.anchor_file
    if anchors is not None and anchors.exists():
        yield from _fixed(anchors, evidence.account)


def secrets(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """The folders whose files references may name."""
    for folder in map(Path, evidence.settings.upstreams.secret_folders):
        try:
            mode = folder.stat().st_mode
        except OSError as error:
            yield problem(
                "files.secrets", f"the folder of secrets {folder} cannot be checked: {error.strerror}",
                "make it, or take it out of upstreams.secret_folders", of=str(folder),
            )  # fmt: skip
            continue
        yield from _fixed(folder, evidence.account)
        if mode & stat.S_IXOTH:  # otherwise the files in it are out of reach
            yield from _inside(folder, evidence.account)


def _inside(folder: Path, account: int) -> Iterator[DoctorFinding]:
    try:
        with os.scandir(folder) as entries:
            names = [Path(each.path) for each in islice(entries, MOST)]
    except (FileNotFoundError, NotADirectoryError):
        return
    for path in sorted(names):
        yield from _alone(path, account)


def _alone(path: Path, account: int) -> Iterator[DoctorFinding]:
    """Tell whether only the guard's account has access to a path."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return  # it came and went
    if stat.S_ISLNK(found.st_mode):
        return
    if found.st_uid != account:
        yield problem(
            "files.owner", f"{path} belongs to user {found.st_uid}, not to the guard's account ({account})",
            f"chown {account} {quote(str(path))}, or run this command in the guard's account", of=str(path),
        )  # fmt: skip
    if found.st_mode & 0o077:
        mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
        yield problem(
            "files.mode", f"others have access to {path} (mode {found.st_mode & 0o777:o})",
            f"chmod {mode} {quote(str(path))}", of=str(path),
        )  # fmt: skip


def _fixed(path: Path, account: int) -> Iterator[DoctorFinding]:
    """Tell whether nobody else can change a path."""
    found = path.stat()
    if found.st_uid not in (0, account):
        yield problem(
            "files.owner", f"{path} belongs to user {found.st_uid}, not to the guard's account ({account})",
            f"chown {account} {quote(str(path))}", of=str(path),
        )  # fmt: skip
    if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
        yield problem(
            "files.writable", f"others can change {path} (mode {found.st_mode & 0o777:o})",
            f"chmod go-w {quote(str(path))}", of=str(path),
        )  # fmt: skip
