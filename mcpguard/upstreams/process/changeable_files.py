"""Whether any account but root's and the guard's own can change what lies at a path.

Rules kept here:
1. Who may write to a folder above may put another file in the place of this one. In a folder with the sticky bit only
   the owner of a name may take it away, so such a folder counts for what belongs to root or to the guard.
2. What a group may write to, nobody else may if nobody else is in that group: the private group of an account, or a
   group of the system without members. An access list (ACL) may let others in, so it counts as others.
3. Who else is in a group is what the machine's own lists say. Directories of people elsewhere need not tell all of
   them, so of the groups of people only the guard's own private one is believed.
"""

import grp
import os
import pwd
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from errno import ENODATA, ENOTSUP
from pathlib import Path
from shlex import quote
from typing import Final

_PEOPLE: Final = 1000
"""Lower numbers are those of the system."""
_ACCESS_LIST: Final = "system.posix_acl_access"


@dataclass(frozen=True, slots=True)
class Changeable:
    """`path` can be changed by others; `why` and `remedy` are parts of a sentence."""

    path: Path
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path} {self.why} ({self.remedy})"


def changeable(path: Path) -> Changeable | None:
    """What of this file or link, and of the folders above it, others can change; None if it is nothing.

    Raises OSError for what is not there.
    """
    found = _open(path, path.lstat(), folder=False)
    return found or next(filter(None, (_open(above, above.lstat(), folder=True) for above in path.parents)), None)


def adding(folder: Path) -> Changeable | None:
    """Why others could put something new into this folder, which need not be there yet; None if they cannot."""
    there = next(each for each in (folder, *folder.parents) if each.is_dir()).resolve()
    return changeable(there)


def only_root_writes(path: Path) -> bool:
    """Whether neither the file nor a folder above it can be changed by any account but root."""
    found = [each.lstat() for each in (path, *path.parents)]
    return not any(about.st_uid or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for about in found)


def _open(path: Path, about: os.stat_result, *, folder: bool) -> Changeable | None:
    """`folder`: it is one that is looked at for what lies in it."""
    own = os.geteuid()
    if about.st_uid not in (0, own):
        return Changeable(path, f"belongs to user {about.st_uid}", f"chown {own} {quote(str(path))}")
    if stat.S_ISLNK(about.st_mode) or (folder and about.st_mode & stat.S_ISVTX):
        return None
    if about.st_mode & stat.S_IWOTH:
        return Changeable(path, "may be written to by everybody", f"chmod go-w {quote(str(path))}")
    if about.st_mode & stat.S_IWGRP and (who := _others(path, about.st_gid)):
        return Changeable(path, f"may be written to by {who}", f"chmod g-w {quote(str(path))}")
    return None


def _others(path: Path, group: int) -> str:
    """Who but root and the guard's account may write where this group may; empty if it is nobody."""
    if _has_access_list(path):
        return "whom its access list names"
    try:
        named = grp.getgrgid(group)
    except KeyError:
        return f"group {group}"
    ours = {each.pw_name: each.pw_uid for each in _accounts() if each.pw_uid in (0, os.geteuid())}
    others = any(each.pw_gid == group and each.pw_name not in ours for each in _accounts())
    private = group < _PEOPLE or named.gr_name in ours
    return "" if private and not others and set(named.gr_mem) <= ours.keys() else f"group {named.gr_name}"


def _accounts() -> Iterator[pwd.struct_passwd]:
    yield from pwd.getpwall()


def _has_access_list(path: Path) -> bool:
    if sys.platform != "linux":
        return False
    try:
        os.getxattr(path, _ACCESS_LIST)
    except OSError as error:
        if error.errno in (ENODATA, ENOTSUP):
            return False
        raise
    return True
