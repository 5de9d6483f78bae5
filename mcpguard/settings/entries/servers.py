"""The servers that a configuration file declares: its `mcpServers` and `servers`, in the forms of several programs.

Rules kept here:
1. The file is its author's wish and nothing more: it makes no server trusted, and no key of it can.
2. What is wrong with one server costs that server only. It is told in a sentence, and the server is not declared.
3. A server is called by its folded label. Labels that fold alike are all refused: which one was meant is not guessed.
4. Nothing here raises because of what the file says, and no sentence repeats a value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mcpguard.codec.names import server_name_for
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.launches import Declared, Era
from mcpguard.settings.entries.entry import MOST_NAMED, EntryReader, below, enumerated, named, quoted
from mcpguard.settings.entries.launches import launch

MOST_SERVERS: Final = 200
LONGEST_LABEL: Final = 200
MOST_SECONDS: Final = 3600

_WHERE: Final = ("mcpServers", "servers")
_KNOWN: Final = frozenset({*_WHERE, "mcpguard", "$schema"})


@dataclass(frozen=True, slots=True)
class DeclaredServers:
    """What the file declares. `problems` each cost a server; `notices` tell what was not read."""

    servers: tuple[Declared, ...] = ()
    problems: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One entry, before anything in it was read."""

    place: str
    label: object
    members: object

    @property
    def name(self) -> str | None:
        """The folded label, if there is one to fold."""
        if not isinstance(self.label, str) or len(self.label) > LONGEST_LABEL:
            return None
        try:
            return server_name_for(self.label)
        except InvalidName:
            return None


def declared(whole: Mapping[str, object]) -> DeclaredServers:
    """The servers of the parsed file."""
    problems: list[str] = []
    notices = list(_ignored_besides(whole))
    candidates = [each for where in _WHERE for each in _candidates(where, whole.get(where), problems)]
    if len(candidates) > MOST_SERVERS:
        problems.append(f"{len(candidates)} servers are declared; only the first {MOST_SERVERS} are read")
    places = _places(candidates)
    servers: list[Declared] = []
    for candidate in candidates[:MOST_SERVERS]:
        alike = places.get(candidate.name or "", [])
        if len(alike) > 1:
            if candidate.place == alike[0]:
                problems.append(f"{enumerated(alike)} have the same name, {candidate.name}; rename all but one")
            continue
        server, entry = _read(candidate)
        problems += _first(entry)
        notices += entry.notices
        servers += [server] if server else []
    return DeclaredServers(tuple(servers), tuple(problems), tuple(notices))


def alone(label: str, members: Mapping[str, object]) -> DeclaredServers:
    """The one server of an entry that stands in no file."""
    server, entry = _read(_Candidate(quoted(label), label, members))
    return DeclaredServers((server,) if server else (), tuple(_first(entry)), tuple(entry.notices))


def _candidates(where: str, value: object, problems: list[str]) -> Iterator[_Candidate]:
    """An object has the labels as keys; a list has them in its items, as `id` or as `name`."""
    match value:
        case None:
            return
        case Mapping():
            for label, members in value.items():
                yield _Candidate(below(where, label), label, members)
        case list():
            for index, item in enumerate(value):
                members = dict(item) if isinstance(item, Mapping) else item
                label = members.pop("id" if "id" in members else "name", None) if isinstance(members, dict) else None
                yield _Candidate(f"{where}[{index}]", label, members)
        case _:
            problems.append(f"{where} must be an object with a server for each label, or a list of servers")


def _places(candidates: list[_Candidate]) -> dict[str, list[str]]:
    """For each name, where it is declared."""
    places: dict[str, list[str]] = {}
    for each in candidates:
        if each.name is not None:
            places.setdefault(each.name, []).append(each.place)
    return places


def _read(candidate: _Candidate) -> tuple[Declared | None, EntryReader]:
    name, label = candidate.name, candidate.label
    if not isinstance(candidate.members, Mapping):
        return None, _refused(candidate, "must be an object")
    if name is None or not isinstance(label, str):
        return None, _refused(candidate, _unfit_label(label))
    entry = EntryReader(candidate.place, candidate.members)
    how = launch(entry)
    enabled = _enabled(entry)
    timeout = entry.seconds("timeout", MOST_SECONDS)
    era = entry.word("era", Era, Era.AUTO)
    entry.leave_the_rest()
    if how is None or entry.problems:
        return None, entry
    return Declared(name, label, how, enabled, timeout, era), entry


def _refused(candidate: _Candidate, sentence: str) -> EntryReader:
    entry = EntryReader(candidate.place, {})
    entry.problems.append(f"{candidate.place} {sentence}")
    return entry


def _unfit_label(label: object) -> str:
    if label is None:
        return "must have a name"
    if not isinstance(label, str):
        return "must have a name that is text"
    if len(label) > LONGEST_LABEL:
        return f"has a name longer than {LONGEST_LABEL} characters"
    return "has no letter a to z and no digit that a name could be made of"


def _enabled(entry: EntryReader) -> bool:
    disabled, enabled = entry.flag("disabled"), entry.flag("enabled")
    if disabled is not None and disabled == enabled:
        entry.wrong("enabled", "says something else than disabled; give one of them")
    return not disabled if enabled is None else enabled


def _first(entry: EntryReader) -> list[str]:
    rest = len(entry.problems) - MOST_NAMED
    more = [f"{entry.place} has {rest} more problems"] if rest > 0 else []
    return entry.problems[:MOST_NAMED] + more


def _ignored_besides(whole: Mapping[str, object]) -> Iterator[str]:
    other = [name for name in whole if name not in _KNOWN]
    if other:
        yield f"the file: ignored {enumerated(map(named, other))} (not known to mcpguard)"
