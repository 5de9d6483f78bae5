"""Who else can get at what is the guard's alone.

Rules kept here:
1. Nothing is opened: only owners and modes are looked at.
2. Each problem names the command that ends it. A link is looked at as itself, as the guard does.
"""

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Final

from mcpguard.app import places
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.cli.doctor.sight import Sight

MOST: Final = 1000
"""Files of one folder that are looked at."""
FOLDERS: Final = ("logs", "backups", "secrets", "secrets/*", "connected", "connected/*")
SERVE: Final = "mcpguard serve makes it"


def accounts(sight: Sight) -> Iterator[DoctorFinding]:
    """Who the guard is, and who decides like it."""
    if sight.account == 0:
        yield notice(
            "account.root", "the guard is root: whatever is wrong with it is wrong with the whole machine",
            "give it an account of its own",
        )  # fmt: skip
    elif sight.account != os.geteuid():
        yield notice("account.other", f"the guard is user {sight.account}, and this command is user {os.geteuid()}")
    if sight.settings.authority.shell == "full":
        yield notice(
            "account.shell",
            "whoever has a shell in the guard's account decides everything: an agent with one can let itself in",
            "give the guard an account in which no agent runs, or set authority.shell to tighten",
        )
    else:
        yield ok("account.shell", "a shell in the guard's account decides only what lets no more happen")


def data_dir(sight: Sight) -> Iterator[DoctorFinding]:
    """All that is kept, for the guard's account alone."""
    folder = sight.settings.data_dir
    try:
        found = folder.lstat()
    except FileNotFoundError:
        yield notice("files.data_dir", f"there is no data directory {folder} yet", SERVE, of=str(folder))
        return
    if not stat.S_ISDIR(found.st_mode):
        yield problem("files.data_dir", f"{folder} is no directory", "choose another with data_dir", of=str(folder))
        return
    wrong = [*_alone(folder, sight.account)]
    for each in (folder, *islice((found for name in FOLDERS for found in folder.glob(name)), MOST)):
        wrong += _inside(each, sight.account)
    for socket in (places.operator_socket(folder), places.agents_socket(folder)):
        if socket.parent != folder and socket.exists():
            wrong += [*_alone(socket.parent, sight.account), *_alone(socket, sight.account)]
    yield from wrong
    if not wrong:
        yield ok("files.mode", "keys, database, logs and sockets are the guard's alone", of=str(folder))


def above(sight: Sight) -> Iterator[DoctorFinding]:
    """Who could put another directory in the place of this one."""
    for folder in sight.settings.data_dir.parents:
        try:
            mode = folder.stat().st_mode
        except FileNotFoundError:
            continue
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            yield problem(
                "files.above", f"everybody can put another directory in the place of what is in {folder}",
                f"chmod o-w {quote(str(folder))}", of=str(folder),
            )  # fmt: skip


def keys(sight: Sight) -> Iterator[DoctorFinding]:
    """Keys that lie elsewhere, and the file with anchors: whoever may replace it makes it worthless."""
    key = places.signing_key(sight.settings)
    if not key.is_relative_to(sight.settings.data_dir) and key.exists():
        yield from _alone(key, sight.account)
        yield from _fixed(key.parent, sight.account)
    anchors = sight.settings.audit.anchor_file
    if anchors is not None and anchors.exists():
        yield from _fixed(anchors, sight.account)


def secrets(sight: Sight) -> Iterator[DoctorFinding]:
    """The folders whose files references may name."""
    for folder in map(Path, sight.settings.upstreams.secret_folders):
        try:
            mode = folder.stat().st_mode
        except OSError as error:
            yield problem(
                "files.secrets", f"the folder of secrets {folder} cannot be looked at: {error.strerror}",
                "make it, or take it out of upstreams.secret_folders", of=str(folder),
            )  # fmt: skip
            continue
        yield from _fixed(folder, sight.account)
        if mode & stat.S_IXOTH:  # otherwise the files in it are out of reach
            yield from _inside(folder, sight.account)


def _inside(folder: Path, account: int) -> Iterator[DoctorFinding]:
    try:
        with os.scandir(folder) as entries:
            names = [Path(each.path) for each in islice(entries, MOST)]
    except (FileNotFoundError, NotADirectoryError):
        return
    for path in sorted(names):
        yield from _alone(path, account)


def _alone(path: Path, account: int) -> Iterator[DoctorFinding]:
    """Nobody but the guard's account gets at it."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return  # it came and went
    if stat.S_ISLNK(found.st_mode):
        return
    if found.st_uid != account:
        yield problem(
            "files.owner", f"{path} belongs to user {found.st_uid}, not to the guard's account ({account})",
            f"chown {account} {quote(str(path))}, or run this command in the account of the guard", of=str(path),
        )  # fmt: skip
    if found.st_mode & 0o077:
        mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
        yield problem(
            "files.mode", f"others can get at {path} (mode {found.st_mode & 0o777:o})",
            f"chmod {mode} {quote(str(path))}", of=str(path),
        )  # fmt: skip


def _fixed(path: Path, account: int) -> Iterator[DoctorFinding]:
    """Nobody else can change it."""
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
