"""Scans what a server sent (a result, an error, a message, a question) and makes it safe to pass on.

Rules kept here:
1. Everything is scanned that `plain_replies` looks at. What is plain by that need not be scanned.
2. A finding names a rule and repeats no part of a text.
3. A value that needs no change is returned itself, not a copy.
4. The work is done in blocks of bounded size. `still` is called between them; if it returns false, `OutOfTime` is
   raised.
"""

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from mcpguard.domain.errors import GuardError
from mcpguard.domain.findings import Evidence, Finding, finding_weight
from mcpguard.domain.screening import Screening
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.replies import hidden_characters, reply_findings
from mcpguard.inspection.replies.forged_refusals import find_forged_refusal
from mcpguard.inspection.replies.plain_replies import BLOCK, ReplyStrings, as_text, blocks, may_be_alike, worth_reading
from mcpguard.inspection.rules.rule_table import RULES, secret_rule
from mcpguard.policy.secrets import detection
from mcpguard.policy.secrets.known_secrets import KnownSecrets
from mcpguard.policy.secrets.masking import mask_secrets

CHUNK: Final = 32 * 1024
"""Characters that are searched for secrets at once."""
_OVERLAP: Final = 4096
_MOST_STRINGS: Final = 1000
"""How many strings are searched for secrets at once."""
_GIVEN: Final = RULES["secret.given"]
_NOWHERE: Final = Evidence("", 0, 0)
Still = Callable[[], bool]


class OutOfTime(GuardError):
    """Scanning takes longer than it may."""


@dataclass(frozen=True, slots=True)
class ScreenedReply:
    """A scanned value as it may be passed on, its findings, and the number of masked places.

    `hard`: it is withheld in every mode that withholds anything.
    """

    value: Any
    found: tuple[Finding, ...] = ()
    masked: int = 0
    hard: bool = False


def screen_reply(
    value: object, mode: Screening, given: KnownSecrets, around: Surroundings, still: Still
) -> ScreenedReply:
    """Scan all of a value, and masks it where the mode says so. Raises OutOfTime."""
    # As the server sent them: what is masked below hides nothing from the rules.
    strings = ReplyStrings(value, partial(_check, still))
    findings: dict[str, Finding] = {}
    hard, places = False, 0
    if given.occur_in("\n".join(strings.every)):
        # In images too: a server that leaks a secret chooses where it stands.
        value, places = _changed(value, lambda _, text: given.hide_in(text), still, everything=True)
        hard = True
        findings[_GIVEN.id] = _GIVEN.finding_at(_NOWHERE)
    if isinstance(value, dict) and (as_ours := find_forged_refusal(value, "\n".join(strings.every))):
        hard = hard or as_ours.hard
        findings[as_ours.rule] = as_ours
    for block in blocks("\n".join(strings.read)):
        _check(still)
        block_findings = (
            *hidden_characters.find_hidden(block),
            *(reply_findings.find_in_block(block, around) if worth_reading(block, around) else ()),
            *(reply_findings.find_alike(block) if (alike := may_be_alike(block, around)) else ()),
            *reply_findings.find_stray(block, around, alike=alike),
        )
        findings |= {each.rule: each for each in block_findings if each.rule not in findings}
        hard = (
            hard
            or any(each.rule.startswith("hidden.") and each.hard for each in block_findings)
            or reply_findings.is_hard(block_findings)
        )
    secrets = dict.fromkeys(rule for chunk in _chunks(strings) for rule in _sure(chunk, still))
    for rule in secrets:
        secret = secret_rule(rule)
        findings[secret.id] = secret.finding_at(_NOWHERE)
    if mode is Screening.MASK:
        value, times = _changed(value, partial(_neutral, secrets=bool(secrets), still=still), still)
        places += times
        if secrets and sum(map(len, strings.every)) <= CHUNK:  # one that lies in several strings
            rest = mask_secrets(value)
            value, places = rest.value, places + rest.count
    worst = sorted(findings.values(), key=finding_weight, reverse=True)
    return ScreenedReply(value, tuple(worst), places, hard or bool(secrets))


def _sure(chunk: list[dict[str, str]], still: Still) -> tuple[str, ...]:
    _check(still)
    return detection.find_secrets(chunk).sure


def _neutral(name: str, text: str, *, secrets: bool, still: Still) -> tuple[str, int]:
    """Return a text with its secrets masked and its hidden characters shown, and how many places that were."""
    places = 0
    if secrets:
        text, places = _without_secrets(name, text, still)
    if not hidden_characters.may_hide(text):
        return text, places
    parts = list[str]()
    for start in range(0, len(text), BLOCK):
        _check(still)
        part, times = hidden_characters.show_hidden(text[start : start + BLOCK])
        parts.append(part)
        places += times
    return "".join(parts), places


def _without_secrets(name: str, text: str, still: Still) -> tuple[str, int]:
    """Mask secrets part by part, and again shifted by half a part, so that one across a seam is masked as well."""
    places = 0
    for shift in (0, CHUNK // 2) if len(text) > CHUNK else (0,):
        parts = [text[:shift]] if shift else []
        for start in range(shift, max(len(text), 1), CHUNK):
            _check(still)
            done = mask_secrets({name: text[start : start + CHUNK]})
            parts += done.value.values()
            places += done.count
        text = "".join(parts)
    return text, places


def _chunks(strings: ReplyStrings) -> Iterator[list[dict[str, str]]]:
    """Yield strings with their names, about `CHUNK` characters at a time."""
    some, size = list[dict[str, str]](), 0
    for name, text in strings.named:
        for start in range(0, max(len(text) - _OVERLAP, 1), CHUNK - _OVERLAP):
            part = text[start : start + CHUNK]
            some.append({name: part})
            size += len(part) + len(name)
            if size >= CHUNK or len(some) >= _MOST_STRINGS:
                yield some
                some, size = [], 0
    if some:
        yield some


def _changed(
    value: object, change: Callable[[str, str], tuple[str, int]], still: Still, *, everything: bool = False
) -> tuple[Any, int]:
    """Return the value with its strings changed, and in how many places.

    It recurses: a value is no deeper than a message may be.
    """
    places = 0

    def text(name: str, before: str) -> str:
        nonlocal places
        made, times = change(name, before)
        places += times
        return made

    def of(name: str, each: object, *, media: bool = False) -> object:
        if isinstance(each, str):
            return text(name, each) if everything or not media else each
        if isinstance(each, list):
            _check(still)
            return [of(name, one) for one in each]
        return members(each) if isinstance(each, dict) else each

    def members(holder: dict[str, Any]) -> dict[str, Any]:
        _check(still)
        made: dict[str, Any] = {}
        for key, before in holder.items():
            read, media = as_text(holder, key)
            now = of(key, read, media=media)
            if read is not before:  # bytes that are text
                now = before if now == read else base64.b64encode(str(now).encode()).decode()
            named = text("", key)
            while named in made:  # two names may look the same once nothing in them hides; neither value may be lost
                named += "_"
            made[named] = now
        return made

    return of("", value), places


def _check(still: Still) -> None:
    if not still():
        raise OutOfTime
