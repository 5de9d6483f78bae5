"""What a server was given and is a secret, in what it answers: which values those are, and texts without them."""

import re
from collections.abc import Iterable
from typing import Final

from mcpguard.policy.secrets.finding import secrets
from mcpguard.policy.secrets.masking import HIDDEN, ways

SHORTEST: Final = 8
"""Shorter values are in ordinary words."""
_NAMED: Final = re.compile(
    r"token|secret|passw|pwd|passphrase|api[_-]?key|access[_-]?key|private|credential|auth(?!ors?(?![a-z]))|cookie|dsn|signature",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(
    r"[A-Za-z]+(?:[ _-][A-Za-z]+)*|[\d., :-]+|(?:/|~|\.{1,2}/|[A-Za-z]:\\).*|[a-z][a-z0-9+.-]*://[^@\s]*|[^@\s:/]+@[^@\s]+"
    r"|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?",
    re.DOTALL,
)
"""A word or a few, a number, a path, an address: what is often in an environment, and is no secret by its form."""


class Values:
    """Values that are hidden wherever they stand, in the usual ways to write them."""

    def __init__(self, values: Iterable[str]) -> None:
        self._ways = [way.decode() for way in ways(values)]

    def within(self, text: str) -> bool:
        return any(way in text for way in self._ways)

    def hidden(self, text: str) -> tuple[str, int]:
        """The text without them, and in how many places they were."""
        places = 0
        for way in self._ways:
            if way in text:
                places += text.count(way)
                text = text.replace(way, HIDDEN)
        return text, places


def called_secret(name: str) -> bool:
    """Whether a variable, a header or an option of this name holds a secret, as people name them."""
    return _NAMED.search(name) is not None


def telling(name: str, value: str, *, referenced: bool) -> bool:
    """Whether a value that a server is given tells a secret. `referenced`: it was kept elsewhere, as secrets are."""
    if len(value) < SHORTEST:
        return False
    if called_secret(name):
        return True
    if referenced:
        return _PLAIN.fullmatch(value) is None
    return bool(secrets({name: value}).sure)
