"""Reads the servers of a configuration file from `mcpServers` and `servers`, in the forms of several programs.

Rules kept here:
1. The file only requests servers: it makes no server trusted, and no key of it can.
2. An invalid entry leaves out that server only, and a message says why.
3. The name of a server is its folded label. Labels that fold to the same name are all refused, because the intended one
   cannot be known.
4. No content of the file raises an exception here, and no message repeats a value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mcpguard.codec.names import server_name_for
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.launches import DeclaredServer, Era
from mcpguard.settings.entries.entry import MOST_NAMED, EntryReader, entry_place, list_names, member_place, shown_name
from mcpguard.settings.entries.launches import read_launch

MOST_SERVERS: Final = 200
LONGEST_LABEL: Final = 200
MOST_SECONDS: Final = 3600

_WHERE: Final = ("mcpServers", "servers")
_KNOWN: Final = frozenset({*_WHERE, "mcpguard", "$schema"})


@dataclass(frozen=True, slots=True)
class DeclaredServers:
    """The servers of a file. Each of `problems` left one out; `notices` name ignored keys."""

    servers: tuple[DeclaredServer, ...] = ()
    problems: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One entry before it is read."""

    place: str
    label: object
    members: object

    @property
    def name(self) -> str | None:
        """The folded label; None if the label is invalid."""
        if not isinstance(self.label, str) or len(self.label) > LONGEST_LABEL:
            return None
        try:
            return server_name_for(self.label)
        except InvalidName:
            return None


def declared_servers(whole: Mapping[str, object]) -> DeclaredServers:
    """Return the servers of the parsed file."""
    problems: list[str] = []
    notices = list(_ignored_besides(whole))
    candidates = [each for where in _WHERE for each in _candidates(where, whole.get(where), problems)]
    if len(candidates) > MOST_SERVERS:
        problems.append(f"the file declares {len(candidates)} servers; only the first {MOST_SERVERS} are read")
    places = _places(candidates)
    servers: list[DeclaredServer] = []
    for candidate in candidates[:MOST_SERVERS]:
        alike = places.get(candidate.name or "", [])
        if len(alike) > 1:
            if candidate.place == alike[0]:
                problems.append(f"{list_names(alike)} have the same name, {candidate.name}; rename all but one")
            continue
        server, entry = _read(candidate)
        problems += _first(entry)
        notices += entry.notices
        servers += [server] if server else []
    return DeclaredServers(tuple(servers), tuple(problems), tuple(notices))


def single_server(label: str, members: Mapping[str, object]) -> DeclaredServers:
    """Return the server of an entry that is in no file."""
    server, entry = _read(_Candidate(entry_place(label), label, members))
    return DeclaredServers((server,) if server else (), tuple(_first(entry)), tuple(entry.notices))


def _candidates(where: str, value: object, problems: list[str]) -> Iterator[_Candidate]:
    """Yield the entries. An object has the labels as keys; a list has them in its items, as `id` or as `name`."""
    match value:
        case None:
            return
        case Mapping():
            for label, members in value.items():
                yield _Candidate(member_place(where, label), label, members)
        case list():
            for index, item in enumerate(value):
                members = dict(item) if isinstance(item, Mapping) else item
                label = members.pop("id" if "id" in members else "name", None) if isinstance(members, dict) else None
                yield _Candidate(f"{where}[{index}]", label, members)
        case _:
            problems.append(f"{where} must be an object with a server under each label, or a list of servers")


def _places(candidates: list[_Candidate]) -> dict[str, list[str]]:
    """Return the places of each name."""
    places: dict[str, list[str]] = {}
    for each in candidates:
        if each.name is not None:
            places.setdefault(each.name, []).append(each.place)
    return places


def _read(candidate: _Candidate) -> tuple[DeclaredServer | None, EntryReader]:
    name, label = candidate.name, candidate.label
    if not isinstance(candidate.members, Mapping):
        return None, _refused(candidate, "must be an object")
    if name is None or not isinstance(label, str):
        return None, _refused(candidate, _unfit_label(label))
    entry = EntryReader(candidate.place, candidate.members)
    how = read_launch(entry)
    enabled = _enabled(entry)
    timeout = entry.seconds("timeout", MOST_SECONDS)
    era = entry.word("era", Era, Era.AUTO)
    entry.leave_the_rest()
    if how is None or entry.problems:
        return None, entry
    return DeclaredServer(name, label, how, enabled, timeout, era), entry


def _refused(candidate: _Candidate, sentence: str) -> EntryReader:
    entry = EntryReader(candidate.place, {})
    entry.problems.append(f"{candidate.place} {sentence}")
    return entry


def _unfit_label(label: object) -> str:
    if label is None:
        return "must have a name"
    if not isinstance(label, str):
        return "must have a name that is a string"
    if len(label) > LONGEST_LABEL:
        return f"has a name longer than {LONGEST_LABEL} characters"
    return "must have a letter a to z or a digit in its name"


def _enabled(entry: EntryReader) -> bool:
    disabled, enabled = entry.flag("disabled"), entry.flag("enabled")
    if disabled is not None and disabled == enabled:
        entry.wrong("enabled", "contradicts disabled; give only one of them")
    return not disabled if enabled is None else enabled


def _first(entry: EntryReader) -> list[str]:
    rest = len(entry.problems) - MOST_NAMED
    more = [f"{entry.place} has {rest} more problems"] if rest > 0 else []
    return entry.problems[:MOST_NAMED] + more


def _ignored_besides(whole: Mapping[str, object]) -> Iterator[str]:
    other = [name for name in whole if name not in _KNOWN]
    if other:
        yield f"the file: ignored {list_names(map(shown_name, other))} (not known to mcpguard)"
