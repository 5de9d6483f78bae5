"""What looks like a secret in a value: the ids of the rules that found it, and nothing of what they found.

A text is read once for the words of all rules, and then by those rules alone whose words are in it. All of that is
matched in linear time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from mcpguard.policy.secrets.layers import layers
from mcpguard.policy.secrets.rules import SecretRule, rules
from mcpguard.text.linear import WordSet

MOST_TOLD: Final = 10


@dataclass(frozen=True, slots=True)
class FoundSecrets:
    """Rules by their ids: those that are sure, and those that may well be wrong."""

    sure: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()


NOTHING: Final = FoundSecrets()


def secrets(value: object) -> FoundSecrets:
    """What was found, of either kind no more than `MOST_TOLD`."""
    found = dict.fromkeys(rule for each in layers(value) for rule in asked(each.text) if rule.finds(each.text))
    if not found:
        return NOTHING
    sure = tuple(rule.id for rule in found if rule.sure)
    return FoundSecrets(sure[:MOST_TOLD], tuple(rule.id for rule in found if not rule.sure)[:MOST_TOLD])


class _Asked:
    """The rules by their words."""

    def __init__(self) -> None:
        by_word: dict[str, list[SecretRule]] = {}
        for rule in rules():
            for word in rule.words:
                by_word.setdefault(word, []).append(rule)
        self._words = WordSet([*by_word])
        self._of = [*by_word.values()]

    def by(self, text: bytes) -> Iterable[SecretRule]:
        """Those with a word in this text."""
        return dict.fromkeys(rule for number in self._words.matches_in(text) for rule in self._of[number])


@cache
def _asked() -> _Asked:
    return _Asked()


def asked(text: bytes) -> Iterable[SecretRule]:
    """The rules that may find something in this text."""
    return _asked().by(text)
