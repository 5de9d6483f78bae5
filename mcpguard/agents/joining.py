"""How a program comes to reach the guard: which of its files changes, and what stands there besides.

Whatever a program reaches directly walks around the guard. What the guard has already can be taken out of the file in
the same change; the rest has to be imported first.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mcpguard.agents.candidates import Candidate, CandidateWay, Guarded, candidates
from mcpguard.agents.changing import NotChanged
from mcpguard.agents.editing.edit import Edit
from mcpguard.agents.program import AgentProgram, ConfigFile, Home, Reach
from mcpguard.agents.reading import Contents, read
from mcpguard.text.visible import visible


@dataclass(frozen=True, slots=True)
class ProgramStanding:
    """How a program stands to the guard, by what its files say."""

    program: AgentProgram
    files: tuple[Contents, ...]
    found: tuple[Candidate, ...]
    place: ConfigFile
    """The file in which it is told of the guard."""
    installed: bool
    """Whether there is anything of it: a file, or the folder in which it keeps its own."""

    @property
    def problem(self) -> str:
        """Why the file cannot be read, if it cannot."""
        return next((each.problem for each in self.files if each.place == self.place), "")

    @property
    def ours(self) -> tuple[Candidate, ...]:
        """The guard itself, where the program has it."""
        return tuple(each for each in self.found if each.way is CandidateWay.OURS)

    @property
    def direct(self) -> tuple[Candidate, ...]:
        """What walks around the guard."""
        return tuple(each for each in self.found if each.way is not CandidateWay.OURS)

    @property
    def replaceable(self) -> tuple[Candidate, ...]:
        """Of that, what stands in the file that changes, and what the guard has."""
        return tuple(each for each in self.direct if each.way is CandidateWay.HERE and each.item.place == self.place)


def standing(program: AgentProgram, home: Home, folder: Path, guarded: Guarded) -> ProgramStanding:
    files = read(program, home, folder)
    found = tuple(candidates((item for each in files for item in each.items), guarded))
    place = _place(program.places(home, folder))
    kept = place.path.parent
    there = any(each.there for each in files) or (kept != home.folder and kept.is_dir())
    return ProgramStanding(program, files, found, place, there)


def joined(at: ProgramStanding, reach: Reach, name: str, replaced: Iterable[Candidate]) -> Edit:
    """What makes the program reach the guard so. An entry for the guard that is there already is the one that is
    meant, whatever it is called. Raises NotChanged."""
    there = next((each.item.label for each in at.ours if each.item.place == at.place), name)
    if any(each.item.label == there and each.item.place == at.place for each in at.direct):
        raise NotChanged(f"{at.place.path} has another server that is called {visible(there)}; give --name another")
    return Edit({there: at.program.entry(reach)}, frozenset(each.item.label for each in replaced))


def _place(places: tuple[ConfigFile, ...]) -> ConfigFile:
    """The first whose program is there; else the usual one."""
    mine = [place for place in places if place.connectable]
    return next((place for place in mine if place.path.exists()), None) or next(
        (place for place in mine if place.path.parent.is_dir()), mine[0]
    )
