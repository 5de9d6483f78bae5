"""Checks whether any account but root and the guard's own can change the file at a path.

Rules kept here:
1. Any account that may write to a folder above can replace the file. In a folder with the sticky bit only the owner of
   an entry can remove it, so such a folder is safe for entries that belong to root or to the guard.
2. A group-writable file is safe if no other account is in that group: the private group of an account, or a system
   group without members. An access list (ACL) may admit others, so it counts as writable by others.
3. Group members are read from the host's own lists. A directory service need not list all of them, so of the groups of
   users only the guard's own private one is trusted.
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
"""Lower numbers belong to accounts of the system."""
_ACCESS_LIST: Final = "system.posix_acl_access"


@dataclass(frozen=True, slots=True)
class Changeable:
    """A path that others can change; `why` and `remedy` are parts of a sentence."""

    path: Path
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path} {self.why} ({self.remedy})"


def find_changeable(path: Path) -> Changeable | None:
    """Return what others can change of this file or link and the folders above it, or None.

    Raises OSError where the path does not exist.
    """
    found = _open(path, path.lstat(), folder=False)
    return found or next(filter(None, (_open(above, above.lstat(), folder=True) for above in path.parents)), None)


def find_addable(folder: Path) -> Changeable | None:
    """Return why others could add an entry to this folder, which need not exist yet; None if they cannot."""
    there = next(each for each in (folder, *folder.parents) if each.is_dir()).resolve()
    return find_changeable(there)


def only_root_writes(path: Path) -> bool:
    """Tell whether neither the file nor a folder above it can be changed by any account but root."""
    found = [each.lstat() for each in (path, *path.parents)]
    return not any(about.st_uid or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for about in found)


def _open(path: Path, about: os.stat_result, *, folder: bool) -> Changeable | None:
    """Return why others can change this one entry. `folder`: it is a folder above the file, not the file itself."""
    own = os.geteuid()
    # The owner can always change the mode, so its rights do not matter.
    if about.st_uid not in (0, own):
        return Changeable(path, f"is owned by user {about.st_uid}", f"chown {own} {quote(str(path))}")
    # A link has no mode of its own: whoever may write to its folder can replace it, and that folder is checked, too.
    if stat.S_ISLNK(about.st_mode) or (folder and about.st_mode & stat.S_ISVTX):
        return None
    if about.st_mode & stat.S_IWOTH:
        return Changeable(path, "is writable by everyone", f"chmod go-w {quote(str(path))}")
    if about.st_mode & stat.S_IWGRP and (who := _others(path, about.st_gid)):
        return Changeable(path, f"is writable by {who}", f"chmod g-w {quote(str(path))}")
    return None


def _others(path: Path, group: int) -> str:
    """Return who may write where this group may, besides root and the guard's account; empty if nobody."""
    if _has_access_list(path):
        return "accounts in its access list"
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
