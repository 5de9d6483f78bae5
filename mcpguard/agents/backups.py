"""Keeps backups of the programs' files that were changed, and a record of each change, so that it can be undone.

Rules kept here:
1. A file is saved completely before it is changed, readable by this account only: it may hold secrets of other servers.
2. The last change of a program's files is undone first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from mcpguard.agents.program import ConfigFile, FileForm
from mcpguard.store.files.datadir import prepare
from mcpguard.store.files.keyfiles import make, remove

_NOTE: Final = ".json"
_BEFORE: Final = ".before"


@dataclass(frozen=True, slots=True)
class BackedUpChange:
    """A change that was made. `was` are the members that were replaced or removed.

    `before` and `after` are digests of the whole file; `before` is None if there was no file.
    """

    path: Path
    keys: tuple[str, ...]
    form: FileForm
    before: str | None
    after: str
    put: Mapping[str, Any] = field(repr=False)
    was: Mapping[str, Any] = field(repr=False)

    @property
    def place(self) -> ConfigFile:
        return ConfigFile(self.path, self.keys, self.form)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


class Backups:
    """The backups of one program."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder / program

    def keep(self, done: BackedUpChange, before: bytes | None) -> int:
        """Save a change, and return its number. Raises OSError or StoreUnavailable."""
        prepare(self.folder.parent)
        prepare(self.folder)
        number = max(self._numbers(), default=0) + 1
        if before is not None:
            make(self.file_before(number), before)
        said = {
            "path": str(done.path), "keys": done.keys, "form": done.form, "before": done.before, "after": done.after,
            "put": done.put, "was": done.was,
        }  # fmt: skip
        make(self._note(number), json.dumps(said, ensure_ascii=False).encode())
        return number

    def last(self) -> tuple[int, BackedUpChange] | None:
        """Return the last change and its number. Raises ValueError where a note is damaged."""
        if not (numbers := self._numbers()):
            return None
        number = max(numbers)
        said = json.loads(self._note(number).read_bytes())
        try:
            done = BackedUpChange(
                Path(said["path"]),
                tuple(said["keys"]),
                FileForm(said["form"]),
                said["before"],
                said["after"],
                said["put"],
                said["was"],
            )  # fmt: skip
        except (KeyError, TypeError) as error:
            raise ValueError(str(self._note(number))) from error
        return number, done

    def file_before(self, number: int) -> Path:
        """Return the path of the saved file."""
        return self.folder / f"{number}{_BEFORE}"

    def forget(self, number: int, *, keep_file: bool = False) -> None:
        """Forget a change that was undone, or never made."""
        remove(self._note(number))
        if not keep_file:
            remove(self.file_before(number))

    def _note(self, number: int) -> Path:
        return self.folder / f"{number}{_NOTE}"

    def _numbers(self) -> list[int]:
        notes = self.folder.glob(f"*{_NOTE}") if self.folder.is_dir() else ()
        return [int(each.stem) for each in notes if each.stem.isascii() and each.stem.isdigit()]
