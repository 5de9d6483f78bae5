"""Plans how a program is connected to the guard: which of its files changes, and which servers bypass the guard.

A server that a program reaches directly bypasses the guard. One that the guard already has can be removed from the file
in the same change; the others must be imported first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mcpguard.agents.candidates import Candidate, CandidateWay, GuardedServers, candidates
from mcpguard.agents.config_files import Contents, read_files
from mcpguard.agents.editing.edit import Edit
from mcpguard.agents.file_changes import NotChanged
from mcpguard.agents.program import AgentProgram, ConfigFile, Home, Reach
from mcpguard.text.visible import visible


@dataclass(frozen=True, slots=True)
class ProgramStatus:
    """The connection of a program to the guard, according to its files."""

    program: AgentProgram
    files: tuple[Contents, ...]
    found: tuple[Candidate, ...]
    place: ConfigFile
    """The file that gets the guard's entry."""
    installed: bool
    """Whether the program seems to be installed: it has a file, or its own folder."""

    @property
    def problem(self) -> str:
        """Why the file cannot be read; empty if it can."""
        return next((each.problem for each in self.files if each.place == self.place), "")

    @property
    def ours(self) -> tuple[Candidate, ...]:
        """The entries of the guard itself."""
        return tuple(each for each in self.found if each.way is CandidateWay.OURS)

    @property
    def direct(self) -> tuple[Candidate, ...]:
        """The servers that the program reaches directly, bypassing the guard."""
        return tuple(each for each in self.found if each.way is not CandidateWay.OURS)

    @property
    def replaceable(self) -> tuple[Candidate, ...]:
        """The direct servers that are in the file that changes and that the guard has already."""
        return tuple(each for each in self.direct if each.way is CandidateWay.HERE and each.item.place == self.place)


def program_status(program: AgentProgram, home: Home, folder: Path, guarded: GuardedServers) -> ProgramStatus:
    files = read_files(program, home, folder)
    found = tuple(candidates((item for each in files for item in each.items), guarded))
    place = _place(program.places(home, folder))
    kept = place.path.parent
    there = any(each.there for each in files) or (kept != home.folder and kept.is_dir())
    return ProgramStatus(program, files, found, place, there)


def guard_edit(at: ProgramStatus, reach: Reach, name: str, replaced: Iterable[Candidate]) -> Edit:
    """Return the edit that connects the program to the guard. An existing entry of the guard is replaced, whatever its
    name. Raises NotChanged."""
    there = next((each.item.label for each in at.ours if each.item.place == at.place), name)
    if any(each.item.label == there and each.item.place == at.place for each in at.direct):
        raise NotChanged(f"{at.place.path} has another server named {visible(there)}; choose another name with --name")
    return Edit({there: at.program.entry(reach)}, frozenset(each.item.label for each in replaced))


def each_edit(at: ProgramStatus, reaches: Mapping[str, Reach], replaced: Iterable[Candidate]) -> Edit:
    """Return the edit that gives the program one entry for each of these servers of the guard, by their names.

    Entries of the guard that are there already go, and so do the direct entries that these stand for. Raises NotChanged
    where another server of the program's has such a name.
    """
    replaced = (*replaced, *(each for each in at.replaceable if each.name in reaches))
    taken = {each.item.label for each in (*replaced, *at.ours) if each.item.place == at.place}
    for each in at.direct:
        if each.item.label in reaches and each.item.label not in taken and each.item.place == at.place:
            raise NotChanged(f"{at.place.path} has another server named {visible(each.item.label)}; rename it there")
    put = {name: at.program.entry(reach) for name, reach in reaches.items()}
    return Edit(put, frozenset(taken - put.keys()))


def _place(places: tuple[ConfigFile, ...]) -> ConfigFile:
    """Return the first existing file, or one in an existing folder, or the usual one."""
    mine = [place for place in places if place.connectable]
    return next((place for place in mine if place.path.exists()), None) or next(
        (place for place in mine if place.path.parent.is_dir()), mine[0]
    )
