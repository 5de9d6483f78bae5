"""Reads one server entry key by key.

Rules kept here:
1. A value must have the expected type; nothing is converted. `null` is the same as a missing key.
2. A message names the place and what was expected there. No message repeats a value; names from the file are shortened
   and made visible.
3. Unknown keys are ignored, and named in a notice. Keys that would grant trust are named in a separate notice: nothing
   in a file approves.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, TypeVar

from mcpguard.settings.entries.references import misplaced_reference, unfit_template
from mcpguard.text.visible import visible

MOST_NAMED: Final = 10
_LONGEST_NAME: Final = 60
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+")
_TRUST: Final = frozenset(
    {
        "allowalltools", "alwaysallow", "alwaysallowed", "approved", "autoapprove", "autoapproved", "autoapprovetools",
        "autoapprovetoolchanges", "autoapprovedtools", "autorun", "effect", "effects", "quarantine", "quarantined",
        "skipquarantine", "standing", "trust", "trusted", "trustmode",
    }
)  # fmt: skip

Word = TypeVar("Word", bound=StrEnum)


def shown_name(name: str) -> str:
    """Return a name that others chose, shortened and made visible."""
    return visible(name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…")


def member_place(place: str, name: str) -> str:
    """Return the place of a member: `mcpServers.github`, or `mcpServers["my server"]`."""
    return f"{place}.{shown_name(name)}" if _PLAIN.fullmatch(name) else f'{place}["{shown_name(name)}"]'


def entry_place(label: str) -> str:
    """Return the place of an entry outside a file: `github`, or `"my server"`."""
    return shown_name(label) if _PLAIN.fullmatch(label) else f'"{shown_name(label)}"'


def list_names(names: Iterable[str]) -> str:
    """Return all names, or the first ones and the number of the others."""
    every = list(names)
    more = f" and {len(every) - MOST_NAMED} more" if len(every) > MOST_NAMED else ""
    return ", ".join(every[:MOST_NAMED]) + more


class EntryReader:
    """The unread keys of an entry, and the problems found so far."""

    def __init__(self, place: str, members: Mapping[str, object]) -> None:
        self.place = place
        self.problems: list[str] = []
        self.notices: list[str] = []
        self._left = {name: value for name, value in members.items() if value is not None}

    def wrong(self, key: str, sentence: str) -> None:
        """Note a problem. `key` is a known key, or comes from `member_place`."""
        self.problems.append(f"{self.place}.{key} {sentence}")

    def take(self, *names: str) -> tuple[str, object] | None:
        """Take and return the key and the value of one of these synonyms."""
        given = {name: self._left.pop(name) for name in names if name in self._left}
        if not given:
            return None
        (name, value), *others = given.items()
        if any(other != value for _, other in others):
            self.wrong(name, f"differs from {list_names(other for other, _ in others)}; give only one of them")
        return name, value

    def text(self, key: str, value: object, *, blank: bool = False, templates: bool = False) -> str | None:
        """Return the value if it is a valid text. It must have no references, as `templates` only those to files."""
        if not isinstance(value, str):
            self.wrong(key, "must be a string")
        elif not blank and not value.strip():
            self.wrong(key, "is empty")
        elif "\0" in value:
            self.wrong(key, "contains a NUL character")
        elif remedy := unfit_template(value) if templates else misplaced_reference(value):
            self.wrong(key, remedy)
        else:
            return value
        return None

    def texts(self, key: str, value: object, *, templates: bool = False) -> tuple[str, ...]:
        if not isinstance(value, list):
            self.wrong(key, "must be a list of strings")
            return ()
        checked = (
            self.text(f"{key}[{index}]", each, blank=True, templates=templates) for index, each in enumerate(value)
        )
        return tuple(each for each in checked if each is not None)

    def flag(self, name: str) -> bool | None:
        given = self.take(name)
        if given is not None and isinstance(given[1], bool):
            return given[1]
        if given is not None:
            self.wrong(name, "must be true or false")
        return None

    def word(self, name: str, kind: type[Word], default: Word) -> Word:
        given = self.take(name)
        if given is None:
            return default
        if isinstance(given[1], str) and given[1] in {each.value for each in kind}:
            return kind(given[1])
        self.wrong(name, "must be one of " + ", ".join(kind))
        return default

    def seconds(self, name: str, most: int) -> float | None:
        given = self.take(name)
        value = None if given is None else given[1]
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most:
            return float(value)
        if given is not None:
            self.wrong(name, f"must be a number of seconds (not milliseconds) above 0, at most {most}")
        return None

    def needless(self, why: str, *names: str) -> None:
        """Drop keys that have no meaning here, with a notice if they have a value."""
        given = [name for name in names if self._left.pop(name, None) not in (None, "", [], {})]
        if given:
            self.notices.append(f"{self.place}: ignored {list_names(given)} ({why})")

    def leave_the_rest(self) -> None:
        trust = {name: None for name in self._left if re.sub("[-_]", "", name).casefold() in _TRUST}
        other = [name for name in self._left if name not in trust]
        for names, why in ((trust, "nothing in a file approves a server"), (other, "not known to mcpguard")):
            if names:
                self.notices.append(f"{self.place}: ignored {list_names(map(shown_name, names))} ({why})")
