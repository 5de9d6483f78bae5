"""What is to become of each entry that was found: whether it can be taken, and whether the guard has it already.

Rules kept here:
1. An entry is judged by itself: one that cannot be taken is told with why, and costs no other.
2. What the guard has is compared by how it is reached, not by its name alone.
3. Nothing that is told of an entry repeats a value that may be a secret: only what was found to hold none is shown.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from mcpguard.agents.confiding import SecretFreeEntry, confided
from mcpguard.agents.folders import told_of
from mcpguard.agents.ourselves import ours
from mcpguard.agents.program import Untaken
from mcpguard.agents.reading import Item
from mcpguard.codec.names import server_name_for
from mcpguard.domain.decisions import NotDeclared
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.launches import Launch, Profile, RemoteLaunch, StdioLaunch
from mcpguard.settings.entries.entry import entry_place, shown_name
from mcpguard.settings.entries.members import read_entry

OTHERWISE: Final = "--as NAME"


class CandidateWay(StrEnum):
    """What is to become of an entry."""

    NEW = "new"
    HERE = "here already"
    AGAIN = "as another"
    TAKEN = "name is taken"
    OURS = "mcpguard itself"
    NOT = "cannot be taken"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry, and what is to become of it. `why` says more; `confided` and `launch` are there if it can be taken."""

    item: Item
    name: str
    way: CandidateWay
    why: str = ""
    confided: SecretFreeEntry | None = None
    launch: Launch | None = None
    notices: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        """What it gets to see of the machine."""
        return tuple(map(str, self.launch.mounts)) if isinstance(self.launch, StdioLaunch) else ()

    @property
    def profile(self) -> Profile | None:
        """How it would be confined; None where it is not started here."""
        return self.launch.profile if isinstance(self.launch, StdioLaunch) else None

    @property
    def reached(self) -> str:
        """What runs or is contacted, in one line; empty if it cannot be taken."""
        match self.launch:
            case None:
                return ""
            case RemoteLaunch(_, url):
                return url
            case StdioLaunch(command, arguments):
                return shlex.join((command, *arguments))


@dataclass(frozen=True, slots=True)
class Guarded:
    """What the guard has: how each server is reached, as it tells it, and how it stands; where it listens itself."""

    launches: Mapping[str, Mapping[str, Any]]
    standings: Mapping[str, str]
    origins: tuple[str, ...]
    secrets: Path
    """The folder with a folder of secrets for each server."""


def candidates(items: Iterable[Item], guarded: Guarded) -> list[Candidate]:
    """Each entry's, in their order; the first of those that are alike is the one to take."""
    found: list[Candidate] = []
    first: dict[str, Candidate] = {}
    for item in items:
        each = candidate(item, guarded)
        if each.way is CandidateWay.NEW:
            earlier = first.setdefault(each.name, each)
            if earlier is not each:
                each = _after(each, earlier)
        found.append(each)
    return found


def candidate(item: Item, guarded: Guarded, name: str | None = None) -> Candidate:
    """One entry's. `name`: what it is to be called instead."""
    label = item.label if name is None else name
    if ours(item.entry, guarded.origins):
        return Candidate(item, shown_name(label), CandidateWay.OURS)
    try:
        if not isinstance(item.entry, Mapping):
            raise Untaken("must be an object")  # noqa: TRY301 - told as everything else that is wrong with it
        called = server_name_for(label)
        meant = item.program.members(item.entry, item.around)
        folders = told_of(meant, item.around.home.folder)
        without = confided(meant | ({"mounts": [*folders]} if folders else {}), guarded.secrets / called)
        declared, notices = read_entry(label, without.members)
    except Untaken as error:
        return Candidate(item, shown_name(label), CandidateWay.NOT, f"{entry_place(label)} {error}")
    except InvalidName:
        return Candidate(
            item, shown_name(label), CandidateWay.NOT, f"{entry_place(label)} has no letter or digit to make a name of"
        )
    except NotDeclared as error:
        return Candidate(item, shown_name(label), CandidateWay.NOT, "; ".join(error.problems))
    way, why = CandidateWay.NEW, ""
    if (there := guarded.launches.get(called)) is not None:
        way, why = CandidateWay.HERE, guarded.standings[called]
        if not _same(declared.launch, there):
            way, why = (
                CandidateWay.TAKEN,
                f"the guard has another server of this name; give this one another: {OTHERWISE}",
            )
    return Candidate(item, called, way, why, without, declared.launch, notices)


def _after(each: Candidate, earlier: Candidate) -> Candidate:
    """One that is called as an earlier one, which the guard does not have either."""
    whose = f"{earlier.item.program.title}, {earlier.item.scope}"
    if each.launch == earlier.launch:
        return replace(each, way=CandidateWay.AGAIN, why=f"the same as that of {whose}")
    return replace(
        each, way=CandidateWay.TAKEN, why=f"that of {whose} is called so too; give this one another name: {OTHERWISE}"
    )


def _same(launch: Launch, there: Mapping[str, Any]) -> bool:
    """Whether this is what the guard shows; of what was written out it shows only that it is there."""
    match launch:
        case RemoteLaunch(_, url, headers):
            return there.get("url") == url and _alike(headers, there.get("headers", ()))
        case _:
            return (
                there.get("command") == launch.command
                and there.get("arguments") == list(launch.arguments)
                and there.get("folder") == launch.folder
                and _alike(launch.environment, there.get("environment", ()))
            )


def _alike(templates: Mapping[str, str], shown: Iterable[Mapping[str, Any]]) -> bool:
    there = {str(each["name"]): each["value"] for each in shown}
    return templates.keys() == there.keys() and all(there[name] in (None, templates[name]) for name in templates)
