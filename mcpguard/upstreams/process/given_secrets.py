"""What servers were given that may be a secret: in their environment, their headers and their arguments.

Rules kept here:
1. It is kept in memory alone, and to look for it: so that nobody is shown it, and nothing stores it.
2. Of what a reference led to everything is a secret that is long enough to be looked for. What stands in a template for
   itself is one unless it is a plain word or a short number; so are the words of it. Variables that are code are none:
   they are shown to everybody.
3. What a server was given before is a secret still. Only so many values of one server are remembered.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from mcpguard.policy.secrets.known_secrets import tells_secret
from mcpguard.policy.secrets.masking import Spellings, spellings
from mcpguard.settings.entries.references import ResolvedValue

SHORTEST: Final = 4
"""Shorter values are in too many words to be hidden in any."""
MOST: Final = 64
"""Of one server."""
_PLAIN: Final = re.compile("[A-Za-z]{1,11}|[0-9]{1,7}")


class GivenSecrets:
    """By the names of servers."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, None]] = {}
        self._ways: dict[str, Spellings] = {}
        self._telling: dict[str, frozenset[str]] = {}

    def take(self, server: str, given: Mapping[str, ResolvedValue]) -> None:
        """It is given these, by their names."""
        self._telling[server] = frozenset(each for name, value in given.items() for each in _telling(name, value))
        before = self._values.get(server, {})
        fresh = dict.fromkeys(each for value in given.values() for each in secrets(value))
        every = [*fresh, *(each for each in before if each not in fresh)][:MOST]
        if every != [*before]:
            self._values[server] = dict.fromkeys(every)
            self._ways[server] = spellings(every)

    def of(self, server: str) -> frozenset[str]:
        """What it was given."""
        return frozenset(self._values.get(server, ()))

    def ways(self, server: str) -> Spellings:
        """How what it was given may be written."""
        return self._ways.get(server, ())

    def telling(self, server: str) -> frozenset[str]:
        """What of that which it was given last would surely tell a secret: so much is hidden from agents too."""
        return self._telling.get(server, frozenset())

    def __repr__(self) -> str:
        return f"Confided({', '.join(sorted(self._values))})"


def _telling(name: str, value: ResolvedValue) -> Iterator[str]:
    """A value, and what of it is not the words around it, as in a header `Bearer …`."""
    bare = value.referenced or (value.whole.rpartition(" ")[2],)
    for each in dict.fromkeys((value.whole, *bare)):
        if tells_secret(name, each, referenced=bool(value.referenced)):
            yield each


def secrets(value: ResolvedValue) -> Iterator[str]:
    """What of a value may be a secret."""
    yield from (each for each in value.referenced if len(each) >= SHORTEST)
    for text in dict.fromkeys((value.whole, *value.whole.split())):
        if len(text) >= SHORTEST and not _PLAIN.fullmatch(text):
            yield text
