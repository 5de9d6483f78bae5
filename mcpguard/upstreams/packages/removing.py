"""Removing what an installation left, however deep it is nested and whatever modes it has.

A package decides how deep its folders are. A walk that calls itself for each level fails there, and a path can become
longer than the system takes. So what lies in a folder is moved up to the top before anybody looks into it.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def removed(folder: Path) -> None:
    """A file or a link is removed too, and no link is followed. Nothing is raised for what cannot be removed."""
    with suppress(OSError):
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink()
            return
        folder.chmod(0o700)
        while inside := _without_files(folder):
            for each in inside:
                for deeper in _without_files(each):
                    deeper.rename(folder / secrets.token_hex(16))
                each.rmdir()
        folder.rmdir()


def _without_files(folder: Path) -> list[Path]:
    """The folders in it; everything else in it is removed."""
    folders = []
    with os.scandir(folder) as found:
        entries = list(found)
    for entry in entries:
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            path.chmod(0o700)
            folders.append(path)
        else:
            path.unlink()
    return folders
