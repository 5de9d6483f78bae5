"""The secrets that a server was given: which of its values are secrets, and how they are masked in its replies."""

import re
from collections.abc import Iterable
from typing import Final

from mcpguard.policy.secrets.detection import find_secrets
from mcpguard.policy.secrets.masking import HIDDEN, spellings

SHORTEST: Final = 8
"""Shorter values occur in ordinary words."""
_NAMED: Final = re.compile(
    r"token|secret|passw|pwd|passphrase|api[_-]?key|access[_-]?key|private|credential|auth(?!ors?(?![a-z]))|cookie|dsn|signature",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(
    r"[A-Za-z]+(?:[ _-][A-Za-z]+)*|[\d., :-]+|(?:/|~|\.{1,2}/|[A-Za-z]:\\).*|[a-z][a-z0-9+.-]*://[^@\s]*|[^@\s:/]+@[^@\s]+"
    r"|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?",
    re.DOTALL,
)
"""Words, numbers, paths and addresses: usual values of an environment that do not look like secrets."""


class KnownSecrets:
    """Values that are hidden wherever they occur, in any of their usual spellings."""

    def __init__(self, values: Iterable[str]) -> None:
        self.values = frozenset(values)
        self.spellings = [spelling.decode() for spelling in spellings(self.values)]

    def occur_in(self, text: str) -> bool:
        """Tell whether one of the values is in the text."""
        return any(spelling in text for spelling in self.spellings)

    def hide_in(self, text: str) -> tuple[str, int]:
        """Return the text without the values, and in how many places they were."""
        places = 0
        # The longest spelling first: a shorter one inside it would leave its end readable.
        for spelling in self.spellings:
            if spelling in text:
                places += text.count(spelling)
                text = text.replace(spelling, HIDDEN)
        return text, places


NO_SECRETS: Final = KnownSecrets(())


def is_secret_name(name: str) -> bool:
    """Tell whether a variable, a header or an option of this name usually contains a secret."""
    return _NAMED.search(name) is not None


def tells_secret(name: str, value: str, *, referenced: bool) -> bool:
    """Tell whether a value that a server is given is a secret. `referenced`: it came from a reference, as secrets
    do.
    """
    if len(value) < SHORTEST:
        return False
    if is_secret_name(name):
        return True
    if referenced:
        return _PLAIN.fullmatch(value) is None
    return bool(find_secrets({name: value}).sure)
