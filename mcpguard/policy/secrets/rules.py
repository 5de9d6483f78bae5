"""The rules, read from the data beside this. One is compiled when one of its words has been seen for the first time."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Final

from mcpguard.text.linear import Pattern, compile_pattern

MOST_MATCHES: Final = 100
"""In one text of one rule: where that many look like a secret and are none, one more would be none either."""
SHORTEST_ALONE: Final = 8
"""A shorter part of what was found is not what is secret in it."""


@dataclass(slots=True, eq=False)
class SecretRule:
    """One kind of secret. `sure`: what it finds is one. `words`: one of them is in whatever it finds, in small letters.

    `least`: the entropy of a secret in bits a character. `exempt`: what is known to be none.
    """

    id: str
    pattern: str
    words: tuple[str, ...]
    sure: bool
    least: float
    group: int | None
    exempt: tuple[str, ...]
    _compiled: Pattern | None = field(default=None, init=False)
    _exempt: Pattern | None = field(default=None, init=False)

    def finds(self, text: bytes) -> bool:
        """Whether there is such a secret in the text."""
        return any(place is not None for place in islice(self._looked_at(text), MOST_MATCHES))

    def places(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where there are such secrets, all of them. What tells too little of a secret alone is told with what is
        around it."""
        return (place for place in self._looked_at(text) if place is not None)

    def _looked_at(self, text: bytes) -> Iterator[tuple[int, int] | None]:
        """Each that looks like one: where it is, or None if it is none."""
        if self._compiled is None:
            self._compiled = compile_pattern(self.pattern)
            self._exempt = compile_pattern("|".join(f"(?:{each})" for each in self.exempt)) if self.exempt else None
        for found in self._compiled.finditer(text):
            group = self.group or next((number for number, each in enumerate(found.groups(), 1) if each), 0)
            secret = found[group]
            counts = self._counts(secret)
            yield None if not counts else found.span(group if len(secret) >= SHORTEST_ALONE else 0)

    def _counts(self, secret: bytes) -> bool:
        if self.least and entropy(secret) <= self.least:
            return False
        return self._exempt is None or not self._exempt.search(secret)


@cache
def rules() -> tuple[SecretRule, ...]:
    """All of them, those that are sure first."""
    read = json.loads(files(__package__).joinpath("gitleaks.json").read_text())
    every = (
        SecretRule(
            id=each["id"],
            pattern=each["pattern"],
            words=tuple(word.lower() for word in each["keywords"]),
            sure=each["sure"],
            least=each.get("entropy", 0.0),
            group=each.get("group"),
            exempt=tuple(each.get("not", ())),
        )
        for each in read
    )
    return tuple(sorted(every, key=lambda rule: not rule.sure))


def entropy(secret: bytes) -> float:
    """Shannon's, in bits a character."""
    length = len(secret)
    return -sum(count / length * math.log2(count / length) for count in Counter(secret).values()) if length else 0.0
