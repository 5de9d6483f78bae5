"""Detects secrets in a value. The result contains the ids of the matching rules, and nothing of what they matched.

A text is first searched for anything that could make it worth more than that one search. What is left is searched
for the keywords of all rules, and then with the rules whose keywords it contains. Everything runs in linear time.

An id in hexadecimal digits (a digest, a UUID, a `traceparent`) looks like base64, and many calls have one. Decoded, its
digits are letters of which no secret consists, so an id alone does not make a text worth more.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Final

from mcpguard.policy.secrets.layers import (
    ENCODED,
    ENCODED_IN_JSON,
    ESCAPED,
    ESCAPED_IN_JSON,
    RUN,
    layers,
    text_of_value,
)
from mcpguard.policy.secrets.rules import SecretRule, rules
from mcpguard.text.linear import Pattern, WordSet, compile_pattern

MOST_TOLD: Final = 10
MOST_IDS: Final = 40
"""With more ids in it, a text is searched in full, which costs about the same then."""


@dataclass(frozen=True, slots=True)
class FoundSecrets:
    """Ids of rules: those that are certain, and those that may be wrong."""

    sure: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()


NOTHING: Final = FoundSecrets()


def find_secrets(value: object) -> FoundSecrets:
    """Return the rules that found something, of either kind at most `MOST_TOLD`."""
    if not may_hold(text_of_value(value)):
        return NOTHING
    found = dict.fromkeys(rule for each in layers(value) for rule in rules_for_text(each.text) if rule.finds(each.text))
    if not found:
        return NOTHING
    sure = tuple(rule.id for rule in found if rule.sure)
    return FoundSecrets(sure[:MOST_TOLD], tuple(rule.id for rule in found if not rule.sure)[:MOST_TOLD])


def may_hold(text: bytes) -> bool:
    """Tell whether a text has a keyword of any rule, or something encoded. One without either holds no secret that a
    rule knows.
    """
    return _keywords_or_codes().search(text) is not None and not (
        _keywords_or_escapes().search(text) is None and _has_only_ids(text)
    )


def may_hold_in_json(written: bytes) -> bool:
    """Tell whether the text of a value may hold a secret, from the JSON of the value: that is written anyway, and the
    text need not be. It may say so of a value of whose text `may_hold` does not, but never the other way round."""
    return _in_json().search(written) is not None and not (
        _in_json_without_runs().search(written) is None and _has_only_ids(written)
    )


def _has_only_ids(text: bytes) -> bool:
    """Tell whether each of the few runs in a text that may be encoded is an id."""
    runs = [run[0] for run in islice(RUN.finditer(text), MOST_IDS + 1)]
    return len(runs) <= MOST_IDS and all(_id().search(run) for run in runs)


@cache
def _id() -> Pattern:
    digit = "[0-9a-f]"
    uuid, trace = f"{digit}{{8}}(?:-{digit}{{4}}){{3}}-{digit}{{12}}", f"00-{digit}{{32}}-{digit}{{16}}-{digit}{{2}}"
    return compile_pattern(rf"\A(?:{digit}{{24,128}}|{uuid}|{trace})\z")


@cache
def _keywords_or_codes() -> Pattern:
    return compile_pattern(f"{_signs()}|{ENCODED}")


@cache
def _keywords_or_escapes() -> Pattern:
    return compile_pattern(f"{_signs()}|{ESCAPED}")


@cache
def _in_json() -> Pattern:
    return compile_pattern(f"{_signs(in_json=True)}|{ENCODED_IN_JSON}")


@cache
def _in_json_without_runs() -> Pattern:
    return compile_pattern(f"{_signs(in_json=True)}|{ESCAPED_IN_JSON}")


def _signs(*, in_json: bool = False) -> str:
    """Return a pattern for what every secret has that a rule knows."""
    return f"(?i:{'|'.join(dict.fromkeys(sign for rule in rules() for sign in rule.signs(in_json=in_json)))})"


class _RulesByWord:
    """An index of the rules by their keywords."""

    def __init__(self) -> None:
        by_word: dict[str, list[SecretRule]] = {}
        for rule in rules():
            for word in rule.words:
                by_word.setdefault(word, []).append(rule)
        self._words = WordSet([*by_word])
        self._of = [*by_word.values()]

    def for_text(self, text: bytes) -> Iterable[SecretRule]:
        """Return the rules that have a keyword in this text."""
        return dict.fromkeys(rule for number in self._words.matches_in(text) for rule in self._of[number])


@cache
def _rules_by_word() -> _RulesByWord:
    return _RulesByWord()


def rules_for_text(text: bytes) -> Iterable[SecretRule]:
    """Return the rules that may find something in this text."""
    return _rules_by_word().for_text(text)
