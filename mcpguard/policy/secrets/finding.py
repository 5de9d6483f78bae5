"""What looks like a secret in a value: the ids of the rules that found it, and nothing of what they found.

A text is read once for the words of all rules, and then by those rules alone whose words are in it. All of that is
matched in linear time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from mcpguard.policy.secrets.layers import layers
from mcpguard.policy.secrets.rules import Rule, rules
from mcpguard.text.linear import Words

MOST_TOLD: Final = 10


@dataclass(frozen=True, slots=True)
class Found:
    """Rules by their ids: those that are sure, and those that may well be wrong."""

    sure: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()


NOTHING: Final = Found()


def secrets(value: object) -> Found:
    """What was found, of either kind no more than `MOST_TOLD`."""
    found = dict.fromkeys(rule for text in layers(value) for rule in _asked().by(text) if rule.finds(text))
    if not found:
        return NOTHING
    sure = tuple(rule.id for rule in found if rule.sure)
    return Found(sure[:MOST_TOLD], tuple(rule.id for rule in found if not rule.sure)[:MOST_TOLD])


def sure_places(text: bytes) -> list[tuple[int, int]]:
    """Where in a text there is what surely is a secret; not in what is encoded in it."""
    return sorted(place for rule in _asked().by(text) if rule.sure for place in rule.places(text))


def may_hold_some(text: bytes) -> bool:
    """Whether it is worth looking for what surely is a secret, in the text as it stands."""
    return any(rule.sure for rule in _asked().by(text))


class _Asked:
    """The rules by their words."""

    def __init__(self) -> None:
        by_word: dict[str, list[Rule]] = {}
        for rule in rules():
            for word in rule.words:
                by_word.setdefault(word, []).append(rule)
        self._words = Words([*by_word])
        self._of = [*by_word.values()]

    def by(self, text: bytes) -> Iterable[Rule]:
        """Those with a word in this text."""
        return dict.fromkeys(rule for number in self._words.within(text) for rule in self._of[number])


@cache
def _asked() -> _Asked:
    return _Asked()
