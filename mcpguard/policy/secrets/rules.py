"""The rules, read from the data beside this. One is compiled when one of its words has been seen for the first time."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final

from mcpguard.text.linear import Pattern, compiled

MOST_MATCHES: Final = 100
"""In one text of one rule: where that many look like a secret and are none, one more would be none either."""


@dataclass(slots=True, eq=False)
class Rule:
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
        return any(True for _ in self.places(text))

    def places(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where the secrets begin and end."""
        if self._compiled is None:
            self._compiled = compiled(self.pattern)
            self._exempt = compiled("|".join(f"(?:{each})" for each in self.exempt)) if self.exempt else None
        for number, found in enumerate(self._compiled.finditer(text)):
            if number == MOST_MATCHES:
                return
            groups = (at for at, each in enumerate(found.groups(), 1) if each)
            place = found.span(self.group or next(groups, 0))
            if self._counts(text[slice(*place)]):
                yield place

    def _counts(self, secret: bytes) -> bool:
        if self.least and entropy(secret) <= self.least:
            return False
        return self._exempt is None or not self._exempt.search(secret)


@cache
def rules() -> tuple[Rule, ...]:
    """All of them, those that are sure first."""
    read = json.loads(files(__package__).joinpath("gitleaks.json").read_text())
    every = (
        Rule(
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
