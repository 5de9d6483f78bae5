"""Removes the files that an installation left, however deeply nested and whatever their modes.

A package chooses how deep its folders are. A recursive walk would overflow the stack there, and a path could become
longer than the system allows. So the subfolders of each folder are moved up to the top before they are listed.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def remove_tree(folder: Path) -> None:
    """Remove a folder, a file or a link. No link is followed, and what cannot be removed raises nothing."""
    with suppress(OSError):
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink()
            return
        # A package may take away the rights to its own folders, which would protect them from removal.
        folder.chmod(0o700)
        while inside := _without_files(folder):
            for each in inside:
                for deeper in _without_files(each):
                    # A random name: the package chooses the names in its folders, and could collide with a predictable
                    # one.
                    deeper.rename(folder / secrets.token_hex(16))
                each.rmdir()
        folder.rmdir()


def _without_files(folder: Path) -> list[Path]:
    """Remove everything but folders from the folder, and return those."""
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
