"""The secrets that servers were given in their environment, headers and arguments.

Rules kept here:
1. They are kept in memory only, to find them in texts and mask them there; they are never shown or stored.
2. Every referenced value that is long enough to be searched for is a secret. A literal value is one unless it is a
   plain word or a short number, and so is each of its words. Variables that are code are not: they are shown openly.
3. Values that a server was given earlier stay secret. The number of remembered values is limited for each server.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from mcpguard.policy.secrets.known_secrets import KnownSecrets, tells_secret
from mcpguard.policy.secrets.masking import Spellings, spellings
from mcpguard.settings.entries.references import ResolvedValue

SHORTEST: Final = 4
"""Shorter values occur in too many ordinary words to be masked."""
MOST: Final = 64
"""Values remembered for one server."""
_PLAIN: Final = re.compile("[A-Za-z]{1,11}|[0-9]{1,7}")


class GivenSecrets:
    """Remembers, for each server, the secrets that it was given."""

    def __init__(self) -> None:
        self.ways: dict[str, Spellings] = {}
        """By server, the spellings in which its secrets may appear in a text."""
        self.certain: dict[str, KnownSecrets] = {}
        """By server, those of its current values that are secrets for certain: these are hidden from agents too."""
        self._values: dict[str, dict[str, None]] = {}

    def take(self, server: str, given: Mapping[str, ResolvedValue]) -> None:
        """Note that a server is given these values, by their names."""
        telling = frozenset(each for name, value in given.items() for each in _telling(name, value))
        self.certain[server] = KnownSecrets(telling)
        before = self._values.get(server, {})
        fresh = dict.fromkeys(each for value in given.values() for each in secrets(value))
        # Current values first: beyond the limit the oldest are forgotten.
        every = [*fresh, *(each for each in before if each not in fresh)][:MOST]
        if every != [*before]:
            self._values[server] = dict.fromkeys(every)
            self.ways[server] = spellings(every)

    def values(self, server: str) -> frozenset[str]:
        """Return the secrets that the server was given."""
        return frozenset(self._values.get(server, ()))

    def __repr__(self) -> str:
        return f"GivenSecrets({', '.join(sorted(self._values))})"


def _telling(name: str, value: ResolvedValue) -> Iterator[str]:
    """Yield a value, and its secret part without the words around it, as in a header `Bearer …`."""
    bare = value.referenced or (value.whole.rpartition(" ")[2],)
    for each in dict.fromkeys((value.whole, *bare)):
        if tells_secret(name, each, referenced=bool(value.referenced)):
            yield each


def secrets(value: ResolvedValue) -> Iterator[str]:
    """Yield the parts of a value that may be secrets."""
    yield from (each for each in value.referenced if len(each) >= SHORTEST)
    for text in dict.fromkeys((value.whole, *value.whole.split())):
        if len(text) >= SHORTEST and not _PLAIN.fullmatch(text):
            yield text
