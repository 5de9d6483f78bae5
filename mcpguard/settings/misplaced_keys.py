"""Finds keys of the configuration file that stand beside `mcpguard` but belong below it.

Rules kept here:
1. A key at the top level that has the name of a setting or a group, in any spelling, is refused: a limit that is
   silently ignored would not be enforced.
2. So is an object that contains settings of mcpguard under another name.
3. Every other key belongs to another program and is ignored.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Final

from mcpguard.settings.fields import groups
from mcpguard.settings.layer import LEAVES
from mcpguard.settings.model import Settings
from mcpguard.settings.problems import printable

OURS: Final = "mcpguard"
OTHERS: Final = frozenset({OURS, "mcpServers", "servers", "$schema"})
"""Keys that belong at the top level of the file."""
MOST_TOLD: Final = 10
ALIKE: Final = 0.8
SHORT: Final = 4
"""Names of so few letters are similar to too many others."""
_OWN_FILE: Final = "keys of another program need a file of their own"


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name[:80]).casefold()


_GROUPS: Final = {_plain(name): name for name in groups(Settings)}
_NAMES: Final = _GROUPS | {_plain(key): key for key in LEAVES if "." not in key}
_MEMBERS: Final = {
    group: frozenset(_plain(key.partition(".")[2]) for key in LEAVES if key.startswith(f"{group}."))
    for group in _GROUPS.values()
}
_EVERY_MEMBER: Final = frozenset[str]().union(*_MEMBERS.values())


def misplaced_keys(path: Path, whole: Mapping[str, object]) -> Iterator[str]:
    """Yield a sentence for each misplaced key, up to MOST_TOLD."""
    found = (_sentence(path, key, value) for key, value in whole.items() if key not in OTHERS)
    return islice((each for each in found if each), MOST_TOLD)


def _sentence(path: Path, key: str, value: object) -> str:
    subject, name = f'"{printable(key)}" in {path}', _meant(key.partition(".")[0], value)
    if name:
        return f'{subject} belongs below "{OURS}": {{"{OURS}": {{"{name}": …}}}}; {_OWN_FILE}'
    if _is_us(key, value) or _holds_settings(value):
        return f'{subject} is not read; settings belong below "{OURS}", spelt exactly like this; {_OWN_FILE}'
    return ""


def _meant(key: str, value: object) -> str:
    """Return the setting or group that the key names, with any value. A key that is only similar to the name of a group
    counts if the object contains a setting of that group."""
    plain = _plain(key)
    if plain in _NAMES:
        return _NAMES[plain]
    if isinstance(value, dict):
        members = {_plain(each) for each in value} & _EVERY_MEMBER
        return next((each for each in _MEMBERS if members & _MEMBERS[each] and _alike(plain, _plain(each))), "")
    return ""


def _is_us(key: str, value: object) -> bool:
    return _plain(key) == OURS or (isinstance(value, dict) and _alike(_plain(key), OURS))


def _holds_settings(value: object) -> bool:
    """Tell whether the object contains a group of settings with one of its settings."""
    if not isinstance(value, dict):
        return False
    inner = ((_GROUPS.get(_plain(name)), members) for name, members in value.items() if isinstance(members, dict))
    return any(group and _MEMBERS[group] & {_plain(each) for each in members} for group, members in inner)


def _alike(one: str, other: str) -> bool:
    return len(other) > SHORT and abs(len(one) - len(other)) <= 2 and SequenceMatcher(None, one, other).ratio() >= ALIKE
