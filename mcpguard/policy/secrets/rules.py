"""The rules for secrets, read from `gitleaks.json`. A rule is compiled when one of its keywords first occurs."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Final

from mcpguard.text.linear import Pattern, compile_pattern, literal

MOST_MATCHES: Final = 100
"""The number of matches that one rule checks in one text: after that many false ones, no further is expected."""
SHORTEST_ALONE: Final = 8
"""A shorter part of a match is not the secret in it."""


_IN_PLAIN_WORDS: Final = {
    ("jwt", "ey"): "ey[a-z0-9]{17}",
    ("twilio-api-key", "sk"): "sk[0-9a-f]{32}",
    ("vault-service-token", "s."): r"s\.[a-z0-9]{24}",
}
"""Keywords that many English sentences have, with what follows them in every match of the rule."""


@dataclass(slots=True, eq=False)
class SecretRule:
    """One kind of secret. `sure`: what the rule finds is certainly a secret. `words`: keywords in lower case; every
    match contains one of them.

    `least`: the minimum entropy in bits per character. `exempt`: patterns of values that are known to be no secrets.
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

    def signs(self, *, in_json: bool) -> Iterator[str]:
        """Yield patterns without regard to case. Every match contains one of them, also as it is written in JSON."""
        for word in self.words:
            # No keyword has a character that JSON writes in another way. The text has `=` after a name, and JSON has
            # not.
            yield _IN_PLAIN_WORDS.get((self.id, word)) or literal(word.rstrip("=") if in_json else word)

    def finds(self, text: bytes) -> bool:
        """Tell whether the text contains such a secret."""
        return any(place is not None for place in islice(self._matches(text), MOST_MATCHES))

    def places(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield the places of all such secrets. A part that is too short alone is returned with its surroundings."""
        return (place for place in self._matches(text) if place is not None)

    def _matches(self, text: bytes) -> Iterator[tuple[int, int] | None]:
        """Yield the place of each match, or None for one that is no secret."""
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
    """Return all rules, the certain ones first."""
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
    """Return the Shannon entropy in bits per character."""
    length = len(secret)
    return -sum(count / length * math.log2(count / length) for count in Counter(secret).values()) if length else 0.0
