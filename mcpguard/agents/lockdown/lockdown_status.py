"""Compares what is deployed for a program with what lockdown would deploy.

Rules kept here:
1. Deployed is what lockdown would leave as it is: there is no second opinion about what a file means. A pattern that
   admits more than the guard differs from what lockdown writes, and counts as different.
2. What others can change counts as different, whatever it says.
3. Nothing is written, and no message repeats a value of a file.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mcpguard.agents.config_files import Unclear, read_file
from mcpguard.agents.editing.edit import servers
from mcpguard.agents.editing.understanding import FileNotUnderstood
from mcpguard.agents.lockdown.deployment import SystemFile
from mcpguard.agents.lockdown.system_files import weakness
from mcpguard.text.visible import visible


class LockdownState(StrEnum):
    """Whether the guard is the only way: as deployed, not deployed, or deployed and other than it should be."""

    IN_FORCE = "in force"
    ABSENT = "absent"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class LockdownStatus:
    """What is deployed for a program. `problems` say in sentences what is other than it should be."""

    state: LockdownState
    paths: tuple[Path, ...]
    problems: tuple[str, ...] = ()


def lockdown_status(files: Iterable[SystemFile], root: Path) -> LockdownStatus:
    """Compare the files below a root folder with these."""
    paths, problems, absent = [], [], 0
    for file in files:
        place = file.place_below(root)
        paths.append(place.path)
        if not place.path.exists() and not place.path.is_symlink():
            absent += 1
            problems.append(f"{place.path} is missing")
        else:
            problems += _problems(file, root)
    if absent == len(paths):
        return LockdownStatus(LockdownState.ABSENT, tuple(paths))
    return LockdownStatus(
        LockdownState.DIFFERENT if problems else LockdownState.IN_FORCE, tuple(paths), tuple(problems)
    )


def _problems(file: SystemFile, root: Path) -> list[str]:
    place = file.place_below(root)
    weak = weakness(place.path, root, frozenset({0, root.stat().st_uid}))
    if weak is not None:
        return [f"{weak.sentence}: {weak.next}"]
    try:
        present = servers(read_file(place) or b"", place)
    except (Unclear, FileNotUnderstood) as error:
        return [f"{place.path} {error}"]
    edit = file.edit(present)
    found = [f"{place.path} also has {visible(name)}" for name in sorted(edit.take)]
    for name, value in edit.put.items():
        if name not in present:
            found.append(f"{place.path} lacks {name}")
        elif present[name] != value:
            found.append(f"{place.path} has another {name} than this guard's")
    return found
